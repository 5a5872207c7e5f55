"""Random hybrid systems of one family, with durations over four decades.

Flows, guards and resets read all their numbers from the input, so a thousand random systems compile
once. A vector u (SIZE,) holds, one block after the other, the numbers of MODES modes, GUARDS guards
and GUARDS resets. A state is [positions, velocities] in the kinds of second order; with an odd
dimension its last number is of first order. Half of the systems fire on level, half on the falling
edge. Ours are simulated in random units of time, state and guards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numba import njit

from saltation.systems import Array, FlowMap, Mode, System, Transition

MODES, GUARDS = 3, 4
DECAY, BALLISTIC, OSCILLATOR, VAN_DER_POL, RING = range(5)  # kinds of flow
LINEAR, CIRCLE, WAVE, MOVING = range(4)  # kinds of guard
KEEP, BOUNCE, AFFINE = range(3)  # kinds of reset
# Of a mode: kind, a (4,), c (4,), amplitude, centre and width of a pulse, amplitude, frequency and
# phase of a sine, and the component that both force.
MODE_SIZE = 16
# Of a guard: kind, components i and j, level, A, K, sign.
GUARD_SIZE, FIRST_GUARD = 8, MODES * MODE_SIZE
# Of a reset: kind, restitution, component, offsets (4,), gains (4,).
RESET_SIZE, FIRST_RESET = 11, FIRST_GUARD + GUARDS * GUARD_SIZE
SIZE = FIRST_RESET + GUARDS * RESET_SIZE
TIME, STATE, GUARD = range(SIZE, SIZE + 3)  # the units, behind them
compiled = njit(cache=True, error_model="numpy")


@compiled
def _acceleration(kind, position, velocity, p, i):
    """Acceleration of pair i: a free flight, a damped oscillator, or van der Pol's."""
    c, frequency, damping = p[5 + i], p[1 + i], p[3 + i]
    if kind == BALLISTIC:
        return c
    if kind == OSCILLATOR:
        return c - frequency * frequency * position - 2.0 * damping * velocity
    return c - frequency * frequency * position + damping * (1.0 - position**2) * velocity


@compiled
def field(t, x, u, m):
    """Flow F (n,) of mode m, with its forcing."""
    t, x = t / u[TIME], x / u[STATE]
    p, n = u[m * MODE_SIZE :], len(x)
    kind, h = int(p[0]), n // 2
    rate = np.empty(n)
    for i in range(n):
        a, c = p[1 + i], p[5 + i]
        if kind == DECAY:
            rate[i] = c - a * x[i]
        elif kind == RING:
            rate[i] = c * math.sin(2.0 * x[(i + 1) % n]) - a * x[i]
        elif i < h:
            rate[i] = x[h + i]
        elif i >= 2 * h:
            rate[i] = c
        else:
            rate[i] = _acceleration(kind, x[i - h], x[i], p, i - h)
    s = (t - p[10]) / p[11]
    force = p[9] * math.exp(-s * s) + p[12] * math.sin(p[13] * t + p[14])
    rate[int(p[15])] += force
    return rate * (u[STATE] / u[TIME])


@compiled
def solution(t, x, u, h, m):
    """State (n,) of an unforced mode of the kinds DECAY, BALLISTIC or OSCILLATOR after h [s]."""
    x, h = x / u[STATE], h / u[TIME]
    p, n = u[m * MODE_SIZE :], len(x)
    kind, half = int(p[0]), n // 2
    end = x.copy()
    for i in range(n):
        a, c = p[1 + i], p[5 + i]
        if kind == DECAY:
            grown = h if a == 0.0 else -math.expm1(-a * h) / a
            end[i] = x[i] + (c - a * x[i]) * grown
        elif i >= 2 * half:
            end[i] = x[i] + c * h
        elif i < half and kind == BALLISTIC:
            end[i] = x[i] + h * (x[half + i] + 0.5 * h * c)
            end[half + i] = x[half + i] + h * c
        elif i < half:
            d, square = p[3 + i], a * a
            w = math.sqrt(square - d * d)
            centre, shrink = c / square, math.exp(-d * h)
            cosine, sine = shrink * math.cos(w * h), shrink * math.sin(w * h) / w
            y, v = x[i] - centre, x[half + i]
            end[i] = centre + (cosine + d * sine) * y + sine * v
            end[half + i] = (cosine - d * sine) * v - square * sine * y
    return end * u[STATE]


@compiled
def guard_value(t, x, u, k):
    """Guard k: a line, a circle, a wave over another component, or a level that moves."""
    t, x = t / u[TIME], x / u[STATE]
    p = u[FIRST_GUARD + k * GUARD_SIZE :]
    kind, y, z = int(p[0]), x[int(p[1])], x[int(p[2])]
    level, A, K, sign = p[3], p[4], p[5], p[6]
    if kind == LINEAR:
        value = y + A * z - level
    elif kind == CIRCLE:
        value = (y - K) ** 2 + (A * z) ** 2 - level**2
    else:
        value = y - level - A * math.sin(K * (z if kind == WAVE else t))
    return sign * value * u[GUARD]


@compiled
def reset_state(t, x, u, k, n):
    """Reset k into a mode of n dimensions: nothing, an impact of one velocity, or an affine map."""
    p, x = u[FIRST_RESET + k * RESET_SIZE :], x / u[STATE]
    kind = int(p[0])
    after = np.empty(n)
    for i in range(n):
        y = x[i] if i < len(x) else 0.0
        after[i] = p[3 + i] + p[7 + i] * y if kind == AFFINE else y
    if kind == BOUNCE:
        after[int(p[2])] *= -p[1]
    return after * u[STATE]


Way = Literal["compiled", "closed form", "callback", "callback, closed form"]
WAYS: tuple[Way, ...] = get_args(Way)
SHARES = (0.6, 0.2, 0.15, 0.05)  # of the trials
NARROW = 1 / 500  # of the duration: what is narrower has to be named by `max_step`
STEPS_PER_WIDTH = 0.5  # such a step is two widths of the pulse
TOLERANCES = (1e-6, 1e-8, 1e-10)
DECADES = 9.0  # of the units, up and down
TRIES, MARGIN = 20, 0.2  # of a guard from the typical state, in its scale
PHASES = np.linspace(0.0, 1.0, 40)  # of the duration, at which the margin is asked for
SECOND_ORDER = (BALLISTIC, OSCILLATOR, VAN_DER_POL)


class Structure(NamedTuple):
    """Dimensions of the modes, and the transitions between them, by index."""

    dims: tuple[int, ...]  # (modes,)
    edges: tuple[tuple[int, int], ...]  # (source, target), one a guard
    on: Literal["level", "edge"]


class Problem(NamedTuple):
    """One random system, and what is asked of it."""

    structure: int
    way: Way
    u: Array  # (SIZE + 3,) the numbers of its functions, in units of 1
    x: Array  # state at the start, in mode 0
    t: float  # at the start [s]
    duration: float  # [s]
    rtol: float
    pulses: tuple[tuple[float, float], ...]  # centre and width [s] of each mode's forcing
    scales: tuple[Array, ...]  # (modes,) of (n,): the size of each component
    units: Array  # (3,) 1 s, 1 of a state and 1 of a guard in the units of our simulation

    @property
    def max_step(self) -> float:
        """Largest step that a user has to give [s]: inf, or two widths of the narrowest pulse."""
        narrow = [width for _, width in self.pulses if width < NARROW * self.duration]
        return min(narrow) / STEPS_PER_WIDTH if narrow else np.inf


def _structures() -> list[Structure]:
    """Graphs of one to three modes with one to four transitions; the same in every trial."""
    rng, made = np.random.default_rng(2026), list[Structure]()
    for _ in range(40):
        modes, guards = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        edges = [(0, int(rng.integers(modes)))]
        edges += [tuple(rng.integers(modes, size=2).tolist()) for _ in range(guards - 1)]
        dims, on = tuple(rng.integers(1, 5, modes).tolist()), ("level", "edge")[len(made) % 2]
        made.append(Structure(dims, tuple(edges), on))
    return made


STRUCTURES = _structures()


@lru_cache(None)
def system_of(structure: int, way: Way) -> System:
    """The system of a structure; made once in a process."""

    def convert(function: Callable, name: str) -> Callable:
        function.__qualname__ = name  # by which numba tells its machine code from others'
        return function if way.startswith("callback") else njit(cache=True)(function)

    def mode(m: int, n: int) -> Mode:
        flow = convert(lambda t, x, u: field(t, x, u, m), f"flow_{m}")
        exact = convert(lambda t, x, u, h: solution(t, x, u, h, m), f"solution_{m}")
        flow_map = FlowMap(exact) if way.endswith("closed form") else None
        return Mode(f"mode {m}", n, SIZE + 3, flow, flow_map=flow_map)

    def transition(k: int, source: int, target: int) -> Transition:
        n = dims[target]
        guard = convert(lambda t, x, u: guard_value(t, x, u, k), f"guard_{k}")
        reset = convert(lambda t, x, u: reset_state(t, x, u, k, n), f"reset_{k}_{n}")
        return Transition(source, target, guard, reset, name=str(k), on=on)

    dims, edges, on = STRUCTURES[structure]
    modes = {m: mode(m, n) for m, n in enumerate(dims)}
    return System(modes, tuple(transition(k, *edge) for k, edge in enumerate(edges)))


def draw(seed: int, trial: int) -> Problem:
    """The problem of a trial."""
    rng = np.random.default_rng([seed, trial])
    structure, way = int(rng.integers(len(STRUCTURES))), WAYS[rng.choice(len(WAYS), p=SHARES)]
    shape, u = STRUCTURES[structure], np.ones(SIZE + 3)
    u[:SIZE] = 0.0
    duration = 10.0 ** rng.uniform(-2.0, 2.0)
    t = 0.0 if rng.random() < 0.5 else rng.uniform(-2.0, 2.0) * duration
    unit = duration / 10.0 ** rng.uniform(0.0, 1.2)  # time in which something happens [s]
    closed = way.endswith("closed form")

    def draw_flow(p: Array, n: int) -> Array:
        """Numbers of a flow whose time scale is ``unit`` [s]; the scale (n,) of its states."""
        h, scale = n // 2, np.ones(n)
        kinds = [DECAY] if n == 1 else [DECAY, BALLISTIC, OSCILLATOR]
        if not closed:
            kinds += [RING] if n == 1 else [RING, VAN_DER_POL]
        kind = p[0] = rng.choice(kinds)
        if kind in SECOND_ORDER:
            scale[h : 2 * h] = 1.0 / unit
            p[1 : 1 + h] = rng.uniform(1.0, 5.0, h) / unit  # frequencies
            p[3 : 3 + h] = rng.uniform(0.0, 0.6, h) / unit  # damping
            p[5 : 5 + h] = rng.normal(0.0, 1.0, h) / unit**2
            if kind == BALLISTIC:
                p[4 + h] = -rng.uniform(1.0, 5.0) / unit**2
            if n % 2:
                p[4 + n] = rng.normal() / unit
        else:
            p[1 : 1 + n] = rng.uniform(-0.2, 2.0, n) * (rng.random(n) < 0.8) / unit
            p[5 : 5 + n] = rng.normal(0.0, 1.5, n) / unit
        return scale

    def draw_forcing(p: Array, scale: Array) -> None:
        """A pulse, a sine, or both, on the last component."""
        p[15] = last = len(scale) - 1
        if rng.random() < 0.7:
            centre = t + rng.uniform(0.0, 1.0) * duration
            width = duration * 10.0 ** rng.uniform(-4, 0)
            p[9] = rng.uniform(-1.0, 1.0) * scale[last] / (width * np.sqrt(np.pi))
            p[10], p[11] = centre, width
            pulses.append((float(centre), float(width)))
        if rng.random() < 0.5:
            frequency = 2.0 * np.pi / (duration * 10.0 ** rng.uniform(-2.3, 0.3))
            size = rng.uniform(0.05, 0.5) * scale[last]
            p[12] = size * min(frequency, 10.0 / unit)
            p[13], p[14] = frequency, rng.uniform(0.0, 2.0 * np.pi)

    def draw_guard(k: int, typical: Array, scale: Array) -> None:
        """A guard that is positive at the mode's typical state, with some margin at most times."""
        p, n = u[FIRST_GUARD + k * GUARD_SIZE :], len(typical)
        i, kind = int(rng.integers(n)), int(rng.choice([LINEAR, MOVING] if n == 1 else range(4)))
        j = i if n == 1 else int((i + rng.integers(1, n)) % n)
        for _ in range(TRIES):
            A, level, K = rng.normal(0.0, 0.5), rng.normal(0.0, 0.7) * scale[i], 0.0
            if kind == LINEAR:
                A *= scale[i] / scale[j] if n > 1 else 0.0
            elif kind == CIRCLE:
                A, K = scale[i] / scale[j] * rng.uniform(0.5, 1.5), rng.normal() * scale[i]
                level = rng.uniform(0.5, 1.5) * scale[i]
            else:
                A *= scale[i]
                periods = rng.uniform(1.0, 10.0)
                K = 2.0 * np.pi * periods / duration if kind == MOVING else periods / scale[j]
            p[:7] = kind, i, j, level, A, K, 1.0
            values = [guard_value(s, typical, u, k) for s in t + duration * PHASES]
            p[6] = np.sign(values[0])
            margin = MARGIN * scale[i] ** (2 if kind == CIRCLE else 1)
            if min(values) > margin or max(values) < -margin:
                break

    def draw_reset(k: int, same: bool, scale: Array, centre: Array, target: Array) -> None:
        """An impact where the guard is on a position, else a map to near the target's centre."""
        p, n = u[FIRST_RESET + k * RESET_SIZE :], len(centre)
        i = int(u[FIRST_GUARD + k * GUARD_SIZE + 1])
        second_order = i < len(scale) // 2 and (scale != 1.0).any()
        kind = AFFINE
        if same and second_order and rng.random() < 0.7:
            kind = BOUNCE
        elif not same and len(scale) == n and np.array_equal(scale, target):
            kind = KEEP if rng.random() < 0.3 else AFFINE
        p[:3] = kind, rng.uniform(0.5, 1.0), len(scale) // 2 + i
        p[3 : 3 + n] = centre + 0.1 * rng.normal(size=n) * target
        source, common = np.ones(n), min(n, len(scale))
        source[:common] = scale[:common]
        p[7 : 7 + n] = rng.uniform(-0.2, 0.2, n) * target / source

    pulses: list[tuple[float, float]] = []
    rows = [u[m * MODE_SIZE :] for m in range(MODES)]
    scales = tuple(draw_flow(p, n) for p, n in zip(rows, shape.dims, strict=False))
    for p, scale in zip(rows, scales, strict=False):
        p[11] = 1.0  # a width that divides
        if not closed and rng.random() < 0.7:
            draw_forcing(p, scale)
    centres = [rng.normal(size=len(scale)) * scale for scale in scales]
    for k, (source, target) in enumerate(shape.edges):
        draw_guard(k, centres[source], scales[source])
        draw_reset(k, source == target, scales[source], centres[target], scales[target])
    rtol, units = float(rng.choice(TOLERANCES)), 10.0 ** rng.uniform(-DECADES, DECADES, 3)
    x = centres[0].copy()
    return Problem(structure, way, u, x, t, duration, rtol, tuple(pulses), scales, units)
