"""What a page can do to a launch: push, drive, stop and slow time, tune the planner."""

from __future__ import annotations

import time
from typing import Any, Literal

import msgspec
import numpy as np

from hw_bridge.operator.drivers import KeyDriver
from hw_bridge.operator.driving import Pacer
from runtime.bus import Bus, Publisher
from runtime.endpoints import EndpointInUse
from runtime.messages import Pace, Push, Tuning
from runtime.topics import COMMAND, PACE, PUSH, TUNING
from saltus.configuration.launch import LaunchConfig
from saltus.launch.driving import bounds_of

Body = Literal["base", "FR", "FL", "RR", "RL"]

REPEAT_S = 0.4  # after which the pace is sent again


class Levers:
    """Publishes what people ask for on a page.

    Attributes:
        refusal: why a page may only look on; empty where it may do more.
        drives: the robot takes commands from the page.
        pad: takes keys, as a keyboard that drives does.
    """

    def __init__(self, config: LaunchConfig, bus: Bus) -> None:
        """Bind the topics, where the launch allows it and nobody else has."""
        self.refusal, self.drives = "", False
        self._push: Publisher[Push] | None = None
        self._pace: Publisher[Pace] | None = None
        self._tuning: Publisher[Tuning] | None = None
        self._sequence, self._speed, self._steps, self._due = 0, float("inf"), 0, 0.0
        self.pad = KeyDriver(config.sources.keys, bounds_of(config.drive, config.robot_model))
        self._pacer: Pacer | None = None
        if not config.controllable:
            self.refusal = "the launch file allows no control (view.control)"
            return
        try:
            if config.solver is not None:
                self._tuning = bus.publisher(TUNING)
            if config.kind.simulated:
                self._push = bus.publisher(PUSH)
                if config.mode == "paused":
                    self._pace = bus.publisher(PACE)
        except EndpointInUse:
            self.refusal = "another view has the controls"
            self._push = self._pace = self._tuning = None
            return
        if config.drive.source == "client":
            self._bind_commands(bus)

    def _bind_commands(self, bus: Bus) -> None:
        try:
            publisher = bus.publisher(COMMAND)
        except EndpointInUse:
            return
        self._pacer, self.drives = Pacer(self.pad, publisher.send), True

    @property
    def pushes(self) -> bool:
        """Whether the robot can be pushed."""
        return self._push is not None

    @property
    def paces(self) -> bool:
        """Whether time can be slowed and stopped."""
        return self._pace is not None

    @property
    def tunes(self) -> bool:
        """Whether the planner can be tuned."""
        return self._tuning is not None

    def push(self, body: Body, velocity: tuple[float, float, float]) -> None:
        """Push the simulated robot: `velocity` in world is added to the body's [m/s]."""
        if self._push is not None:
            sequence, now = self._next()
            self._push.send(Push(
                sequence=sequence, time=now, body=body, velocity=np.array(velocity, dtype=float)
            ))  # fmt: skip

    def set_speed(self, speed: float) -> None:
        """Simulated seconds a second: 0 stops time, inf is as fast as possible."""
        self._speed, self._due = speed, 0.0

    def step(self, ticks: int = 1) -> None:
        """Let a robot whose time is stopped live through some ticks of 1 ms."""
        self._steps, self._due = self._steps + ticks, 0.0

    def tune(self, options: dict[str, Any]) -> None:
        """Change options of the planner; keys of its section of a launch file."""
        if self._tuning is not None:
            sequence, now = self._next()
            text = msgspec.json.encode(options).decode()
            self._tuning.send(Tuning(sequence=sequence, time=now, options=text))

    def tick(self) -> None:
        """Send what is due: commands, and the pace again."""
        now = time.monotonic()
        if self._pacer is not None:
            self._pacer.tick(now)
        if self._pace is not None and now >= self._due:
            self._due = now + REPEAT_S
            sequence, _ = self._next()
            self._pace.send(Pace(sequence=sequence, time=now, speed=self._speed, steps=self._steps))

    def close(self) -> None:
        """A robot that was driven from here shall stand."""
        if self._pacer is not None:
            self._pacer.end(time.monotonic())

    def _next(self) -> tuple[int, float]:
        self._sequence += 1
        return self._sequence, time.monotonic()
