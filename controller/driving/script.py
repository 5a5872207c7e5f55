"""A command that was written down before: what is asked for, and from when on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from controller.driving.goal import Goal
from controller.gaits import GAITS


class ScriptStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked for from a time on; what is not named stays as it was.

    Attributes:
        at: since the first plan [s].
        velocity_x, velocity_y: forward and left, in the base's heading [m/s].
        yaw_rate: to the left [rad/s].
        height: of the trunk [m].
        gait: stand, walk, trot or bound.
    """

    at: float
    velocity_x: float | None = None
    velocity_y: float | None = None
    yaw_rate: float | None = None
    height: float | None = None
    gait: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown gait, or a time that is none."""
        if self.gait is not None and self.gait not in GAITS:
            raise ValueError(f"unknown gait {self.gait!r}: use one of {', '.join(GAITS)}")
        if not 0.0 <= self.at < math.inf:
            raise ValueError(f"at is {self.at}; give seconds >= 0")


class Script:
    """The goal at every time, from the steps of a script."""

    def __init__(self, steps: Sequence[ScriptStep], gait: str) -> None:
        """Before the first step, all is zero and `gait` is the gait.

        Raises:
            ValueError: a step that is not later than the one before.
        """
        self._times, self._goals = [-math.inf], [Goal(gait=gait)]
        for step in steps:
            if step.at <= self._times[-1]:
                raise ValueError(f"a step at {step.at:g} s follows one at {self._times[-1]:g} s")
            values = {
                "forward": step.velocity_x, "left": step.velocity_y, "yaw_rate": step.yaw_rate,
                "height": step.height, "gait": step.gait,
            }  # fmt: skip
            changes = {name: value for name, value in values.items() if value is not None}
            self._times.append(step.at)
            self._goals.append(self._goals[-1]._replace(**changes))

    def __call__(self, time: float) -> Goal:
        """The goal at `time` [s]; a nanosecond of slack: knot times are sums of 0.01 s."""
        goal = self._goals[0]
        for at, later in zip(self._times, self._goals, strict=True):
            if at <= time + 1e-9:
                goal = later
        return goal
