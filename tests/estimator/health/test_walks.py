"""The monitor on a recorded trot: silent when all is well, quick when something is not."""

import numpy as np
import pytest

from estimator.health.monitor import fault_names
from tests.estimator.fault_scenarios import DURATION, SCENARIOS, Scenario
from tests.estimator.health.standing import Clock
from tests.estimator.recorded_stream import recorded_trot

SLOWEST = 0.05  # [s] until a fault is seen
BACK = 0.06  # [s] until a sensor is believed again
WORDS = {name: name.replace("_", " ") for name in ("joint_position", "joint_velocity")}
WORDS |= {"joint_torque": "joint torque", "foot_force": "foot force"}


@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_a_trot_has_no_fault(noise: float) -> None:
    stream = recorded_trot(noise)
    clock = Clock()
    for time, row in zip(stream.time, stream.rows, strict=True):
        verdict = clock.judge(row, time)
        assert not verdict.any_fault, (time, fault_names(verdict))


@pytest.mark.parametrize("every", [2, 3, 6, 20])
def test_lost_readings_make_no_fault(every: int) -> None:
    stream = recorded_trot(1.0)
    clock = Clock()
    for time, row in zip(stream.time[::every], stream.rows[::every], strict=True):
        assert not clock.judge(row, time).any_fault


def shown(scenario: Scenario, begin: float) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Times since the fault began, and the names, from a tenth of a second before on."""
    stream = scenario.apply(recorded_trot(1.0), begin)
    clock = Clock()
    ticks = range(stream.index(begin - 0.1), stream.index(begin + 2.5 * DURATION))
    names = [fault_names(clock.judge(stream.rows[k], stream.time[k])) for k in ticks]
    return stream.time[ticks] - begin, names


SEEN = [scenario for scenario in SCENARIOS if scenario.seen]


@pytest.mark.parametrize("begin", [1.1, 1.37])
@pytest.mark.parametrize("scenario", SEEN, ids=lambda scenario: scenario.name)
def test_a_fault_is_seen_soon_named_rightly_and_forgiven(scenario: Scenario, begin: float) -> None:
    time, names = shown(scenario, begin)
    faulty = np.array([bool(entry) for entry in names])
    assert not faulty[time < -1e-9].any()
    assert faulty[(time > SLOWEST) & (time < DURATION - 1e-9)].all()
    assert not faulty[time > DURATION + BACK].any()
    if scenario.group is not None and scenario.kind in ("nan", "jump", "freeze"):
        word = WORDS.get(scenario.group, scenario.group)
        assert all(name.startswith(word) for entry in names for name in entry)


def test_readings_that_are_missing_are_not_the_sensors_fault() -> None:
    _, names = shown(Scenario("drop-out", None, False), 1.2)
    assert not any(names)
