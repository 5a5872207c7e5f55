"""The end of a walk right after a push, in lock step: bridge, emulated robot and the stack."""

import numpy as np
from msgspec.structs import replace

from hw_bridge.states import RobotState
from runtime.rows import message_of
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import Stack
from tests.hw_bridge.rig import Rig, stand_command

WALK_S = 1.1  # before the push
LATE_S = 0.1  # from the push to the wish to sit down


class StackCommands:
    """What estimator, planner and tracker make of the readings of a rig."""

    def __init__(self, rig, *settings):
        self.stack = Stack(load_launch("a1-emulated", ["tracker.command_delay=0", *settings]))
        self._rig, self._answered = rig, 0

    def __call__(self, tick, now):
        command = stand_command(tick, now)
        commands = self.stack.planner.commands
        if commands is not None and any(s.is_ending for s in self._rig.statuses[-1:]):
            commands.end()
        for reading in self._rig.readings[self._answered :]:
            reading = replace(message_of(reading), tick=self._answered)
            command = self.stack.answer(reading).command
            self._answered += 1
        return replace(command, time=now)


def walk(seconds, *settings):
    """A robot that has walked for so long."""
    rig = Rig()
    rig.command = StackCommands(rig, *settings)
    return rig.run_until(RobotState.RUNNING).run(seconds)


def largest_tilt(rig):
    """The largest angle of the trunk on the way to the ground [rad]."""
    cosine = 1.0
    while not rig.bridge.is_finished and cosine > 0.5:
        rig.step()
        x, y = rig.simulation.truth().q[3:5]
        cosine = min(cosine, 1.0 - 2.0 * (x * x + y * y))
    return float(np.arccos(cosine))


def test_a_robot_that_is_told_to_sit_down_right_after_a_push_does_not_fall():
    rig = walk(WALK_S)
    rig.simulation.add_base_velocity(np.array([0.0, 1.0, 0.0]))
    rig.run(LATE_S)
    rig.bridge.end()
    assert largest_tilt(rig) < 0.3
    assert rig.bridge.machine.ended_well


def test_a_robot_that_is_told_to_sit_down_as_it_turns_in_a_trot_stands_first():
    rig = walk(1.5, "command=[{at: 0.0, gait: trot, yaw_rate: 0.5}]")
    assert rig.simulation.truth().v[5] > 0.3  # [rad/s]
    rig.bridge.end()
    rig.run_until(RobotState.SIT_DOWN, seconds=1.2)  # it trots on for 1.5 s where nobody stops it
    assert abs(rig.simulation.truth().v[5]) < 0.2
    assert largest_tilt(rig) < 0.1
    assert rig.bridge.machine.ended_well
