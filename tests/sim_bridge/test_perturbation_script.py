"""Events happen at their ticks, last as long as they say and add up."""

import numpy as np
import pytest

from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import BaseForce, BaseVelocity, MotorBlock, PhaseInstant


class Log:
    """Stands in for the simulation and remembers the state it is put in."""

    def __init__(self):
        self.velocity, self.force, self.blocked = np.zeros(3), np.zeros(3), False

    def add_base_velocity(self, velocity_in_world):
        self.velocity = self.velocity + velocity_in_world

    def push_base(self, force_in_world):
        self.force = force_in_world

    def block_motors(self, blocked):
        self.blocked = blocked


class EverySecond:
    """A gait whose cycles last a second: stance first, swing from the half."""

    def phase_start(self, foot, phase, cycle):
        assert foot == "RL"
        return cycle + (0.5 if phase == "swing" else 0.0)

    def phase_duration(self, foot, phase, cycle):
        return 0.5


def test_phases_are_asked_of_the_gait():
    events = (
        BaseVelocity(PhaseInstant("RL", "swing", 2), (0, 1, 0)),
        MotorBlock(PhaseInstant("RL", "stance", 3), 0.1),
    )
    script = PerturbationScript(events, EverySecond())
    assert [ticks for *ticks, _ in script.occurrences(0)] == [[2500, 2501], [3000, 3100]]


def test_a_phase_without_a_gait_is_refused():
    with pytest.raises(ValueError):
        PerturbationScript((BaseVelocity(PhaseInstant("RL", "swing", 2), (0, 1, 0)),))


def test_a_push_comes_again_until_nobody_asks():
    events = (BaseVelocity(0.003, (0, 1, 0), 0.004), BaseForce(0.005, (2, 0, 0), 0.002, 0.005))
    script, log, speeds, forces = PerturbationScript(events), Log(), [], []
    for tick in range(20):
        script.apply(log, tick)
        speeds.append(log.velocity[1])
        forces.append(log.force[0])
    assert speeds == [0] * 3 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4 + [5]
    assert forces == [0] * 5 + [2, 2, 0, 0, 0] * 3
    assert script.beginnings(12) == [3, 5, 7, 10, 11]
    assert script.beginnings(0) == [3, 5]
    velocity, force = events
    assert script.occurrences(10) == [(3, 4, velocity), (5, 7, force), (7, 8, velocity)]


def test_windows_begin_and_end_at_their_ticks_add_up_and_a_kick_comes_once():
    script = PerturbationScript((
        BaseVelocity(0.001, (0, 1.5, 0)), MotorBlock(0.004, 0.003),
        BaseForce(0.0, (1, 0, 0), 0.004), BaseForce(0.002, (10, 0, 5), 0.004),
    ))  # fmt: skip
    log, states = Log(), []
    for tick in range(8):
        script.apply(log, tick)
        states.append((log.force[0], log.force[2], log.velocity[1], log.blocked))
    forces, lifts, kicks, blocks = zip(*states, strict=True)
    assert forces == (1, 1, 11, 11, 10, 10, 0, 0) and lifts == (0, 0, 5, 5, 5, 5, 0, 0)
    assert kicks == (0.0, *[1.5] * 7) and blocks == (*[False] * 4, *[True] * 3, False)
