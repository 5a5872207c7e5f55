"""The compact trace of a trial in lock step: made tick by tick, saved and loaded."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from controller.driving.commands import Goal, ScriptClock
from controller.gaits import GAITS, Gait
from runtime.checked import Array
from saltus.common.files import replacing
from saltus.configuration.launch import TICK_S, LaunchConfig
from saltus.launch.assembly import event_times, gait_clock
from saltus.launch.lock_step import Tick
from saltus.metrics.driving import GoalWatch
from saltus.recording.reading import StartAxes

_PLAIN = ("plan_time", "plan_period", "statuses", "commands", "events")  # stored as JSON
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("contact", "planned", "plan_contacts"), np.uint8),
    **dict.fromkeys(("q", "costs", "solve_ms"), np.float32),
}  # the rest is small or needs the digits


def _empty(*shape: int) -> Any:
    return field(default_factory=lambda: np.zeros(shape))


@dataclass(frozen=True)
class Trace:
    """One trial, thinned out to a step of 10 ms. N knots of a plan, C candidates of a line search.

    Attributes:
        time: (T,) [s].
        q: (T, 19) true configurations.
        contact: (T, 4) true contacts, 0 or 1.
        planned: (T, 4) contacts of the gait's schedule, 0 or 1; all ones where there is no gait.
        plan_time: time of knot 0 of the first plan that saw a perturbation [s]; NaN where none did.
        plan_period: between the knots of that plan [s].
        plan_contacts: (N, 4) of that plan; (0, 4) where there is none.
        step_sizes: (C,) of its line searches, 0.0 for the trajectory before the step; (0,) where
            the planner searches no line.
        costs: (I, C) cost of every candidate in each iteration, inf where it diverged.
        solve_ms: (S,) duration of every solve [ms].
        statuses: number of plans by status.
        commands: number of motor commands by status.
        events: when perturbations began [s].
        goals: (G, 5) of a robot that is driven: since when [s], forward and left [m/s], yaw rate
            [rad/s], and the gait's place in `controller.gaits.GAITS`.
    """

    time: Array
    q: Array
    contact: Array
    planned: Array
    plan_time: float = float("nan")
    plan_period: float = 0.01
    plan_contacts: Array = _empty(0, 4)
    step_sizes: Array = _empty(0)
    costs: Array = _empty(0, 0)
    solve_ms: Array = _empty(0)
    statuses: dict[str, int] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    events: list[float] = field(default_factory=list)
    goals: Array = _empty(0, 5)


def trace_path(sweep: Path, planner: str, trial: int) -> Path:
    """The trace of a trial in the folder of a sweep; a plug-in's name may have slashes."""
    return sweep / "traces" / f"{re.sub(r'[/:]', '_', planner)}-{trial}.npz"


def save_trace(trace: Trace, path: Path) -> None:
    """Write a trace, compressed, most of it in single precision.

    ``path`` is whole or absent, never half.

    Raises:
        OSError: it cannot be written.
    """
    plain = json.dumps({name: getattr(trace, name) for name in _PLAIN})
    arrays: dict[str, Any] = {
        name: np.asarray(getattr(trace, name), _DTYPES.get(name, np.float64)) for name in _ARRAYS
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, plain=plain, **arrays)


def load_trace(path: Path) -> Trace:
    """Read a trace back; what is large has single precision.

    Raises:
        ValueError: the file is no trace.
        OSError: it cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name].astype(np.float64) for name in _ARRAYS}
            return Trace(**arrays, **json.loads(str(file["plain"])))
    except OSError:
        raise
    except Exception as error:  # of a damaged archive zipfile and NumPy raise many kinds
        raise ValueError(f"{path}: not a trace of this version: {error}") from error


_ARRAYS = [member.name for member in fields(Trace) if member.name not in _PLAIN]


EVERY_TICKS = 10  # a trace keeps one state in so many ticks


class TraceRecorder:
    """Takes the ticks of one trial in lock step, in their order.

    States and plans are kept as the robot's start sees them.

    The plan that is kept is the first one from an estimate that could know of the first
    perturbation: the reading of the tick at which that begins is still free of it.
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Begin the trace of a trial with this configuration.

        Raises:
            BadRequest: an event names a phase that the reference does not have.
        """
        self._events = event_times(config)
        self._first_event = min((round(at / TICK_S) for at in self._events), default=math.inf)
        self._gait = gait_clock(config)
        self._seen = StartAxes(config).to_local
        self._states: list[tuple[float, Array, Array]] = []
        self._goal_watch = GoalWatch(config) if config.is_driven else None
        self._goals: list[tuple[float, Goal]] = []
        self._statuses, self._commands = Counter[str](), Counter[str]()
        self._kept: dict[str, Any] = {}  # of the plan and its line search

    def add(self, tick: Tick) -> None:
        """Take what happened in one tick."""
        truth, plan, search = tick.truth, tick.plan, tick.search
        if truth.tick % EVERY_TICKS == 0:
            local = self._seen(truth)
            self._states.append((truth.time, local.q, local.contact))
        if self._goal_watch is not None:
            goal = self._goal_watch.at(truth.time)
            if not self._goals or goal != self._goals[-1][1]:
                self._goals.append((truth.time, goal))
        self._commands[tick.command.status] += 1
        if plan is not None:
            self._statuses[plan.status] += 1
            late = plan.tick > self._first_event
            if late and plan.status != "failed" and "plan_time" not in self._kept:
                self._kept |= {"plan_time": plan.time, "plan_period": plan.period,
                               "plan_contacts": plan.contacts}  # fmt: skip
        if search is not None and search.tick > self._first_event and "costs" not in self._kept:
            self._kept |= {"step_sizes": search.step_sizes, "costs": search.costs}

    def trace(self, solve_ms: Sequence[float]) -> Trace:
        """The trace of all states so far; `solve_ms` (S,) is how long the solves took [ms]."""
        time, q, contact = zip(*self._states, strict=True) if self._states else ((), (), ())
        return Trace(
            time=np.array(time), q=_stack(q, 19), contact=_stack(contact, 4),
            planned=planned_contacts(self._gait, time), solve_ms=np.array(solve_ms),
            statuses=dict(self._statuses), commands=dict(self._commands), events=self._events,
            goals=_stack([goal_row(*each) for each in self._goals], 5), **self._kept,
        )  # fmt: skip


def goal_row(since: float, goal: Goal) -> list[float]:
    """A goal as `Trace.goals` has it; one to stand is one of no velocity."""
    velocity = (0.0,) * 3 if goal.gait == "stand" else goal[:3]
    return [since, *velocity, float(list(GAITS).index(goal.gait))]


def planned_contacts(gait: Gait | ScriptClock | None, times: Sequence[float] | Array) -> Array:
    """Contacts of a gait's schedule at ``times`` (T,) [s]: (T, 4), all ones without a gait."""
    if gait is None:
        return np.ones((len(times), 4))
    return _stack([gait.contacts(float(time)) for time in times], 4)


def _stack(rows: Sequence[Any], width: int) -> Array:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
