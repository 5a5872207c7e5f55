"""Systems whose functions depend on the time and on inputs, and a ball of one mode."""

import numpy as np

from saltation.systems import Mode, System, Transition


def driven():
    """Two states, then three: guards, resets and flows depend on the time and on two inputs."""

    def fall(t, x, u):
        return np.array([x[1], u[0] * (np.cos(t) + 0.1 * x[0]) - 9.8 - 0.3 * x[1] ** 2])

    def soak(t, x, u):
        return np.array([x[1], u[1] - 40.0 * x[0] + x[2], -x[2] * x[0] - np.sin(t) * x[1]])

    enter = Transition(
        1,
        2,
        guard=lambda t, x, u: x[0] - 0.05 * np.sin(3.0 * t) - 0.01 * u[0],
        reset=lambda t, x, u: np.array([x[0], 0.8 * x[1] + t, 0.1 * x[1] ** 2 + 0.1 * u[1]]),
        name="enter",
    )
    leave = Transition(
        2,
        1,
        guard=lambda t, x, u: 0.1 - x[0] + 0.02 * u[1],
        reset=lambda t, x, u: np.array([x[0] * (1.0 + 0.1 * t), x[1] + 0.1 * x[2]]),
        name="leave",
    )
    return System({1: Mode("free", 2, 2, fall), 2: Mode("soaked", 3, 2, soak)}, (enter, leave))


def relay():
    """Two resets at one instant that know time and input, and a third mode with its own flow."""
    modes = {
        1: Mode("first", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 9.8 + 0.3 * np.sin(t)])),
        2: Mode("passed", 3, 1, lambda t, x, u: np.array([x[1], 5.0 + x[2], -x[0]])),
        3: Mode("last", 2, 1, lambda t, x, u: np.array([2.0 * x[1], 0.5 * u[0] - x[0]])),
    }
    hit = Transition(
        1, 2, lambda t, x, u: x[0] - 0.1 * np.sin(3.0 * t) - 0.05 * u[0],
        lambda t, x, u: np.array([x[0], -0.6 * x[1] + 0.2 * t * t, u[0] * x[1]]),
    )  # fmt: skip
    throw = Transition(
        2, 3, lambda t, x, u: x[1] - 50.0,
        lambda t, x, u: np.array([x[0] * x[1] + t, x[2] + 0.4 * u[0] ** 2]),
    )  # fmt: skip
    return System(modes, (hit, throw))


def fall(t, x, u):
    return np.array([x[1], -9.8])


def swing(t, x, u):
    return np.array([x[1], -x[0]])


def swing_for(t, x, u, h):
    """`swing` in closed form."""
    c, s = np.cos(h), np.sin(h)
    return np.array([x[0] * c + x[1] * s, x[1] * c - x[0] * s])


def stay(t, x, u):
    return x.copy()


def height(t, x, u):
    return x[0]


def lie(t, x, u):
    return np.zeros(2)


def bounce(t, x, u):
    return np.array([x[0], -0.5 * x[1]])


SETTLE = Transition(1, 2, height, lie, name="rest", rest=True)


def one_mode_ball(*further, reset=bounce):
    """A ball whose impact leads back to its own mode, 1; mode 2 is rest."""
    hit = Transition(1, 1, height, reset, name="impact", time_invariant=True)
    modes = {1: Mode("flight", 2, 0, fall), 2: Mode("rest", 2, 0, lie)}
    return System(modes, (hit, *further))
