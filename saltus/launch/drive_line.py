"""One line on the terminal of who drives: what is asked for, and what the robot does."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

from runtime.bus import Bus, Subscriber
from runtime.messages import Command, StateEstimate
from runtime.topics import STATE_ESTIMATE
from saltus.launch.announcement import RunningLaunch

EVERY_S = 0.2
_CLEAR = "\r\x1b[K"


class DriveLine:
    """Updates the line in place, and notices that the launch ends; a context manager.

    It subscribes to estimates once the robot moves: before, the processes of a launch take whoever
    listens for one of their own.

    Attributes:
        is_over: the launch has.
    """

    def __init__(self, launch: RunningLaunch, bus: Bus) -> None:
        """Nothing is shown where standard error is no terminal."""
        self.is_over = False
        self._launch, self._bus = launch, bus
        self._shows = sys.stderr.isatty()
        self._estimates: Subscriber[StateEstimate] | None = None
        self._estimate: StateEstimate | None = None
        self._next = 0.0

    def show(self, command: Command | None) -> None:
        """Show the command that was sent last, five times a second."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY_S
        self.is_over = not self._launch.alive
        if self._shows and command is not None:
            self._print(words_of(command) + self._robot())

    def _print(self, words: str) -> None:
        width = shutil.get_terminal_size().columns - 1  # a line that breaks cannot be cleared
        print(f"{_CLEAR}{words[:width]}", end="", file=sys.stderr, flush=True)

    def _robot(self) -> str:
        """What the robot does, by its own estimate."""
        if self._estimates is None:
            if not self._launch.is_moving:
                return " | the launch is starting"
            self._estimates = self._bus.subscriber(STATE_ESTIMATE)
        self._estimate = self._estimates.newest() or self._estimate
        if self._estimate is None:
            return ""
        forward, left, turn = self._estimate.v[[0, 1, 5]]
        return f" | robot {forward:+.2f} {left:+.2f} m/s {turn:+.2f} rad/s"

    def __enter__(self) -> DriveLine:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._shows:
            self._print("")


def words_of(command: Command) -> str:
    """A command for people: gait, forward and left, turn, and the height where one is asked for."""
    height = "" if command.height is None else f" {command.height:.2f} m"
    velocity = f"{command.forward:+.2f} {command.left:+.2f} m/s {command.yaw_rate:+.2f} rad/s"
    return f"{command.gait:5} {velocity}{height}"
