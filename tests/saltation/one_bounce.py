"""The best way of the forced ball with one bounce, in closed form."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from saltation.examples.bouncing_ball import GRAVITY, RESTITUTION

X0 = np.array([4.0, 0.0])


def best_bounce(height, duration):
    """Least cost with one bounce and its time, over that, its speed and the final state.

    Each arc's least 0.5 int u^2 is 0.5 d' W^-1 d, with d the end less the free end and W the
    ball's controllability Gramian; no dynamics is simulated.
    """

    def arc(T, start, end):
        W = np.array([[T**3 / 3, T**2 / 2], [T**2 / 2, T]])
        free = start + T * np.array([start[1], 0.0]) - GRAVITY * np.array([T**2 / 2, T])
        return 0.5 * (end - free) @ np.linalg.solve(W, end - free)

    def cost(p, time):
        value = arc(time, X0, np.array([0.0, -p[0]]))
        value += arc(duration - time, np.array([0.0, RESTITUTION * p[0]]), p[1:])
        return value + 100.0 * np.sum((p[1:] - [height, 0.0]) ** 2)

    def best(time):
        return minimize(cost, [8.0, height, 0.0], args=(time,), method="BFGS").fun

    found = minimize_scalar(best, bounds=(0.2 * duration, 0.8 * duration), method="bounded")
    return found.fun, found.x
