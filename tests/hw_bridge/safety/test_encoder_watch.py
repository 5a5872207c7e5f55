"""Encoders and speeds that stick, encoders that leap and joints that jam are found; rest is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.intake import DQ, TORQUE, Q, Sample
from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.monitor import Monitor
from tests.a1 import A1, WIRE
from tests.hw_bridge.safety.safety_samples import FL_THIGH, at, numbers

RATE = 2.0 * np.pi * 1.5  # [rad/s] of a gait
REST, STILL = A1.stand, np.zeros(12)


def gait(tick):
    """Legs that swing."""
    phase = RATE * 1e-3 * tick + np.arange(12)
    return numbers(A1.stand + 0.3 * np.sin(phase), 0.3 * RATE * np.cos(phase), 6.0 * np.sin(phase))


def first_fault(samples, serving=True, step_ms=1):
    """Tick and cause of the first fault in samples `step_ms` apart; -1 and "" without one."""
    monitor = Monitor(HardwareSafetyOptions(), A1)
    for tick, numbers_of in enumerate(samples):
        time = 1e-3 * step_ms * tick
        sample = Sample(b"", numbers_of, numbers_of, WIRE, time, time)
        verdict = monitor.judge(sample, time, serving)
        if verdict.action != "go":
            assert verdict.action == "damp"
            return tick, verdict.cause
    return -1, ""


def stick(motor, since, angle, speed):
    """A gait in which an encoder's angle or its speed sticks (at its last value for None)."""
    samples = [gait(tick) for tick in range(since + 600)]
    q, dq = samples[since][Q][motor], samples[since][DQ][motor]
    for sample in samples[since:]:
        if angle:
            sample[Q][motor] = q
        if not angle or speed is not None:
            sample[DQ][motor] = dq if speed is None else speed
    return samples


@given(st.integers(0, 11), st.integers(20, 700), st.booleans(), st.sampled_from([0.0, -20.0, None]))
def test_an_encoder_or_a_speed_that_sticks_in_a_moving_leg_is_found(motor, since, angle, speed):
    tick, cause = first_fault(stick(motor, since, angle, speed))
    assert ("the encoder is stuck" if angle else "the speed is stuck") in cause
    assert since + 49 <= tick <= since + (300 if angle else 250)
    if motor == FL_THIGH:
        assert cause.startswith("FL thigh")


def jam(torque, ticks, way=0.0):
    """A joint that a torque moves on by `way` [rad] in so many ticks."""
    samples = [gait(tick) for tick in range(ticks)]
    for tick, sample in enumerate(samples):
        sample[Q][FL_THIGH], sample[TORQUE][FL_THIGH] = (
            0.5 + way * tick / ticks + 1e-4 * (tick % 2),
            torque,
        )
        sample[DQ][FL_THIGH] = way + 1e-3 * (tick % 2)
    return samples


def two_pushes():
    """A joint that is pushed, moves a little and is pushed again."""
    samples = jam(30.0, 580)
    for sample in samples[290:]:
        sample[Q][FL_THIGH] += 0.05
    return samples


@pytest.mark.parametrize("torque", [20.0, -33.5])
def test_a_joint_that_does_not_move_under_torque_is_jammed(torque):
    samples = jam(torque, 400, 0.02)
    tick, cause = first_fault(samples)
    assert tick == 300 and "FL thigh is jammed" in cause and f"{torque:.0f} N m" in cause


def test_an_encoder_that_leaps_is_found():
    samples = [gait(tick) for tick in range(100)]
    samples[60][Q][FL_THIGH] += 0.5
    tick, cause = first_fault(samples)
    assert tick == 60 and "FL thigh" in cause


RANDOM = np.random.default_rng(1)
NOISY = [
    numbers(REST, 0.02 + 0.03 * RANDOM.standard_normal(12), 5.0 + 0.3 * RANDOM.standard_normal(12))
    for _ in range(2000)
]
FOLDED = np.tile([0.0, 1.3, A1.legs.lower[2]], 4)
SOUND = {  # samples that are no fault, whether the motors serve, milliseconds between them
    "a gait": ([gait(tick) for tick in range(2000)], True, 1),
    "rest": (NOISY, True, 1),
    "limp rest": (NOISY, False, 1),
    "limp stuck speed": (stick(FL_THIGH, 100, False, 0.0), False, 1),
    "a drift that a rounded speed does not show": (
        [numbers(REST + 3e-5 * tick, STILL, STILL + 12.0) for tick in range(3000)], True, 1),
    "a motion that was not seen": (
        [numbers(REST + 0.02 * k, STILL, STILL) for k in range(30)], True, 6),
    "a calf that presses on its stop": (
        [numbers(FOLDED, STILL, at(2, -0.01 * tick, 0.0)) for tick in range(1000)], True, 1),
    "a heavy load": (jam(19.9, 1000), True, 1),
    "a slow motion": (jam(33.0, 1000, way=0.08), True, 1),
    "a short push": (jam(33.0, 299), True, 1),
    "two pushes": (two_pushes(), True, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_walks_rest_loads_and_limp_legs_are_no_fault(name):
    samples, serving, step_ms = SOUND[name]
    assert first_fault(samples, serving, step_ms) == (-1, "")
