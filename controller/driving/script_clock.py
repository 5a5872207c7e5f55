"""When the feet of a robot that a script drives lift off and land: known before it moves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from controller.driving.goal import Commands
from controller.driving.options import DriveOptions
from robots.conventions import FOOT_NAMES
from robots.robot import Robot
from robots.rotations import Array


class ScriptClock:
    """The strides that a script leads to, from the knots at which plans start.

    They depend on the commands alone, not on where the robot is: a push changes none of them, but
    those of a robot that stands, which steps when it is pushed.
    """

    def __init__(
        self, commands: Commands, options: DriveOptions, robot: Robot, period: float,
        starts: Iterable[int],
    ) -> None:  # fmt: skip
        """Go through a whole script without a robot.

        Args:
            commands: of the script, at its beginning.
            options: of driving.
            robot: that is driven.
            period: between knots [s].
            starts: knots at which plans start, in order; the last one ends the run.
        """
        from controller.driving.course import Course  # loads the compiler

        course = Course(options, robot, period, commands)
        swings: dict[tuple[int, float], float] = {}
        for start in starts:
            course.go_on(start, course.look_ahead(start - course.knot).path)
            course.obey()
            # Strides may change until they begin, and none has a swing before it does.
            begun = course.strides.swings()
            swings |= {(int(foot), lift): land for foot, lift, land, _ in begun if lift < start}
        self._end = period * course.knot
        self._swings = [
            period * np.array(sorted((lift, land) for (f, lift), land in swings.items() if f == i))
            .reshape(-1, 2) for i in range(len(FOOT_NAMES))
        ]  # fmt: skip

    def phase_start(self, foot: str, phase: str, cycle: int) -> float:
        """Time at which a phase of a foot begins [s]; a swing comes before its stance.

        Raises:
            ValueError: the foot has not so many swings in this script.
        """
        lift, land = self._swing(foot, cycle)
        return lift if phase == "swing" else land

    def phase_duration(self, foot: str, phase: str, cycle: int) -> float:
        """Length of a phase of a foot [s]; the last stance lasts to the end of the run.

        Raises:
            ValueError: as `phase_start` does.
        """
        lift, land = self._swing(foot, cycle)
        if phase == "swing":
            return land - lift
        swings = self._swings[FOOT_NAMES.index(foot)]
        after = swings[cycle + 1, 0] if cycle + 1 < len(swings) else max(self._end, land)
        return float(after - land)

    def contacts(self, time: float) -> Array:
        """Feet on the ground at `time` [s], (4,) of zeros and ones."""
        now = time + 1e-9  # of slack: knot times are sums of 0.01 s
        return np.array([
            not np.any((each[:, 0] <= now) & (now < each[:, 1])) for each in self._swings
        ], dtype=np.float64)  # fmt: skip

    def _swing(self, foot: str, cycle: int) -> tuple[float, float]:
        """Lift-off and landing of a swing [s]."""
        swings = self._swings[FOOT_NAMES.index(foot)]
        if cycle >= len(swings):
            raise ValueError(
                f"{foot} swings {len(swings)} times in this script; give a cycle from 0, below that"
            )
        return float(swings[cycle, 0]), float(swings[cycle, 1])
