"""A suite's random command: bounds, from which each seed draws the script of a trial."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from controller.driving.commands import ScriptStep
from runtime.options import Options, Range, positive


class RandomCommand(Options, frozen=True):
    """What commands are drawn from.

    Attributes:
        gait: of all commands.
        velocity_x: greatest speed forward and back.
        velocity_y: greatest speed to either side.
        yaw_rate: greatest rate of turn, either way.
        hold: least and greatest time that a command is held.
        start: time of the first command; until then the robot does what its reference says.
    """

    gait: str = "trot"
    velocity_x: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.0
    velocity_y: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.0
    yaw_rate: Annotated[float, Range("rad/s", 0.0, 10.0)] = 0.0
    hold: Annotated[tuple[float, float], positive("s", 1e6)] = (1.0, 4.0)
    start: Annotated[float, Range("s", 0.0, 1e6)] = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown gait and for numbers out of range."""
        Options.__post_init__(self)
        ScriptStep(at=self.start, gait=self.gait)
        if not self.hold[0] <= self.hold[1]:
            raise ValueError(f"hold is {list(self.hold)}; give the least time first")

    def script(self, seed: int, duration: float) -> tuple[ScriptStep, ...]:
        """The steps up to `duration` [s]: the same for the same seed, whoever asks."""
        random, steps, at = np.random.default_rng(seed), [], self.start
        while at < duration:
            share = random.uniform(-1.0, 1.0, 3)
            forward, left, turn = share * (self.velocity_x, self.velocity_y, self.yaw_rate)
            steps.append(ScriptStep(at, float(forward), float(left), float(turn), gait=self.gait))
            at += float(random.uniform(*self.hold))
        return tuple(steps)
