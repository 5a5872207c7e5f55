"""Speeds that stick and joints that jam are found; walks, rest and lost frames are no fault."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_bridge.intake import DQ, TORQUE, Q
from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.motor_watch import MotorWatch
from hw_bridge.setpoints import Array
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import FL_THIGH, numbers

WATCH = MotorWatch(HardwareSafetyOptions(), A1)
RATE = 2.0 * np.pi * 1.5  # [rad/s] of a gait
JAM_MS = 300


def gait(tick: int) -> Array:
    """Legs that swing."""
    phase = RATE * 1e-3 * tick + np.arange(12)
    return numbers(A1.stand + 0.3 * np.sin(phase), 0.3 * RATE * np.cos(phase), 6.0 * np.sin(phase))


def first_fault(samples: list[Array], serving: bool = True, step_ms: int = 1) -> str:
    """Cause of the first fault in samples `step_ms` apart, its tick before it; "" without one."""
    WATCH.reset()
    for tick, sample in enumerate(samples):
        verdict = WATCH.judge(sample, serving, 1e-3 * step_ms * tick).drives
        if verdict.action != "go":
            assert verdict.action == "damp"
            return f"{tick}: {verdict.cause}"
    return ""


def stick(motor: int, since: int, speed: float | None) -> list[Array]:
    """A gait in which a speed sticks, at its last value where `speed` is None."""
    samples = [gait(tick) for tick in range(since + 600)]
    value = samples[since][DQ][motor] if speed is None else speed
    for sample in samples[since:]:
        sample[DQ][motor] = value
    return samples


def jam(motor: int, torque: float, ticks: int, way: float = 0.0) -> list[Array]:
    """A joint that a torque moves on by `way` [rad] in so many ticks."""
    samples = [gait(tick) for tick in range(ticks)]
    for tick, sample in enumerate(samples):
        sample[Q][motor] = 0.5 + way * tick / ticks
        sample[TORQUE][motor] = torque
    return samples


@settings(max_examples=25)
@given(st.integers(0, 11), st.integers(20, 700), st.sampled_from([0.0, 1.0, -20.0, None]))
def test_a_speed_that_sticks_while_the_joint_travels_is_found(
    motor: int, since: int, speed: float | None
) -> None:
    fault = first_fault(stick(motor, since, speed))
    assert "the speed is stuck" in fault
    assert since + 49 <= int(fault.split(":")[0]) <= since + 250


def test_the_cause_of_a_stuck_speed_names_joint_speed_and_time() -> None:
    fault = first_fault(stick(FL_THIGH, 100, 0.0))
    assert re.fullmatch(
        r"1\d\d: FL thigh: the speed is stuck at 0\.00 rad/s \(unchanged for \d\d ms while the "
        r"joint went 0\.\d\d rad elsewhere\)",
        fault,
    )


def test_limp_legs_that_are_folded_are_no_fault() -> None:
    assert first_fault(stick(FL_THIGH, 100, 0.0), serving=False) == ""


def test_a_gait_is_no_fault() -> None:
    assert first_fault([gait(tick) for tick in range(2000)]) == ""


@pytest.mark.parametrize("drift", [0.0, 0.03])  # [rad/s] that a rounded speed does not show
def test_rest_is_no_fault_however_long(drift: float) -> None:
    q = [A1.stand + 1e-3 * drift * tick for tick in range(3000)]
    assert first_fault([numbers(each, np.zeros(12), np.full(12, 12.0)) for each in q]) == ""


def test_a_motion_that_was_not_seen_is_no_fault() -> None:
    samples = [numbers(A1.stand + 0.1 * k, np.zeros(12), np.zeros(12)) for k in range(30)]
    assert first_fault(samples, step_ms=6) == ""


@pytest.mark.parametrize("torque", [20.0, -33.5])
def test_a_joint_that_does_not_move_under_torque_is_jammed(torque: float) -> None:
    fault = first_fault(jam(FL_THIGH, torque, 400, 0.02))
    assert fault == (
        f"{JAM_MS}: FL thigh is jammed: {torque:.0f} N m for 300 ms without a motion (limit 20)"
    )


@pytest.mark.parametrize(
    "samples",
    [jam(FL_THIGH, 19.9, 1000), jam(FL_THIGH, 33.0, 1000, way=0.08), jam(FL_THIGH, 33.0, 299)],
    ids=["a heavy load", "a slow motion", "a short push"],
)
def test_a_joint_that_moves_or_rests_is_not_jammed(samples: list[Array]) -> None:
    assert first_fault(samples) == ""


def test_a_motor_that_lets_go_begins_anew() -> None:
    pause = [gait(300)]
    pause[0][Q][FL_THIGH] = 0.5
    assert first_fault(jam(FL_THIGH, 30.0, 290) + pause + jam(FL_THIGH, 30.0, 290)) == ""


def test_a_walk_that_is_pushed_is_no_fault() -> None:
    push = "perturbations=[{kind: base_velocity, at: 0.5, value: [0.0, 1.5, 0.0]}]"
    run, samples = LockStep(load_launch("push", [push], "paused", 0.9)), []
    while run.simulation.tick < run.config.ticks:
        reading = run.simulation.reading()
        run.step()
        samples.append(
            numbers(reading.joint_position, reading.joint_velocity, reading.joint_torque)
        )
    assert max(np.abs(sample[TORQUE]).max() for sample in samples) > 20.0
    assert first_fault(samples) == ""
