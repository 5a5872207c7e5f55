"""A suite's random command: bounds, from which each seed draws the script of a trial."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from controller.driving.script import ScriptStep


class RandomCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What commands are drawn from.

    Attributes:
        gait: of all commands.
        velocity_x, velocity_y: greatest speed forward and left, either way [m/s].
        yaw_rate: greatest rate of turn, either way [rad/s].
        hold: least and greatest time that a command is held [s].
        start: of the first command [s]; until then the robot does what its reference says.
    """

    gait: str = "trot"
    velocity_x: float = 0.0
    velocity_y: float = 0.0
    yaw_rate: float = 0.0
    hold: tuple[float, float] = (1.0, 4.0)
    start: float = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown gait and for numbers out of range."""
        ScriptStep(at=self.start, gait=self.gait)
        for name in ("velocity_x", "velocity_y", "yaw_rate"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}; give a finite bound >= 0")
        least, most = self.hold
        if not 0.0 < least <= most < math.inf:
            raise ValueError(f"hold is {list(self.hold)}; give seconds > 0, the least first")

    def script(self, seed: int, duration: float) -> tuple[ScriptStep, ...]:
        """The steps up to `duration` [s]: the same for the same seed, whoever asks."""
        random, steps, at = np.random.default_rng(seed), [], self.start
        while at < duration:
            share = random.uniform(-1.0, 1.0, 3)
            forward, left, turn = share * (self.velocity_x, self.velocity_y, self.yaw_rate)
            steps.append(ScriptStep(at, float(forward), float(left), float(turn), gait=self.gait))
            at += float(random.uniform(*self.hold))
        return tuple(steps)
