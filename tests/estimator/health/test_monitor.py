"""The sensor monitor: single sensors, votes, recorded walks and the report."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.health.thresholds import READMIT_TIME, SOUND_TIME
from estimator.node import QUIET_S, FaultLog
from estimator.rows import DEGRADED, FORCE, OK, POSITION, TORQUE, VELOCITY
from robots.rotations import exp3, quaternion_from_rotation
from tests.a1 import A1
from tests.estimator.health.standing import TICK, Clock, standing_row
from tests.estimator.recorded_stream import recorded_trot

NUMBERS = st.one_of(
    st.floats(),
    st.floats(-1.0, 1.0),
    st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 157.0, 33.5]),
)


@pytest.fixture
def clock():
    return Clock()


def test_a_robot_at_rest_without_noise_has_no_fault(clock):
    row = standing_row()
    assert not any(clock.show(row) for _ in range(1000))


@given(st.data())
def test_junk_never_raises_and_sound_readings_are_believed_again(data):
    clock = Clock()
    for _ in range(data.draw(st.integers(1, 8))):
        row = standing_row()
        for _ in range(data.draw(st.integers(1, 5))):
            begin, end = sorted(data.draw(st.tuples(st.integers(0, 49), st.integers(1, 50))))
            row[begin:end] = data.draw(NUMBERS)
        found = clock.judge(row, data.draw(st.one_of(st.just(clock.time), NUMBERS)))
        assert bool(clock.past.faulty) == bool(found)
        clock.time += TICK
    longest = READMIT_TIME + 2.0 * SOUND_TIME + 0.1
    assert clock.show(standing_row(), round(longest / TICK)) == ()


@pytest.mark.parametrize("channel", [0, 5, 8, 12, 30, 40, 48])
def test_one_bad_number_costs_its_sensor_the_sound_time(clock, channel):
    clock.show(standing_row(), 50)
    row = standing_row()
    row[channel] = np.nan
    bad = clock.show(row)
    assert len(bad) == 1
    assert clock.show(standing_row(), round(SOUND_TIME / TICK) - 1) == bad
    assert not clock.show(standing_row(), 2)


@pytest.mark.parametrize("channels, jump, faults", [
    (slice(14, 15), 0.2, ("joint position FL thigh",)), (slice(10, 22), -0.1, ("joint position",)),
])  # fmt: skip
def test_a_jump_that_stays_is_believed_after_a_while(clock, channels, jump, faults):
    clock.show(standing_row(), 50)
    row = standing_row()
    row[channels] += jump
    assert clock.show(row) == faults
    assert clock.show(row, round(0.9 * READMIT_TIME / TICK))
    assert not clock.show(row, round((0.1 * READMIT_TIME + 0.03) / TICK))


@pytest.mark.parametrize(
    "channel, value, robot",
    [
        (VELOCITY, 50.0, replace(A1, velocity_limit=2.0 * A1.velocity_limit)),
        (TORQUE, 60.0, replace(A1, torque_limit=2.0 * A1.torque_limit)),
        (FORCE, 3000.0, replace(A1, mass=2.0 * A1.mass)),
        (POSITION, 1.5, replace(A1, legs=A1.legs._replace(upper=A1.legs.upper + 0.5))),
    ],
)
def test_ranges_are_those_of_the_robot(channel, value, robot):
    row = standing_row()
    row[channel] = value
    assert Clock().show(row)
    assert not Clock(robot).show(row)


@pytest.fixture
def settled_clock():
    settled_clock = Clock()
    settled_clock.show(standing_row(), 50)
    return settled_clock


LEG = ("joint torque FL hip", "joint torque FL thigh", "joint torque FL calf")


@pytest.mark.parametrize("channels, change, faults", [
    (FORCE + 2, 120.0, ("foot force RR",)), (TORQUE + 5, 25.0, LEG),
    (slice(7, 10), [0.0, 0.0, 30.0], ("accelerometer",)),
])  # fmt: skip
def test_a_foot_a_leg_and_the_accelerometer_against_the_others(
    settled_clock, channels, change, faults
):
    row = standing_row()
    row[channels] += change
    assert settled_clock.show(row, 30) == faults


@pytest.mark.parametrize("rate", [0.3, -1.0, 4.0])
def test_a_gyroscope_that_turns_while_the_attitude_does_not(settled_clock, rate):
    """The attitude has to move a little, or it would be frozen."""
    rng = np.random.default_rng(0)
    for k in range(60):
        row = standing_row()
        row[:4] = quaternion_from_rotation(exp3(5e-4 * rng.standard_normal(3)))
        row[5] = rate if k > 20 else 0.0
        found = settled_clock.show(row)
    assert [name.split()[0] for name in found] == ["gyroscope"]


@pytest.mark.parametrize("speed", [0.5, -3.0])
def test_an_encoder_that_stays_while_its_velocity_moves_is_frozen(settled_clock, speed):
    rng = np.random.default_rng(0)
    for k in range(30):
        row = standing_row()
        row[23] = min(k, 10) / 10.0 * speed + 0.03 * rng.standard_normal()
        found = settled_clock.show(row)
    assert found == ("joint position FR thigh",)


@pytest.mark.parametrize("error", [0.6, -2.0])
def test_a_velocity_that_its_position_denies(settled_clock, error):
    rng = np.random.default_rng(0)
    for k in range(40):
        row = standing_row()
        row[11] += 0.1 * np.sin(10.0 * k * TICK) + 2e-4 * rng.standard_normal()
        row[23] = np.cos(10.0 * k * TICK) + (error if k > 5 else 0.0)
        found = settled_clock.show(row)
    assert found == ("joint velocity FR thigh",)


@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_a_trot_has_no_fault(noise):
    stream = recorded_trot(noise)
    clock = Clock()
    for time, row in zip(stream.time, stream.rows, strict=True):
        assert clock.judge(row, time) == (), time


class Judging:
    """Only what the log looks at."""

    faults: tuple[str, ...] = ()


def live(log, judging, story, end):
    """Estimates at 100 Hz; `story` says which faults begin when."""
    for time in np.arange(0.0, end, 0.01):
        judging.faults = next(
            (faults for begin, faults in reversed(story.items()) if time > begin - 1e-9), ()
        )
        log.note(float(time), DEGRADED if judging.faults else OK)


def test_a_sensor_that_comes_and_goes_is_one_event(caplog):
    judging = Judging()
    log = FaultLog(judging)
    story = {0.1 * k: ("foot force FL",) if k % 2 else () for k in range(10)}
    live(log, judging, story | {0.9: ("orientation",), 1.0: ()}, 1.0 + QUIET_S + 0.05)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert "orientation" in lines[1] and "foot" not in lines[1]
    assert lines[2].endswith(": foot force FL; orientation")
