"""What is kept of one trial, for its report: states and contacts, one plan, counters."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.common.files import replacing
from saltus.metrics.touchdowns import Touchdowns

Array = NDArray[np.float64]

_LATER = ("goals",)  # files that are older have none
_PLAIN = ("statuses", "commands", "events")  # stored as JSON; the rest is numbers


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
        plan_q: (N+1, 19) of that plan; (0, 19) where there is none.
        step_sizes: (C,) of its line searches, 0.0 for the trajectory before the step; (0,) where
            the planner searches no line.
        costs: (I, C) cost of every candidate in each iteration, inf where it diverged.
        solve_ms: (S,) duration of every solve [ms].
        statuses: number of plans by status.
        commands: number of motor commands by status.
        events: when perturbations began [s].
        goals: (G, 5) of a robot that is driven: since when [s], forward and left [m/s], yaw rate
            [rad/s], and the gait's place in `controller.gaits.GAITS`.
        touchdowns: of its feet, found at every tick; None in a trace that is older than they are.
    """

    time: Array
    q: Array
    contact: Array
    planned: Array
    plan_time: float = float("nan")
    plan_period: float = 0.01
    plan_contacts: Array = _empty(0, 4)
    plan_q: Array = _empty(0, 19)
    step_sizes: Array = _empty(0)
    costs: Array = _empty(0, 0)
    solve_ms: Array = _empty(0)
    statuses: dict[str, int] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    events: list[float] = field(default_factory=list)
    goals: Array = _empty(0, 5)
    touchdowns: Touchdowns | None = None


def trace_path(sweep: Path, planner: str, trial: int) -> Path:
    """The trace of a trial in the folder of a sweep; a plug-in's name may have slashes."""
    return sweep / "traces" / f"{re.sub(r'[/:]', '_', planner)}-{trial}.npz"


def save_trace(trace: Trace, path: Path) -> None:
    """Write a trace, compressed, most of it in single precision.

    ``path`` is whole or absent, never half.

    Raises:
        OSError: it cannot be written.
    """
    members: dict[str, Any] = {name: _packed(name, getattr(trace, name)) for name in _names()}
    members |= to_members(trace.touchdowns)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **members)


def load_trace(path: Path) -> Trace:
    """Read a trace back; what is large has single precision.

    Raises:
        ValueError: the file is no trace.
        OSError: it cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            names = [name for name in _names() if name in file or name not in _LATER]
            members = {name: _unpacked(name, file[name]) for name in names}
            trace = Trace(**members, touchdowns=from_members(file))
        _check(trace)
        return trace
    except OSError:
        raise
    except Exception as error:  # of a damaged archive zipfile and NumPy raise many kinds
        raise ValueError(f"{path}: not a trace of this version: {error}") from error


def _check(trace: Trace) -> None:
    """Raise ValueError for arrays that do not fit together or states that are no numbers."""
    ticks, knots = np.size(trace.time), np.size(trace.plan_contacts) // 4
    solves, iterations = np.size(trace.solve_ms), np.shape(trace.costs)[:1]
    shapes = {
        "time": (ticks,), "q": (ticks, 19), "contact": (ticks, 4), "planned": (ticks, 4),
        "plan_contacts": (knots, 4), "solve_ms": (solves,), "goals": (np.size(trace.goals) // 5, 5),
    }  # fmt: skip
    for name, shape in shapes.items():
        value = getattr(trace, name)
        if np.shape(value) != shape or not np.isfinite(value).all():
            raise ValueError(f"{name} is not {shape} of finite numbers")
    if np.shape(trace.costs) != (*iterations, np.size(trace.step_sizes)):
        raise ValueError("costs are not one for each step size")
    if not (isinstance(trace.statuses, dict) and isinstance(trace.commands, dict)):
        raise ValueError("statuses and commands are no counts")


def _names() -> tuple[str, ...]:
    return tuple(member.name for member in fields(Trace) if member.name != "touchdowns")


def _packed(name: str, value: Any) -> NDArray[Any]:
    if name in _PLAIN:
        return np.array(json.dumps(value))
    if name in ("contact", "planned", "plan_contacts"):
        return np.asarray(value, dtype=np.uint8)
    single = name in ("q", "plan_q", "costs", "solve_ms")  # the rest is small or needs the digits
    return np.asarray(value, dtype=np.float32 if single else np.float64)


def _unpacked(name: str, value: NDArray[Any]) -> Any:
    if name in _PLAIN:
        return json.loads(str(value))
    return value.astype(np.float64) if value.ndim else float(value)


_PREFIX = "touchdown_"  # begins the members' names


def to_members(touchdowns: Touchdowns | None) -> dict[str, NDArray[Any]]:
    """Members of the file, in single precision but for the time; none where nobody knows."""
    if touchdowns is None:
        return {}
    columns = touchdowns._asdict().items()
    return {
        _PREFIX + name: np.asarray(column, np.float64 if name == "time" else np.float32)
        for name, column in columns
    }


def from_members(file: Mapping[str, NDArray[Any]]) -> Touchdowns | None:
    """Those in a file; None where it is older than they are.

    Raises:
        KeyError: some of their members are missing.
        ValueError: their arrays do not fit together, or are not of finite numbers.
    """
    if _PREFIX + "time" not in file:
        return None
    found = Touchdowns(*(file[_PREFIX + name].astype(np.float64) for name in Touchdowns._fields))
    for name, column, empty in zip(Touchdowns._fields, found, Touchdowns.none(), strict=True):
        shape = (found.time.size, *empty.shape[1:])
        if column.shape != shape or not np.isfinite(column).all():
            raise ValueError(f"touchdowns: {name} is not {shape} of finite numbers")
    return found
