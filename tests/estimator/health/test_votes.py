"""Two of three accounts of the same motion or force outvote the third, each with its own words."""

import numpy as np
import pytest

from estimator.health.forces import _contradiction
from estimator.health.monitor import fault_names
from estimator.health.thresholds import HEAVY_LOAD
from estimator.rows import FORCE, TORQUE
from robots.rotations import exp3, quaternion_from_rotation
from tests.estimator.health.standing import TICK, Clock, standing_row


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.show(standing_row(), 50)
    return clock


def faults_of(clock: Clock, channels: object, change: object, ticks: int) -> tuple[str, ...]:
    row = standing_row()
    row[channels] += change  # type: ignore[index]
    return fault_names(clock.show(row, ticks))


def test_a_foot_sensor_against_its_leg_and_the_accelerometer(clock: Clock) -> None:
    assert faults_of(clock, FORCE + 2, 120.0, 30) == ("foot force RR",)


def test_a_legs_torques_against_its_foot_and_the_accelerometer(clock: Clock) -> None:
    names = faults_of(clock, TORQUE + 5, 25.0, 30)
    assert names == ("joint torque FL hip", "joint torque FL thigh", "joint torque FL calf")


@pytest.mark.parametrize(("foot", "leg", "wanted"), [(40.0, 0.0, 40.0), (600.0, 400.0, 200 / 3)])
def test_foot_and_leg_may_differ_more_where_both_bear_much(
    foot: float, leg: float, wanted: float
) -> None:
    assert _contradiction(foot, leg, HEAVY_LOAD) == pytest.approx(wanted)
    assert _contradiction(leg, foot, HEAVY_LOAD) == pytest.approx(-wanted)


def test_the_accelerometer_against_feet_and_legs(clock: Clock) -> None:
    assert faults_of(clock, slice(7, 10), [0.0, 0.0, 30.0], 30) == ("accelerometer",)


def test_a_push_that_only_the_accelerometer_feels_is_no_fault(clock: Clock) -> None:
    """150 N sideways on the trunk is 10.9 m/s2; a trunk lying on the ground shows 9.81."""
    assert faults_of(clock, slice(7, 10), [0.0, 10.9, 0.0], 200) == ()
    lying = standing_row()
    lying[TORQUE:] = 0.0
    assert not Clock().show(lying, 200).any_fault


@pytest.mark.parametrize("rate", [0.3, -1.0, 4.0])
def test_a_gyroscope_that_turns_while_the_attitude_does_not(clock: Clock, rate: float) -> None:
    """The attitude has to move a little, or it would be frozen."""
    rng = np.random.default_rng(0)
    for k in range(60):
        row = standing_row()
        row[:4] = quaternion_from_rotation(exp3(5e-4 * rng.standard_normal(3)))
        row[5] = rate if k > 20 else 0.0
        verdict = clock.show(row)
    assert fault_names(verdict) == ("gyroscope",)


def test_an_attitude_that_stays_while_the_gyroscope_turns_is_frozen(clock: Clock) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        row = standing_row()
        row[5] = 0.5 + 5e-3 * rng.standard_normal()
        verdict = clock.show(row)
    assert fault_names(verdict) == ("orientation",)


@pytest.mark.parametrize("speed", [0.5, -3.0])
def test_an_encoder_that_stays_while_its_velocity_moves_is_frozen(
    clock: Clock, speed: float
) -> None:
    rng = np.random.default_rng(0)
    for k in range(30):
        row = standing_row()
        row[23] = min(k, 10) / 10.0 * speed + 0.03 * rng.standard_normal()
        verdict = clock.show(row)
    assert fault_names(verdict) == ("joint position FR thigh",)


@pytest.mark.parametrize("error", [0.6, -2.0])
def test_a_velocity_that_its_position_denies(clock: Clock, error: float) -> None:
    rng = np.random.default_rng(0)
    for k in range(40):
        row = standing_row()
        row[11] += 0.1 * np.sin(10.0 * k * TICK) + 2e-4 * rng.standard_normal()
        row[23] = np.cos(10.0 * k * TICK) + (error if k > 5 else 0.0)
        verdict = clock.show(row)
    assert fault_names(verdict) == ("joint velocity FR thigh",)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("error", [0.0, 0.3])
def test_an_attitude_that_comes_back_is_compared_with_what_the_gyroscope_turned(
    clock: Clock, axis: int, error: float
) -> None:
    """Away for 0.2 s of a turn at 1 rad/s: believed soon where it fits, not where it errs."""
    row, turn, rng = standing_row(), np.zeros(3), np.random.default_rng(0)
    for k in range(-20, 250):
        row[4 + axis] = rate = 1.0 + 0.01 * rng.standard_normal()
        turn[axis] += TICK * rate + (error if k == 200 else 0.0)
        row[:4] = np.nan if 0 <= k < 200 else quaternion_from_rotation(exp3(turn))
        verdict = clock.show(row)
    assert ("orientation" in fault_names(verdict)) == (error > 0.0)
