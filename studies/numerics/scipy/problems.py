"""Random hybrid systems of the family, with durations over four decades."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from hybrid.systems import Array, FlowMap, Mode, System, Transition
from studies.numerics.scipy import family

Way = Literal["compiled", "closed form", "callback", "callback, closed form"]
WAYS: tuple[Way, ...] = ("compiled", "closed form", "callback", "callback, closed form")
SHARES = (0.6, 0.2, 0.15, 0.05)  # of the trials
STRUCTURES = 40
NARROW = 1 / 500  # of the duration: what is narrower has to be named by `max_step`
STEPS_PER_WIDTH = 0.5  # such a step is two widths of the pulse
TOLERANCES = (1e-6, 1e-8, 1e-10)
TRIES, MARGIN = 20, 0.2  # of a guard from the typical state, in its scale
PHASES = np.linspace(0.0, 1.0, 40)  # of the duration, at which the margin is asked for
SECOND_ORDER = (family.BALLISTIC, family.OSCILLATOR, family.VAN_DER_POL)


class Structure(NamedTuple):
    """Dimensions of the modes, and the transitions between them, by index."""

    dims: tuple[int, ...]  # (modes,)
    edges: tuple[tuple[int, int], ...]  # (source, target), one a guard


class Problem(NamedTuple):
    """One random system, and what is asked of it."""

    structure: int
    way: Way
    u: Array  # (SIZE,) the numbers of its functions
    x: Array  # state at the start, in mode 0
    t: float  # at the start [s]
    duration: float  # [s]
    rtol: float
    pulses: tuple[tuple[float, float], ...]  # centre and width [s] of each mode's forcing
    scales: tuple[Array, ...]  # (modes,) of (n,): the size of each component

    @property
    def max_step(self) -> float:
        """What a user has to give [s]: inf, or two widths of the narrowest pulse."""
        narrow = [width for _, width in self.pulses if width < NARROW * self.duration]
        return min(narrow) / STEPS_PER_WIDTH if narrow else np.inf


@lru_cache(1)
def structures() -> tuple[Structure, ...]:
    """Graphs of one to three modes with one to four transitions; the same in every trial."""
    rng = np.random.default_rng(2026)
    return tuple(_structure(rng) for _ in range(STRUCTURES))


@lru_cache(None)
def system_of(structure: int, way: Way) -> System:
    """The system of a structure; made once in a process."""
    shape = structures()[structure]
    convert = (lambda function: function) if way.startswith("callback") else njit(cache=True)
    modes = {}
    for m, n in enumerate(shape.dims):
        flow, solution = convert(family.flow_of(m)), convert(family.solution_of(m))
        flow_map = FlowMap(solution) if way.endswith("closed form") else None
        modes[m] = Mode(f"mode {m}", n, family.SIZE, flow, flow_map=flow_map)
    transitions = []
    for k, (source, target) in enumerate(shape.edges):
        guard, reset = family.guard_of(k), family.reset_of(k, shape.dims[target])
        transitions.append(Transition(source, target, convert(guard), convert(reset), name=str(k)))
    return System(modes, tuple(transitions))


def draw(seed: int, trial: int) -> Problem:
    """The problem of a trial."""
    rng = np.random.default_rng([seed, trial])
    structure, way = int(rng.integers(STRUCTURES)), WAYS[rng.choice(len(WAYS), p=SHARES)]
    shape, u = structures()[structure], np.zeros(family.SIZE)
    duration = 10.0 ** rng.uniform(-2.0, 2.0)
    t = 0.0 if rng.random() < 0.5 else rng.uniform(-2.0, 2.0) * duration
    unit = duration / 10.0 ** rng.uniform(0.0, 1.2)  # time in which something happens [s]
    closed = way.endswith("closed form")
    scales = tuple(_draw_flow(rng, u, m, n, unit, closed) for m, n in enumerate(shape.dims))
    pulses = []
    for m in range(len(shape.dims)):
        u[m * family.MODE_SIZE + 11] = 1.0  # a width that divides
        if not closed and rng.random() < 0.7:
            pulses += _draw_forcing(rng, u, m, scales[m], t, duration, unit)
    centres = [rng.normal(size=len(scale)) * scale for scale in scales]
    for k, (source, target) in enumerate(shape.edges):
        _draw_guard(rng, u, k, centres[source], scales[source], t, duration)
        _draw_reset(rng, u, k, source == target, scales[source], centres[target], scales[target])
    rtol = float(rng.choice(TOLERANCES))
    return Problem(
        structure, way, u, centres[0].copy(), t, duration, rtol, tuple(pulses), scales
    )


def _structure(rng: np.random.Generator) -> Structure:
    modes, guards = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    edges = [(0, int(rng.integers(modes)))]
    edges += [tuple(rng.integers(modes, size=2).tolist()) for _ in range(guards - 1)]
    return Structure(tuple(rng.integers(1, 5, modes).tolist()), tuple(edges))


def _draw_flow(
    rng: np.random.Generator, u: Array, m: int, n: int, unit: float, closed: bool
) -> Array:
    """Numbers of a flow whose time scale is ``unit`` [s]; the scale (n,) of its states."""
    p, h, scale = m * family.MODE_SIZE, n // 2, np.ones(n)
    kinds = [family.DECAY] if n == 1 else [family.DECAY, family.BALLISTIC, family.OSCILLATOR]
    if not closed:
        kinds += [family.RING] if n == 1 else [family.RING, family.VAN_DER_POL]
    kind = rng.choice(kinds)
    u[p] = kind
    if kind in SECOND_ORDER:
        scale[h : 2 * h] = 1.0 / unit
        u[p + 1 : p + 1 + h] = rng.uniform(1.0, 5.0, h) / unit  # frequencies
        u[p + 3 : p + 3 + h] = rng.uniform(0.0, 0.6, h) / unit  # damping
        u[p + 5 : p + 5 + h] = rng.normal(0.0, 1.0, h) / unit**2
        if kind == family.BALLISTIC:
            u[p + 4 + h] = -rng.uniform(1.0, 5.0) / unit**2
        if n % 2:
            u[p + 4 + n] = rng.normal() / unit
    else:
        u[p + 1 : p + 1 + n] = rng.uniform(-0.2, 2.0, n) * (rng.random(n) < 0.8) / unit
        u[p + 5 : p + 5 + n] = rng.normal(0.0, 1.5, n) / unit
    return scale


def _draw_forcing(
    rng: np.random.Generator, u: Array, m: int, scale: Array, t: float, duration: float, unit: float
) -> list[tuple[float, float]]:
    """A pulse, a sine, or both, on the last component; centre and width of the pulse."""
    p, last, pulses = m * family.MODE_SIZE, len(scale) - 1, []
    u[p + 15] = last
    if rng.random() < 0.7:
        centre, width = t + rng.uniform(0.0, 1.0) * duration, duration * 10.0 ** rng.uniform(-4, 0)
        u[p + 9] = rng.uniform(-1.0, 1.0) * scale[last] / (width * np.sqrt(np.pi))
        u[p + 10], u[p + 11] = centre, width
        pulses.append((float(centre), float(width)))
    if rng.random() < 0.5:
        frequency = 2.0 * np.pi / (duration * 10.0 ** rng.uniform(-2.3, 0.3))
        size = rng.uniform(0.05, 0.5) * scale[last]
        u[p + 12] = size * min(frequency, 10.0 / unit)
        u[p + 13], u[p + 14] = frequency, rng.uniform(0.0, 2.0 * np.pi)
    return pulses


def _draw_guard(
    rng: np.random.Generator, u: Array, k: int, typical: Array, scale: Array, t: float,
    duration: float,
) -> None:  # fmt: skip
    """A guard that is positive at the mode's typical state, with some margin at most times."""
    p, n = family.FIRST_GUARD + k * family.GUARD_SIZE, len(typical)
    kinds = [family.LINEAR, family.MOVING] if n == 1 else range(4)
    i, kind = int(rng.integers(n)), int(rng.choice(kinds))
    j = i if n == 1 else int((i + rng.integers(1, n)) % n)
    for _ in range(TRIES):
        A, level, K = rng.normal(0.0, 0.5), rng.normal(0.0, 0.7) * scale[i], 0.0
        if kind == family.LINEAR:
            A *= scale[i] / scale[j] if n > 1 else 0.0
        elif kind == family.CIRCLE:
            A, K = scale[i] / scale[j] * rng.uniform(0.5, 1.5), rng.normal() * scale[i]
            level = rng.uniform(0.5, 1.5) * scale[i]
        else:
            A *= scale[i]
            periods = rng.uniform(1.0, 10.0)
            K = 2.0 * np.pi * periods / duration if kind == family.MOVING else periods / scale[j]
        u[p : p + 7] = kind, i, j, level, A, K, 1.0
        values = [family.guard_value(s, typical, u, k) for s in t + duration * PHASES]
        u[p + 6] = np.sign(values[0])
        margin = MARGIN * scale[i] ** (2 if kind == family.CIRCLE else 1)
        if min(values) > margin or max(values) < -margin:
            break


def _draw_reset(
    rng: np.random.Generator, u: Array, k: int, same: bool, scale: Array, centre: Array,
    target_scale: Array,
) -> None:  # fmt: skip
    """An impact where the guard is on a position, else a map to near the target's centre."""
    p, n = family.FIRST_RESET + k * family.RESET_SIZE, len(centre)
    i = int(u[family.FIRST_GUARD + k * family.GUARD_SIZE + 1])
    velocity = len(scale) // 2 + i
    second_order = i < len(scale) // 2 and (scale != 1.0).any()
    kind = family.AFFINE
    if same and second_order and rng.random() < 0.7:
        kind = family.BOUNCE
    elif not same and len(scale) == n and np.array_equal(scale, target_scale):
        kind = family.KEEP if rng.random() < 0.3 else family.AFFINE
    u[p : p + 3] = kind, rng.uniform(0.5, 1.0), velocity
    u[p + 3 : p + 3 + n] = centre + 0.1 * rng.normal(size=n) * target_scale
    source = np.ones(n)
    source[: min(n, len(scale))] = scale[: min(n, len(scale))]
    u[p + 7 : p + 7 + n] = rng.uniform(-0.2, 0.2, n) * target_scale / source
