"""Stuck encoders are found while the motor moves, and never at rest."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.motor_watch import MotorWatch
from hw_bridge.safety.watches import Verdict
from hw_bridge.setpoints import Array
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import FL_THIGH, at, numbers

WATCH = MotorWatch(HardwareSafetyOptions(), A1)
STUCK_MS = 50
RATE = 2.0 * np.pi * 1.5  # [rad/s] of a gait


def judge(q: Array, dq: Array, torque: Array, serving: bool, time: float) -> Verdict:
    """The verdict on the encoders in a sample."""
    return WATCH.judge(numbers(q, dq, torque), serving, time).encoders


def gait(tick: int) -> tuple[Array, Array, Array]:
    """Positions, speeds and torques of legs that swing, as float32 frames carry them."""
    phase = RATE * 1e-3 * tick + np.arange(12)
    q = A1.stand + 0.3 * np.sin(phase)
    dq = 0.3 * RATE * np.cos(phase)
    return np.float32(q).astype(float), dq, 6.0 * np.sin(phase)


def first_fault(samples: list[tuple[Array, Array, Array]], serving: bool = True) -> str:
    """Cause of the first fault in samples 1 ms apart, "" without one; its tick goes before."""
    WATCH.reset()
    for tick, (q, dq, torque) in enumerate(samples):
        verdict = judge(q, dq, torque, serving, 1e-3 * tick)
        if verdict.action != "go":
            return f"{tick}: {verdict.cause}"
    return ""


def stick(motor: int, since: int, speed: str) -> list[tuple[Array, Array, Array]]:
    """A gait in which an encoder sticks; its speed goes on to be true, sticks too, or is zero."""
    samples, (q_stuck, dq_stuck, _) = [], gait(since)
    for tick in range(since + 600):
        q, dq, torque = gait(tick)
        if tick >= since:
            q[motor] = q_stuck[motor]
            dq[motor] = {"true": dq[motor], "stuck": dq_stuck[motor], "zero": 0.0}[speed]
        samples.append((q, dq, torque))
    return samples


@settings(max_examples=25)
@given(st.integers(0, 11), st.integers(20, 700), st.sampled_from(["true", "stuck", "zero"]))
def test_a_stuck_encoder_of_a_moving_leg_is_found(motor: int, since: int, speed: str) -> None:
    fault = first_fault(stick(motor, since, speed))
    assert "the encoder is stuck" in fault
    assert since + STUCK_MS - 1 <= int(fault.split(":")[0]) <= since + 6 * STUCK_MS


def test_the_cause_names_joint_place_and_time() -> None:
    fault = first_fault(stick(FL_THIGH, 100, "true"))
    assert re.fullmatch(
        r"15[01]: FL thigh: the encoder is stuck at 0\.51 rad "
        r"\(unchanged for 5[01] ms while the motor moves\)",
        fault,
    )


def test_a_gait_is_no_fault() -> None:
    assert first_fault([gait(tick) for tick in range(2000)]) == ""


@pytest.mark.parametrize("serving", [True, False])
def test_rest_is_no_fault_however_long(serving: bool) -> None:
    generator = np.random.default_rng(1)
    rest = [
        (
            A1.stand,  # bit for bit
            0.02 + 0.03 * generator.standard_normal(12),  # biased and noisy speed
            5.0 + 0.3 * generator.standard_normal(12),
        )
        for _ in range(2000)
    ]
    assert first_fault(rest, serving) == ""


def test_limp_legs_moved_by_hand_are_no_fault() -> None:
    samples = []
    for tick in range(1500):
        q, dq, torque = gait(tick)
        q[0] = A1.stand[0]  # the hip rests while its leg is moved
        samples.append((q, at(0, 0.0, dq), 0.0 * torque))
    assert first_fault(samples, serving=False) == ""
    assert "FR hip" in first_fault(samples, serving=True)


def test_a_calf_that_presses_on_its_stop_is_no_fault() -> None:
    folded = np.tile([0.0, 1.3, A1.legs.lower[2]], 4)
    samples = [(folded, np.zeros(12), at(2, -0.01 * tick, 0.0)) for tick in range(1000)]
    assert first_fault(samples) == ""


def test_lost_frames_are_no_fault() -> None:
    WATCH.reset()
    for tick in (0, 1, 2, 3, 300, 301, 302):  # a motion that begins as the frames come back
        torque = np.full(12, 0.0 if tick <= 300 else 8.0)
        verdict = judge(A1.stand, np.full(12, 0.5), torque, True, 1e-3 * tick)
        assert verdict.action == "go"


def test_an_encoder_that_leaps_is_found_while_the_motors_serve() -> None:
    samples = [gait(tick) for tick in range(100)]
    samples[60][0][FL_THIGH] += 0.5
    assert first_fault(samples).startswith("60: FL thigh: the encoder leapt to ")
    assert first_fault(samples, serving=False) == ""


@pytest.mark.parametrize("time", [0.05, 0.02, -1.0])
def test_time_that_stands_or_goes_back_begins_anew(time: float) -> None:
    WATCH.reset()
    for tick in range(50):
        q, dq, torque = gait(tick)
        judge(at(3, 0.1, q), at(3, 5.0, dq), torque, True, 1e-3 * tick)
    for now in (0.05, time):
        assert judge(*gait(50), True, now).action == "go"
