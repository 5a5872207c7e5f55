"""Plays a schedule to a launch that runs: commands over the bus, harms from outside."""

from __future__ import annotations

import time

from runtime.bus import Publisher
from runtime.messages import Command as CommandMessage
from saltus.launch.harms import pause_processes, send_as_stranger
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor
from saltus.soak.schedule import Command, Harm, Schedule
from saltus.soak.steering import Steering

STRANGER_FRAMES = 20  # of each kind


class Player:
    """Plays one schedule; raises nothing that the schedule could cause.

    Attributes:
        harms: that have been done.
    """

    def __init__(
        self, schedule: Schedule, publisher: Publisher[CommandMessage], bridge_port: int
    ) -> None:
        """Commands go to `publisher`, a stranger's frames to the bridge's port on loopback."""
        self.harms = 0
        self._schedule, self._publisher, self._port = schedule, publisher, bridge_port
        self._steering, self._next, self._sequence = Steering(), 0, 0

    def play(self, supervisor: Supervisor, listener: Listener, running_s: float) -> None:
        """Send the command of this time, and do the harms that are due; fifty times a second.

        Harms that have been missed are done one a call.
        """
        if listener.truth is None:
            return
        self._command(self._steering.steer(self._at(running_s), listener.truth.q))
        harms = self._schedule.harms
        if self.harms < len(harms) and harms[self.harms].at <= running_s:
            self.harms += 1
            self._do(harms[self.harms - 1], supervisor)

    def _at(self, running_s: float) -> Command:
        """The command of a time."""
        commands = self._schedule.commands
        while self._next + 1 < len(commands) and commands[self._next + 1].at <= running_s:
            self._next += 1
        return commands[self._next]

    def _command(self, command: Command) -> None:
        self._sequence += 1
        self._publisher.send(CommandMessage(
            sequence=self._sequence, time=time.monotonic(), forward=command.forward,
            left=command.left, yaw_rate=command.turn, height=command.height, gait=command.gait,
        ))  # fmt: skip

    def _do(self, harm: Harm, supervisor: Supervisor) -> None:
        if harm.kind == "pause":
            pause_processes(supervisor, (harm.process,), harm.seconds)
        else:
            send_as_stranger(self._port, STRANGER_FRAMES)
