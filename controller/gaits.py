"""Gait schedules: which foot is on the ground when, and how far the base moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES

PHASES = ("swing", "stance")


class Swing(NamedTuple):
    """One swing of a foot.

    Attributes:
        lift_off: when it begins [s]; duration: that it takes [s].
        height: of its apex above the ground [m].
        stance: for which the foot then stands [s].
    """

    lift_off: float
    duration: float
    height: float
    stance: float

    @property
    def landing(self) -> float:
        """Its end [s]."""
        return self.lift_off + self.duration


class ContactSchedule(Protocol):
    """The swings of the four feet, by index."""

    def swing(self, foot: int, time: float) -> Swing | None:
        """The swing of a foot that is under way at `time` [s]; None where the foot stands."""
        ...

    def next_swing(self, foot: int, time: float) -> Swing | None:
        """The first swing of a foot that begins after `time` [s]; None where none does."""
        ...


@dataclass(frozen=True)
class Gait:
    """A periodic contact schedule that starts from standing.

    Foot i lifts off at `start + (n + offset_i) period` for n = 0, 1, ... and swings for
    `(1 - duty) period`; before its first lift-off it stands. A gait with duty 1 never lifts a foot.

    Attributes:
        name: how users call it.
        period: stride period [s].
        duty: share of the period that a foot stands [-].
        offsets: lift-off of FR, FL, RR, RL within the stride [-].
        swing_height: apex of the swing foot above the ground [m].
        start: time at which the first stride begins [s].
        ramp: time from standing to the commanded speed [s].
    """

    name: str
    period: float
    duty: float
    offsets: tuple[float, float, float, float]
    swing_height: float = 0.06
    start: float = 0.2
    ramp: float = 0.6

    @property
    def swing_duration(self) -> float:
        """Time that a foot is in the air in each stride [s]."""
        return (1.0 - self.duty) * self.period

    def knots(self, period: float) -> int:
        """Number of a planner's knots, `period` [s] apart, in a stride.

        Raises:
            ValueError: when the stride is no multiple of the period.
        """
        knots = round(self.period / period)
        if abs(knots * period - self.period) > 1e-9:
            raise ValueError(
                f"gait {self.name!r}: the stride of {self.period} s is no multiple of the "
                f"planner's {period} s knots; change one of them"
            )
        return knots

    def lift_off(self, foot: int, cycle: int) -> float:
        """Time of the lift-off of `foot` (index) in stride `cycle` [s]."""
        return self.start + (cycle + self.offsets[foot]) * self.period

    def cycle(self, foot: int, time: float) -> int:
        """Number of the stride whose lift-off of `foot` came last, -1 before the first one."""
        # A nanosecond of slack: knot times are sums of 0.01 s and must not fall before their event.
        strides = (time + 1e-9 - self.start) / self.period - self.offsets[foot]
        return max(-1, int(np.floor(strides)))

    def in_swing(self, foot: int, time: float) -> bool:
        """True while the schedule has `foot` (index) in the air at `time` [s]."""
        if self.duty >= 1.0:
            return False
        cycle = self.cycle(foot, time)
        return cycle >= 0 and time + 1e-9 < self.lift_off(foot, cycle) + self.swing_duration

    def swing(self, foot: int, time: float) -> Swing | None:
        """The swing of `foot` (index) under way at `time` [s]; see `ContactSchedule`."""
        return self._swing(foot, self.cycle(foot, time)) if self.in_swing(foot, time) else None

    def next_swing(self, foot: int, time: float) -> Swing | None:
        """The first swing of `foot` (index) that begins after `time` [s]."""
        return self._swing(foot, self.cycle(foot, time) + 1) if self.duty < 1.0 else None

    def _swing(self, foot: int, cycle: int) -> Swing:
        stance = self.duty * self.period
        return Swing(self.lift_off(foot, cycle), self.swing_duration, self.swing_height, stance)

    def contacts(self, time: float) -> NDArray[np.bool_]:
        """Feet that the schedule has on the ground at `time` [s], (4,)."""
        return np.array([not self.in_swing(foot, time) for foot in range(4)])

    def phase_start(self, foot: str, phase: str, cycle: int) -> float:
        """Time at which a phase of a foot begins [s].

        Args:
            foot: FR, FL, RR or RL.
            phase: "swing" or "stance" (the stance that follows the swing of the same stride).
            cycle: stride number, counted from 0.

        Raises:
            ValueError: for an unknown foot or phase, or a gait that never lifts a foot.
        """
        self._check_phase(foot, phase)
        time = self.lift_off(FOOT_NAMES.index(foot), cycle)
        return time if phase == "swing" else time + self.swing_duration

    def phase_duration(self, foot: str, phase: str, cycle: int = 0) -> float:
        """Length of a phase of a foot [s]; all feet of a gait swing equally long, in every stride.

        Raises:
            ValueError: for an unknown foot or phase, or a gait that never lifts a foot.
        """
        self._check_phase(foot, phase)
        return self.swing_duration if phase == "swing" else self.duty * self.period

    def _check_phase(self, foot: str, phase: str) -> None:
        if foot not in FOOT_NAMES:
            raise ValueError(f"unknown foot {foot!r}: choose one of {', '.join(FOOT_NAMES)}")
        if phase not in PHASES:
            raise ValueError(f"unknown phase {phase!r}: choose one of {', '.join(PHASES)}")
        if self.duty >= 1.0:
            raise ValueError(f"reference {self.name!r} never lifts a foot: give `at` in seconds")

    def distance(self, time: float, speed: float) -> float:
        """Distance of the base along x at `time` [m], for a speed command [m/s].

        A gait that never lifts a foot goes nowhere.
        """
        if self.duty >= 1.0:
            return 0.0
        elapsed = max(0.0, time - self.start)
        if self.ramp <= 0.0 or elapsed >= self.ramp:
            return speed * (elapsed - 0.5 * max(self.ramp, 0.0))
        return 0.5 * speed * elapsed * elapsed / self.ramp


STAND = Gait("stand", period=0.5, duty=1.0, offsets=(0.0, 0.0, 0.0, 0.0))
# Four beats in lateral sequence: rear left, front left, rear right, front right.
WALK = Gait("walk", period=0.72, duty=0.75, offsets=(0.75, 0.25, 0.5, 0.0))
TROT = Gait("trot", period=0.44, duty=0.6, offsets=(0.0, 0.5, 0.5, 0.0))
# The rear pair lifts off, then the front pair. No force of one pair holds the trunk level, as the
# kinematic reference has it: the planners let it pitch, and all three of them stay up.
BOUND = Gait("bound", period=0.4, duty=0.6, offsets=(0.5, 0.5, 0.0, 0.0))

GAITS = {gait.name: gait for gait in (STAND, WALK, TROT, BOUND)}
