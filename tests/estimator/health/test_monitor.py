"""The monitor as a whole: what is no fault, what is, and how a sensor comes back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.health.monitor import fault_names
from estimator.health.thresholds import READMIT_TIME, SOUND_TIME
from estimator.rows import POSITION, ROW
from tests.estimator.health.standing import TICK, Clock, standing_row

NUMBERS = st.one_of(
    st.floats(),
    st.floats(-1.0, 1.0),
    st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 157.0, 33.5]),
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_robot_at_rest_without_noise_has_no_fault(clock: Clock) -> None:
    row = standing_row()
    assert not any(clock.show(row).any_fault for _ in range(1000))


def test_a_motion_that_settles_to_the_last_bit_is_no_freeze(clock: Clock) -> None:
    """x = exp(-t / 20 ms) of every number, velocities to match: constant in the end, no fault."""
    rest, swing = standing_row(), np.zeros(ROW)
    swing[POSITION : POSITION + 12] = 0.05
    for k in range(3000):
        row, decay = rest.copy(), np.exp(-k * TICK / 0.1)
        row[POSITION : POSITION + 12] += 0.05 * decay
        row[22:34] = -0.05 / 0.1 * decay
        row[4:10] += 0.01 * decay * np.sin(np.arange(6))
        assert not clock.show(row).any_fault, k


@given(st.data())
@settings(max_examples=30)
def test_junk_never_raises_and_sound_readings_are_believed_again(data: st.DataObject) -> None:
    clock = Clock()
    for _ in range(data.draw(st.integers(1, 8))):
        row = standing_row()
        for _ in range(data.draw(st.integers(1, 5))):
            begin, end = sorted(data.draw(st.tuples(st.integers(0, 49), st.integers(1, 50))))
            row[begin:end] = data.draw(NUMBERS)
        verdict = clock.judge(row, data.draw(st.one_of(st.just(clock.time), NUMBERS)))
        masks = verdict.joint_position, verdict.joint_velocity, verdict.joint_torque
        assert [mask.shape for mask in masks] == [(12,)] * 3 and verdict.foot_force.shape == (4,)
        assert verdict.any_fault == bool(fault_names(verdict))
        clock.time += TICK
    longest = READMIT_TIME + 2.0 * SOUND_TIME + 0.1
    verdict = clock.show(standing_row(), round(longest / TICK))
    assert fault_names(verdict) == ()


@pytest.mark.parametrize("channel", [0, 5, 8, 12, 30, 40, 48])
def test_one_bad_number_costs_its_sensor_the_sound_time(clock: Clock, channel: int) -> None:
    clock.show(standing_row(), 50)
    row = standing_row()
    row[channel] = np.nan
    bad = clock.show(row)
    assert len(fault_names(bad)) == 1
    ticks = round(SOUND_TIME / TICK)
    assert fault_names(clock.show(standing_row(), ticks - 1)) == fault_names(bad)
    assert not clock.show(standing_row(), 2).any_fault


@pytest.mark.parametrize("channels, jump", [(slice(14, 15), 0.2), (slice(10, 22), -0.1)])
def test_a_jump_that_stays_is_believed_after_a_while(
    clock: Clock, channels: slice, jump: float
) -> None:
    clock.show(standing_row(), 50)
    row = standing_row()
    row[channels] += jump
    verdict = clock.show(row)
    assert not verdict.joint_position[channels.start - 10 : channels.stop - 10].any()
    assert clock.show(row, round(0.9 * READMIT_TIME / TICK)).any_fault
    assert not clock.show(row, round((0.1 * READMIT_TIME + 0.03) / TICK)).any_fault


def test_a_blow_to_the_rail_is_left_out_and_is_no_fault(clock: Clock) -> None:
    row = standing_row()
    clock.show(row, 50)
    row[7] = 16.0 * 9.81
    verdict = clock.show(row)
    assert not verdict.accelerometer and not verdict.any_fault and verdict.gyroscope
    assert clock.show(standing_row()).accelerometer
    assert clock.show(row, round(SOUND_TIME / TICK) + 3).any_fault


def test_readings_far_apart_are_not_compared(clock: Clock) -> None:
    clock.show(standing_row(), 50)
    row = standing_row()
    row[:4] = [0.0, 0.0, 0.6, 0.8]
    row[10:22] += 0.3
    clock.time += 0.1
    assert not clock.show(row, 50).any_fault


def test_a_second_reading_of_the_same_time_is_forgotten(clock: Clock) -> None:
    clock.show(standing_row(), 50)
    row = standing_row()
    row[10:22] += 0.3
    assert not clock.judge(row, clock.time - TICK).any_fault
    assert not clock.show(standing_row()).any_fault
    assert not clock.judge(row, np.nan).any_fault


def test_verdicts_are_not_overwritten(clock: Clock) -> None:
    before = clock.show(standing_row())
    row = standing_row()
    row[:] = np.nan
    after = clock.show(row)
    assert before.joint_position.all() and not after.joint_position.any()
    assert len(fault_names(after)) == 7
