"""Models without transitions: a pendulum, a double integrator, and its best bounded inputs."""

import numpy as np
from scipy.optimize import lsq_linear

from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.systems import Mode, System


def of_flow(flow):
    """A system of one mode, 0, with two states and one input."""
    return System({0: Mode("only", 2, 1, flow)}, ())


PENDULUM = of_flow(lambda t, x, u: np.array([x[1], u[0] - 9.81 * np.sin(x[0])]))
POINT = of_flow(lambda t, x, u: np.array([x[1], u[0]]))


def double_integrator(steps, duration, effort, pull=0.0, goal=0.0):
    """A point [x, v]; cost: the sum of effort * dt * u^2 / 2, and pull * (x_N - goal)^2 / 2."""
    dt = duration / steps
    weights = 0.5 * effort * dt * np.eye(1), np.diag([0.5 * pull, 0.0])
    return EventDrivenModel(POINT, 0, dt, QuadraticCost.reaching(np.array([goal, 0.0]), *weights))


class StateBound:
    """sign * (x[index] - bound) <= 0 at the last knot, or at all of them."""

    def __init__(self, index, sign, bound, last=False):
        self.index, self.sign, self.bound, self.last = index, sign, bound, last
        self.names = [f"state {index}"]

    def values(self, states, inputs):
        excess = self.sign * (states[:, :, [self.index]] - self.bound)
        if self.last:
            excess[:, :-1] = -np.inf
        return excess

    def jacobians(self, states, inputs, knots):
        c_x = np.zeros((len(knots), 1, states.shape[1]))
        c_x[:, 0, self.index] = self.sign
        return c_x, np.zeros((len(knots), 1, inputs.shape[1]))


def equal_at_the_end(index, value):
    return [StateBound(index, sign, value, last=True) for sign in (1.0, -1.0)]


def best_bounded_inputs(model, steps, x0, low, high):
    """Inputs (N,) within bounds, and their cost: one sum of squares, as x_N = free + row u."""
    dt, cost = model.timestep, model.cost
    row = dt**2 * (steps - np.arange(steps) - 0.5)
    miss = cost.target[0] - x0[0] - steps * dt * x0[1]
    effort, pull = np.sqrt([cost.input_weight[0, 0], cost.terminal_weight[0, 0]])
    stack = np.vstack((effort * np.eye(steps), pull * row))
    direct = lsq_linear(stack, np.append(np.zeros(steps), pull * miss), (low, high), tol=1e-14)
    return direct.x, 2.0 * direct.cost
