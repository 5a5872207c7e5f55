"""How one launch of a soak ended, and what that counts as."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from saltus.launch.launcher import LaunchOutcome
from saltus.metrics.run import RunMetrics
from saltus.soak.schedule import HARD

BLAMED_S = 5.0  # for which a push counts as what the robot fell of
# Causes of the bridge that are falls. One may come before the trunk is seen to have fallen.
FALLS = ("the trunk is tilted", "the tracker gave up: a fall")
COMPLETE_S = 1.0  # that a whole run may lack: states are judged a little later than the bridge's


class LaunchEnd(NamedTuple):
    """How a launch ended.

    Attributes:
        launch: its number, from 0.
        ran_s: how long the robot ran.
        whole: it ran as long as it was asked to. A robot may have fallen meanwhile and gone on.
        fell: the trunk touched the ground or tilted past 60 deg, or the robot was damped for that.
        after_hard_push: it fell, or was stopped, within 5 s after a push above 2 m/s.
        fell_at_s: when it was first seen to, since the robot ran [s]; None where it was not.
        cause: of the early end, or of the first fall, in one line; empty without either.
        push_m_s: size of the last push before that; None where there was none.
        push_ago_s: time from that push to it.
        died: processes that ended although nobody asked them to, or hung.
        interrupted: the user stopped it.
        stall_ms: the longest stall of the machine beside an early end; None without one.
    """

    launch: int
    ran_s: float
    whole: bool
    fell: bool
    after_hard_push: bool
    fell_at_s: float | None
    cause: str
    push_m_s: float | None
    push_ago_s: float | None
    died: tuple[str, ...] = ()
    interrupted: bool = False
    stall_ms: float | None = None

    @property
    def counts_as_fall(self) -> bool:
        """A fall that no hard push explains."""
        return self.fell and not self.after_hard_push

    @property
    def restarts(self) -> int:
        """Processes that died or hung; else 1 for an early end that no hard push explains."""
        early = not (self.whole or self.interrupted or self.after_hard_push)
        return len(self.died) or int(early)

    @property
    def words(self) -> str:
        """What happened, the last push before that, and whether the machine stood still."""
        died = f"{', '.join(self.died)} died; " if self.died else ""
        push = ""
        if self.push_m_s is not None and self.push_ago_s is not None:
            push = f" ({self.push_ago_s:.1f} s after a push of {self.push_m_s:.2f} m/s)"
        stall = ""
        if self.stall_ms is not None:
            stall = f"; the machine stood still for {self.stall_ms:.0f} ms"
        return f"{died}{self.cause}{push}{stall}"


def judge(
    launch: int, asked_s: float, outcome: LaunchOutcome, metrics: RunMetrics,
    stall_ms: float | None = None,
) -> LaunchEnd:  # fmt: skip
    """How a launch ended that was asked to run for `asked_s`, beside such a stall."""
    summary, robot = outcome.summary, outcome.summary["robot"]
    ran = float(summary["simulated_s"])
    cause = str(robot.get("cause", ""))
    fell = bool(summary["fell"]) or cause.startswith(FALLS)
    whole = not cause and not outcome.deaths and ran > asked_s - COMPLETE_S
    well = whole and not fell
    end_ms, fell_at_s = float(metrics.last_tick), metrics.fell_at_s
    if fell_at_s is not None:
        end_ms = metrics.first_tick + 1e3 * fell_at_s
    pushes = _pushes_before(outcome.reports.get("emulator", {}), end_ms)
    hard = any(ago <= BLAMED_S and size > HARD for ago, size in pushes)
    ago, size = pushes[-1] if pushes else (None, None)
    return LaunchEnd(
        launch, ran, whole, fell, hard and not well and not outcome.deaths, fell_at_s,
        "" if well else cause or _why(outcome, fell, fell_at_s), size, ago,
        tuple(death.name for death in outcome.deaths), outcome.interrupted,
        None if whole else stall_ms,
    )  # fmt: skip


def _why(outcome: LaunchOutcome, fell: bool, fell_at_s: float | None) -> str:
    """Why a launch did not go well of which the robot's bridge gives no cause."""
    if not fell:
        return "; ".join(problem.words for problem in outcome.problems)
    return "the robot fell" if fell_at_s is None else f"the robot fell at {fell_at_s:.1f} s"


def _pushes_before(emulator: Mapping[str, Any], end_ms: float) -> Sequence[tuple[float, float]]:
    """Time before the end [s] and size [m/s] of each push up to then, in order."""
    return [
        (1e-3 * (end_ms - at_ms), math.hypot(*value))
        for at_ms, value in emulator.get("pushes", ()) if at_ms <= end_ms
    ]  # fmt: skip
