"""The event-selected integrator: Dormand-Prince between guards, projection across them.

Source: Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems", section 3.
Within N^epsilon of a guard it is crossed along the tangent, x + f dt with dt = -h / (Dh f): the
first-order impact map, guard after guard in the order of arrival, which in the limit gives the
flow's Bouligand derivative. What the paper calls future work, a guard reset matrix, is ``rearm``.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from hybrid.compiled.system import quiet
from hybrid.event_selected import failure
from hybrid.event_selected.kernel import advance, advance_all, begin
from hybrid.event_selected.machine import FULL, OK, STATUSES, Log, Machine
from hybrid.event_selected.options import EssOptions
from hybrid.event_selected.system import EventSelectedSystem
from hybrid.event_selected.tables import Compiled, compiled
from hybrid.event_selected.trajectory import Crossing, EssRun
from hybrid.systems import Array

ROOM = 256  # pieces recorded between two visits to Python


class EssEnds(NamedTuple):
    """Ends of B runs, where they broke off or at the end of the duration."""

    states: Array  # (B, n)
    statuses: tuple[str, ...]  # (B,) as of ``EssRun``


def integrate(
    system: EventSelectedSystem, x0: Array, duration: float, options: EssOptions | None = None
) -> EssRun:
    """Integrate from the state x0 (n,) at time 0 for a duration [s], and keep the trajectory.

    Guards with h < 0 at the start are candidates; the others count as crossed until armed.

    Raises:
        ValueError: the duration, the state, the options or the shape of what a function returns
            do not fit the system. What a system's function raises where it is not compiled goes
            through.
    """
    options, x = options or EssOptions(), _checked(system, np.asarray(x0), 1, duration)
    limits, code = options.limits(system), compiled(system)
    machine, parts = Machine.start(x, system.event_count, float(duration)), []
    with quiet():
        status = begin(code.tables, machine)
        while status in (OK, FULL):
            log = Log.empty(ROOM, system.state_dim)
            status = advance(code.tables, machine, float(duration), limits, log)
            parts.append(log)
            if status == OK:
                break
    _raise(code)
    message = "" if status == OK else failure.message(system, machine, status, options)
    return _run(x, parts, STATUSES[status], message)


def integrate_batch(
    system: EventSelectedSystem,
    starts: Array,
    duration: float,
    options: EssOptions | None = None,
    threads: int | None = None,
) -> EssEnds:
    """Integrate from every row of ``starts`` (B, n), on all cores; only the ends are kept.

    Args:
        system: the event-selected system.
        starts: initial states (B, n).
        duration: how long [s].
        options: accuracy and limits, of each run.
        threads: how many; left out, one a core, and one where the system is not compiled. The
            results do not depend on it.

    Raises:
        ValueError: as for ``integrate``.
    """
    x = _checked(system, np.asarray(starts), 2, duration)
    limits, code = (options or EssOptions()).limits(system), compiled(system)
    count = min(threads or os.cpu_count() or 1, max(len(x), 1)) if not code.reason else 1
    codes, log = np.zeros(len(x), dtype=np.int64), Log.empty(0, system.state_dim)

    def work(first: int) -> None:
        advance_all(code.tables, x, first, count, float(duration), limits, log, codes)

    with quiet():
        work(len(x))  # compiles once, before the threads start
        if count == 1:
            work(0)
        else:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(work, range(count)))
    _raise(code)
    return EssEnds(x, tuple(STATUSES[code] for code in codes))


def _checked(system: EventSelectedSystem, x: Array, axes: int, duration: float) -> Array:
    if not 0.0 <= duration < np.inf:
        raise ValueError(f"system {system.name}: duration {duration} s; give 0 or more")
    if x.ndim != axes or x.shape[-1] != system.state_dim:
        wanted = f"({'B, ' * (axes - 1)}{system.state_dim})"
        raise ValueError(f"system {system.name}: the start has shape {x.shape}; give {wanted}")
    return np.array(x, dtype=np.float64, order="C")


def _raise(code: Compiled) -> None:
    """Pass on what a function that is not compiled has raised meanwhile."""
    if code.raised:
        error = code.raised[0]
        code.raised.clear()
        raise error


def _run(x: Array, parts: list[Log], status: str, message: str) -> EssRun:
    """The logs in one trajectory from x (n,)."""
    pieces, n = [part.count[0] for part in parts], len(x)
    ends = [part.ends[:i] for part, i in zip(parts, pieces, strict=True)]
    curves = [part.curves[:i] for part, i in zip(parts, pieces, strict=True)]
    starts = [part.starts[:i] for part, i in zip(parts, pieces, strict=True)]
    crossings = tuple(
        Crossing(float(row[0]), int(guard), row[1 : 1 + n], row[1 + n :])
        for part in parts
        for guard, row in zip(
            part.guards[: part.count[1]], part.crossings[: part.count[1]], strict=True
        )
    )
    times = np.concatenate([np.zeros(1), *(end[:, 1] for end in ends)])
    curve = np.concatenate([np.zeros((0, 4, n)), *curves])
    states = np.concatenate([np.zeros((0, n)), *starts, x[None]])
    if len(curve):
        states[-1] = states[-2] + curve[-1, 0]  # c0 is the change over a piece
    return EssRun(times, states, curve, crossings, status, message)  # type: ignore[arg-type]
