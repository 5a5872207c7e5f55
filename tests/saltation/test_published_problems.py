"""Published problems of hybrid systems: event times, ends, cycles and multipliers.

A row names who posed the problem. What is expected is a closed form, with numbers of ours, or as
many digits as the source prints. A system is a ring of steps: a flow (t, x), the guard that ends
it, and a reset where there is one. ``walls`` are further guards and resets of the first flow.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm, tanhm
from scipy.optimize import brentq

import saltation as sa
from saltation.limit_cycle import sorted_eigenvalues

SQRT3 = np.sqrt(3.0)


def system(steps, walls, n):
    def adapt(function):
        return lambda t, x, u: np.array(function(t, x)) * 1.0

    edges = [(k, (k + 1) % len(steps), *step[1:]) for k, step in enumerate(steps) if step[1:]]
    edges += [(0, 0, *wall) for wall in walls]
    return sa.System(
        {k: sa.Mode(str(k), n, 0, adapt(step[0])) for k, step in enumerate(steps)},
        [sa.Transition(a, b, adapt(guard), adapt(*reset or [lambda t, x: x]), name=str(a))
         for a, b, guard, *reset in edges],
    )  # fmt: skip


def run(steps, start, duration, walls=()):
    return sa.simulate(system(steps, walls, len(start)), 0, start, duration)


def times(*problem):
    found = run(*problem)
    assert found.status in ("ok", "zeno"), found.message
    return np.array([event.time for event in found.events])


def end(*problem):
    found = run(*problem)
    assert found.ok, found.message
    return found.final_state


def accumulation(*problem):
    """Limit [s] of event times whose intervals are a geometric series."""
    a, b, c = times(*problem)[4:7]
    return c + (c - b) ** 2 / (2.0 * b - a - c)


def cycle(steps, start, section=None):
    """State after a ring or at a section, period, and multipliers."""
    section = section or sa.EventSection(str(len(steps) - 1))
    P = sa.ReturnMap(system(steps, (), len(start)), section, 0)  # noqa: N806
    found = sa.find_limit_cycle(P, np.array(start, float))
    assert found.ok, found.message
    return [*found.state, found.period, *found.nontrivial_multipliers]


def meet(function, low, high):
    return brentq(function, low, high, xtol=1e-15)


# Flows, guards and resets that problems share


def steady(*rates):
    return lambda t, x: rates


def lag(rate, goal):
    return lambda t, x: rate * (goal - x)


def spring(k, c=0.0, force=0.0):
    return lambda t, x: (x[1], force - k * x[0] - c * x[1])


def push(force):
    return spring(0.0, 0.0, force)


def above(level=0.0, i=0):
    return lambda t, x: x[i] - level


def below(level=0.0, i=0):
    return lambda t, x: level - x[i]


def hit(e=1.0):
    return lambda t, x: (x[0], -e * x[1])


def to(*state):
    return lambda t, x: state


def ball(g, e):
    return [(push(-g), above(), hit(e))]


REST = (steady(0.0, 0.0),)


def straight(t, x):
    """Positions, then velocities, that stay."""
    n = len(x) // 2
    return [*x[n:], *np.zeros(n)]


def collision(i, heavier):
    """Of points i and i + 1 in a line of three; the second is so many times as heavy."""

    def clash(t, x):
        y, gain = x.copy(), 2.0 * (x[3 + i] - x[4 + i]) / (1.0 + heavier)
        y[3 + i] -= heavier * gain
        y[4 + i] += gain
        return y

    return lambda t, x: x[i + 1] - x[i], clash


def disk(x, y, side=-1.0):
    """A disk of radius 1 that a point is reflected from, or in which it is, with side 1."""

    def reflect(t, z):
        normal = z[:2] - (x, y)
        return [*z[:2], *(z[2:] - 2.0 * (z[2:] @ normal) * normal)]

    return lambda t, z: side * (1.0 - (z[0] - x) ** 2 - (z[1] - y) ** 2), reflect


def garcia(slope, angle, rate):
    """A step of the simplest walker [stance and swing angle, rates], from guesses to scale."""

    def swing(t, x):
        lean, bend = np.sin(x[0] - slope), np.cos(x[0] - slope)
        return *x[2:], lean, lean + (x[2] ** 2 - bend) * np.sin(x[1])

    def strike(t, x):
        c = np.cos(2.0 * x[0])
        return -x[0], -2.0 * x[0], c * x[2], c * (1.0 - c) * x[2]

    s = slope ** (1 / 3)  # the feet pass each other unseen
    steps = [(swing, above(-0.5 * s)), (swing, lambda t, x: 2.0 * x[0] - x[1], strike)]
    return cycle(steps, s * np.array([angle, 2.0 * angle, rate, 0.0]))


def simplest_walk():
    """The speed that the height lost in a step allows, at the angle that is found."""
    x = garcia(0.009, 0.963, -0.961)
    return x[2], -2.0 * np.sqrt(np.sin(x[0]) * np.sin(0.009)) / np.tan(2.0 * x[0])


def buck():
    """The multiplier at 24.516 V: off, then on from where a ramp of 400 us meets the voltage."""
    R, C, L, T = 22.0, 47e-6, 20e-3, 4e-4  # noqa: N806

    def flow(u):
        return lambda t, x: (x[1] / C - x[0] / (R * C), (u - x[0]) / L)

    def control(t, x):
        return 8.4 * (x[0] - 11.3) - 3.8 - 4.4 * (t / T % 1.0)

    steps = [(flow(0.0), control), (flow(24.516), lambda t, x: T - t)]
    return cycle(steps, (12.0, 0.5), sa.PhaseSection(0.2 * T, T))[3], -1.0, 3e-4


def boost():
    """Ideal, with R, L, C and the source 1: on for 0.12, then off for 0.18."""
    on, off = (np.array([[0, -k, 1.0], [k, -1, 0], [0, 0, 0]]) for k in (0.0, 1.0))

    def step(A, length):
        clock = below(length, 2), lambda t, x: (x[0], x[1], 0.0)
        return lambda t, x: A @ [x[0], x[1], 1.0] + np.eye(3)[2], *clock

    x = cycle([step(on, 0.12), step(off, 0.18)], (1.0, 1.0, 0.0))
    M, x[2] = expm(0.18 * off) @ expm(0.12 * on), 1.0
    return x, [*(M @ x[:3]), 0.3, *sorted_eigenvalues(M)[1:]]


def relay():
    """Three lags: the state -x where it switches on, after a half period h of minus 1."""
    A, B = np.array([[-1.0, 0, 0], [1, -1, 0], [0, 1, -1]]), np.eye(3)[0]

    def x(h):
        return np.linalg.solve(-A, tanhm(0.5 * h * A) @ B)

    h = meet(lambda h: x(h)[2], 1.0, 3.0)
    steps = [(lambda t, x: A @ x - B, above(0.0, 2)), (lambda t, x: A @ x + B, below(0.0, 2))]
    return cycle(steps, (0.5, 0.5, 0.1))[:4], [*-x(h), 2.0 * h]


def rocking_block():
    """Housner's (5) and (9): quarters of periods of a slender block, p = 2 / s, angles by alpha."""
    e = 1.0 - 1.5 * np.sin(0.3) ** 2
    turn = 1.0 - np.sqrt(1.0 - 0.75 * e ** (2 * np.arange(4)))
    quarters = np.arccosh(1.0 / (1.0 - turn)) / 2.0
    found = times([(spring(-4.0, 0.0, -4.0), above(), hit(e))], (0.5, 0.0), 4.0)
    return found[:4], 2.0 * np.cumsum(quarters) - quarters[0]


def billiard(duration, *start):
    """How much a direction grows among three disks, in a cycle of the length of ``duration``."""
    disks = disk(0.0, 0.0), disk(6.0, 0.0), disk(3.0, 3.0 * SQRT3)
    return sorted_eigenvalues(run([(straight,)], start, duration, disks).derivatives.state)[0]


def pulsed(flow, reset):
    """One number that a reset changes every 2 s: after it, and the multiplier of its cycle."""
    step = lambda t, x: (flow(x[0]), 1.0), below(2.0, 1), lambda t, x: (reset(x[0]), 0.0)
    return cycle([step], (1.0, 0.0))[::3]


T = np.sqrt(2.0 / 9.8)  # a fall of 1 m [s]
E = np.exp(-1.0)
STOP, LIFTED = (lambda t, x: (x[0], 0.0)), (lambda t, x: (1.0, x[0] - 1.0))
PROBLEMS = {
    # balls and points
    "SciPy, solve_ivp: cannon": lambda: (end(ball(0.5, 1.0), (0.0, 10.0), 60.0), [100.0, 0.0]),
    "DifferentialEquations.jl: bouncing ball": lambda: (
        times(ball(9.8, 1.0), (50.0, 0.0), 15.0), np.sqrt(50.0) * T * np.array([1, 3])),
    "MATLAB: ballode": lambda: (
        times(ball(9.8, 0.9), (0.0, 20.0), 27.0), 40 / 9.8 * np.cumsum(0.9 ** np.arange(10))),
    "Goebel, Sanfelice and Teel 2012: Zeno ball": lambda: (
        accumulation(ball(9.8, 0.5), (1.0, 0.0), 5.0), 3.0 * T),
    "ball on stairs, by its energy": lambda: (
        cycle([(push(-1.0), above(), lambda t, x: (0.1, -0.8 * x[1]))], (0.1, 0.5)),
        [0.1, 0.8 / np.sqrt(1.8), np.sqrt(1.8), 0.64]),
    "Galperin 2003: digits of pi": lambda: (
        [len(times([(straight,)], (0.0, 1.0, 2.0, 0.0, 0.0, -1.0), 20.0,
                   [collision(0, 0.0), collision(1, m)])) for m in (100.0, 1e4)],
        [31, 314]),
    "Birkhoff 1927: circular billiard": lambda: (
        times([(straight, *disk(0.0, 0.0, 1.0))], (0.6, 0.0, 0.0, 1.0), 8.0),
        0.8 * np.arange(1, 10, 2)),
    "Gaspard and Rice 1989: three disks, cycle 0": lambda: (
        billiard(8.0, 3.0, 0.0, 1.0, 0.0), (5.0 + 6.0 * np.sqrt(2 / 3)) ** 2),
    "Gaspard and Rice 1989: three disks, cycle 1": lambda: (
        billiard(18.0 - 3.0 * SQRT3, 3.0, 0.5, 1.0, 0.0),
        (1.0 - 4.0 * SQRT3 * (1.0 + np.sqrt(1.0 - SQRT3 / 6.0))) ** 3),
    "Routh 1905: bowling ball": lambda: (
        end([(steady(-1.0, 2.5), lambda t, x: x[0] - x[1]), REST], (7.0, 0.0), 3.0), [5.0, 5.0]),
    # oscillators, friction and impacts
    "Shaw and Holmes 1983: bilinear oscillator": lambda: (
        times([(spring(1.0), above()), (spring(4.0), below())], (1.0, 0.0), 7.0),
        np.pi * np.array([0.5, 1.0, 2.0])),
    "Freire et al. 1998: two zones": lambda: (
        end([(spring(1.01, 0.2), above()), (spring(4.09, 0.6), below())], (0.0, 1.0), 1.5 * np.pi),
        [0.0, np.exp(-0.25 * np.pi)]),
    "Nordmark 1991: square root at grazing": lambda: (
        run([(spring(1.0), above(-1.0), hit())], (1.01, 0.0), 3.2)
        .derivatives.event_times_state[0, 0], -1.0 / (1.01 * np.sqrt(1.01**2 - 1.0))),
    "Den Hartog 1956: Coulomb friction": lambda: (
        end([(spring(1.0, 0.0, 0.1), below(0.0, 1)), (spring(1.0, 0.0, -0.1), above(0.0, 1))],
            (1.0, 0.0), 3.5 * np.pi), [-0.1, 0.3]),
    "Leine and Nijmeijer 2004: block on a belt": lambda: (
        cycle([(spring(1.0, 0.0, 0.4), below(0.2, 1), lambda t, x: (x[0], 0.2)),
               (steady(0.2, 0.0), below(0.6))], (0.6, 0.2)), [0.6, 0.2, 1.5 * np.pi + 2.0, 0.0]),
    "Filippov 1988: sliding until the flow leads off": lambda: (
        end([(LIFTED, above(0.0, 1)), (steady(1.0, 0.0), below(1.0)), (LIFTED,)],
            (0.0, 0.375), 2.0), [2.0, 0.5]),
    "Bouc 1967: hysteresis": lambda: (
        end([(lambda t, x: (1.0, 1.0 - x[1]), below(1.0)), (steady(-1.0, -1.0), above(0.0, 1)),
             (lambda t, x: (-1.0, -1.0 - x[1]),)], (0.0, 0.0), 3.0),
        [-1.0, np.exp(-1.0 - E) - 1.0]),
    "Housner 1963: rocking block": rocking_block,
    # electronics
    "NE555": lambda: (
        cycle([(lag(1 / 5, 1.0), below(2 / 3)), (lag(1 / 3, 0.0), above(1 / 3))], (0.5,)),
        [1 / 3, 8.0 * np.log(2.0)]),
    "astable multivibrator": lambda: (
        cycle([(lag(1.0, 1.0), below(0.4)), (lag(1.0, -1.0), above(-0.4))], (0.0,)),
        [-0.4, 2.0 * np.log(1.4 / 0.6)]),
    "Astrom 1995: relay": relay,
    "Fossas and Olivar 1996: a buck converter's period doubles": buck,
    "boost converter, by matrix exponentials": boost,
    # neurons
    "Lapicque 1907": lambda: (
        times([(lag(0.1, 1.5), below(1.0), to(0.0))], (0.0,), 25.0),
        np.log(3.0) * np.array([10, 20])),
    "Ermentrout 1996: theta neuron": lambda: (
        cycle([(lambda t, x: 1.25 - 0.75 * np.cos(x), below(np.pi), to(-np.pi))], (0.0,)),
        [-np.pi, 2.0 * np.pi]),
    # automata and clocks
    "Henzinger 1996: thermostat": lambda: (
        times([(lag(0.1, 0.0), above(19.0)), (lag(0.1, 50.0), below(21.0))], (20.0,), 2.5),
        10.0 * np.cumsum(np.log([20 / 19, 31 / 29, 21 / 19]))),
    "Alur et al. 1995: water level": lambda: (
        times([(steady(1, 1), below(10.0), STOP), (steady(1, 1), below(2.0, 1)),
               (steady(-2, 1), above(5.0), STOP), (steady(-2, 1), below(2.0, 1))],
              (1.0, 0.0), 17.0),
        [9.0, 11.0, 14.5, 16.5]),
    "Torricelli 1644: a tank that is filled again": lambda: (
        times([(lambda t, x: -0.5 * np.sqrt(x), above(1.0), to(4.0))], (4.0,), 9.0), [4.0, 8.0]),
    "Johansson et al. 1999: Zeno water tanks": lambda: (
        accumulation([(steady(0.25, -0.5), above(0.0, 1)), (steady(-0.5, 0.25), above())],
                     (1.0, 1.0), 9.0), 8.0),
    "Gibaldi and Perrier 1982: repeated doses": lambda: (
        pulsed(lambda c: -0.5 * c, lambda c: c + 1.0), [1.0 / (1.0 - E), E]),
    "Shulgin, Stone and Agur 1998: pulse vaccination": lambda: (
        pulsed(lambda s: 0.5 - 0.5 * s, lambda s: 0.7 * s),
        [0.7 * (1.0 - E) / (1.0 - 0.7 * E), 0.7 * E]),
    "logistic growth, harvested": lambda: (
        pulsed(lambda n: 0.5 * n * (1.0 - n), lambda n: 0.8 * n), [(0.8 - E) / (1.0 - E), E / 0.8]),
    # control and gaits
    "Pontryagin et al. 1962: double integrator in least time": lambda: (
        times([(push(-1.0), lambda t, x: x[0] + 0.5 * x[1] * abs(x[1])), (push(1.0), below(0.0, 1)),
               REST], (1.0, 1.0), 4.0), 1.0 + np.sqrt(1.5) * np.array([1, 2])),
    "Kajita 2001: linear inverted pendulum": lambda: (
        times([(spring(-9.0), below(0.2), lambda t, x: (-0.2, x[1]))], (-0.2, 1.0), 1.2),
        np.arctanh(0.6) * np.array([2, 4]) / 3),
    "Blickhan 1989: hopping mass": lambda: (
        times([(push(-9.8), above()), (spring(400.0, 0.0, -9.8), below())], (0.0, 1.5), 0.7),
        np.cumsum([3.0 / 9.8, 0.1 * (np.pi - np.arctan(30.0 / 9.8))])),
    "McGeer 1990: rimless wheel": lambda: (
        cycle([(lambda t, x: (x[1], np.sin(x[0])), below(0.3),
                lambda t, x: (x[0] - 0.4, np.cos(0.4) * x[1]))], (-0.1, 1.0))[1::2],
        [2.0 * np.sqrt(np.sin(0.2) * np.sin(0.1)) / np.tan(0.4), np.cos(0.4) ** 2]),
    "Garcia et al. 1998: simplest walker": simplest_walk,
    "Garcia et al. 1998: short gait": lambda: (
        100.0 * garcia(1e-6, 0.944, -1.03)[0], 0.943976 - 0.264561e-4, 1e-6),
    "Garcia et al. 1998: the period doubles at 0.0151": lambda: (
        [abs(garcia(slope, 0.95, -0.95)[5]) > 1.0 for slope in (0.01505, 0.01515)], [0, 1]),
    "Schwab and Wisse 2001: simplest walker": lambda: (
        garcia(0.004, 0.96, -0.98)[:3:2], [0.1534, -0.1561], 5e-5),
}  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_published(problem):
    found, expected, *tolerance = problem()
    allowed = tolerance[0] if tolerance else 1e-9
    assert_allclose(found, expected, rtol=allowed, atol=allowed)
