"""The event-selected integrator: Dormand-Prince between guards, projection across them.

Source: Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems", section 3.
Within N^epsilon of a guard it is crossed along the tangent, x + f dt with dt = -h / (Dh f): the
first-order impact map, guard after guard in the order of arrival, which in the limit gives the
flow's Bouligand derivative. What the paper calls future work, a guard reset matrix, is ``rearm``.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from saltation.compiled.limits import NOT_FINITE, TOO_STIFF, ZENO
from saltation.event_selected.kernel import advance_all
from saltation.event_selected.machine import (
    GUARD,
    NEW,
    NOT_EVENT_SELECTED,
    STATUSES,
    TIME,
    UNDER_WAY,
    Log,
    Machine,
)
from saltation.event_selected.system import EssOptions, EventSelectedSystem
from saltation.event_selected.tables import TableSet, native_tables
from saltation.event_selected.trajectory import Crossing, EssRun
from saltation.failure import text
from saltation.systems import Array
from saltation.threads import in_threads

ROOM = 256  # pieces in the first log; each further one has room for twice as many


class EssEnds(NamedTuple):
    """Ends of B runs, where they broke off or at the end of the duration."""

    states: Array  # (B, n)
    statuses: tuple[str, ...]  # (B,) as of ``EssRun``
    messages: tuple[str, ...]  # (B,) likewise


def integrate(
    system: EventSelectedSystem, x0: Array, duration: float, options: EssOptions | None = None
) -> EssRun:
    """Integrate from the state x0 (n,) at time 0 for a duration [s], and keep the trajectory.

    Guards with h <= 0 at the start are candidates, those with h > 0 count as crossed until armed.

    Raises:
        ValueError: the duration, the state, the options or the shape of what a function returns
            do not fit the system. What a system's function raises where it is not compiled goes
            through.
    """
    options, x = options or EssOptions(), _start_states(system, np.asarray(x0), 1, duration)
    limits, code = options.limits(system), native_tables(system)
    machines, codes = Machine.start(x[None], system.event_count, duration), np.array([NEW])
    parts: list[Log] = []
    while codes[0] in UNDER_WAY:
        log = Log.empty(ROOM * 2 ** min(len(parts), 8), system.state_dim)
        advance_all(code.tables, machines, codes, 0, 1, float(duration), limits, log)
        parts.append(log)
    status, machine = int(codes[0]), machines.row(0)
    _raise(code)
    message = _message(system, machine, status, options)
    return _run(machine.x, parts, STATUSES[status], message)


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
        ValueError: as for ``integrate``, or ``threads`` below one.
    """
    x = _start_states(system, np.asarray(starts), 2, duration)
    if threads is not None and threads < 1:
        raise ValueError(f"system {system.name}: threads {threads}; give 1 or more, or None")
    options = options or EssOptions()
    limits, code = options.limits(system), native_tables(system)
    count = min(threads or os.cpu_count() or 1, max(len(x), 1)) if not code.reason else 1
    machines, codes = Machine.start(x, system.event_count, duration), np.full(len(x), NEW)
    log = Log.empty(0, system.state_dim)

    def work(first: int) -> None:
        end = float(duration)
        advance_all(code.tables, machines, codes, first, count, end, limits, log)

    in_threads(work, range(count), len(x))
    _raise(code)
    messages = tuple(_message(system, machines.row(b), codes[b], options) for b in range(len(x)))
    return EssEnds(machines.x, tuple(STATUSES[int(code)] for code in codes), messages)


def _message(system: EventSelectedSystem, machine: Machine, code: int, options: EssOptions) -> str:
    """One line for a status: where it ended, why, and what to do; "" for OK."""
    where = f"system {system.name} at t = {machine.clock[TIME]:.12g} s, x = {text(machine.x)}: "
    if code == TOO_STIFF:
        return where + (
            f"one second needs more than {options.max_steps} integration steps; loosen the"
            " tolerances, or raise max_steps"
        )
    if code == ZENO:
        return where + (
            f"{options.max_events} guards crossed, the most that one second may have; if they are"
            " no Zeno behaviour, raise max_events"
        )
    if code == NOT_FINITE:
        return where + (
            "f, h or the state after the next step is not finite,"
            f" f = {text(machine.slope)}, h = {text(machine.values)}; check what they divide by"
        )
    if code == NOT_EVENT_SELECTED:
        guard = int(machine.counts[GUARD])
        speed = system.events_state(machine.x, system.parameters)[guard] @ machine.slope
        return where + (
            f"behind guard {guard}, just crossed, h falls at {speed:.3g} per s: liveness,"
            " requirement (4), does not hold, and the flow is not event-selected there; such a"
            " state slides along the guard, or needs another event function"
        )
    return ""


def _start_states(system: EventSelectedSystem, x: Array, axes: int, duration: float) -> Array:
    if not 0.0 <= duration < np.inf:
        raise ValueError(f"system {system.name}: duration {duration} s; give 0 or more")
    if x.ndim != axes or x.shape[-1] != system.state_dim:
        shape = f"({'B, ' * (axes - 1)}{system.state_dim})"
        raise ValueError(f"system {system.name}: the start has shape {x.shape}; give {shape}")
    return np.array(x, float, order="C")


def _raise(code: TableSet) -> None:
    """Pass on what a function that is not compiled has raised meanwhile."""
    if code.errors:
        error = code.errors[0]
        code.errors.clear()
        raise error


def _run(end: Array, parts: list[Log], status: str, message: str) -> EssRun:
    """The logs in one trajectory that ends in a state (n,)."""
    arrays = zip(*(part.trim() for part in parts), strict=True)
    _, times, starts, curves, guards = (np.concatenate(array) for array in arrays)
    times, states = np.concatenate([np.zeros(1), times]), np.concatenate([starts, end[None]])
    crossings = tuple(
        Crossing(float(times[i + 1]), int(guards[i]), states[i], states[i + 1])
        for i in np.flatnonzero(guards >= 0)
    )
    return EssRun(times, states, curves, crossings, status, message)  # type: ignore[arg-type]
