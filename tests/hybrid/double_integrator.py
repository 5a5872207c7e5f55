"""A double integrator, bounds on its states, and its best inputs as a quadratic program."""

import numpy as np
from scipy.optimize import lsq_linear

from hybrid.hilqr import CostExpansion, Linearisation, Rollouts


class StepByStep:
    """Rolls out `step(x, u)` of two states and one input over `steps`, at `cost(x, u)`."""

    state_dim, input_dim = 2, 1

    def roll_out(self, x0, policies):
        C = policies.count
        x, u = np.empty((C, self.steps + 1, 2)), np.empty((C, self.steps, 1))
        for c, (p, a) in enumerate(zip(policies.policy_index, policies.step_size, strict=True)):
            x[c, 0] = x0
            for k in range(self.steps):
                change = policies.gains[p, k] @ (x[c, k] - policies.states[p, k])
                u[c, k] = policies.inputs[p, k] + a * policies.feedforward[p, k] + change
                if policies.bounds is not None:
                    u[c, k] = np.clip(u[c, k], policies.bounds.low, policies.bounds.high)
                x[c, k + 1] = self.step(x[c, k], u[c, k])
        cost = np.array(list(map(self.cost, x, u)))
        return Rollouts(x, u, cost, np.isfinite(x).all((1, 2)))


class DoubleIntegrator(StepByStep):
    """A point [x, v] under an acceleration that is constant in a timestep.

    Cost: the sum of effort * dt * u^2 / 2, and pull * (x_N - goal)^2 / 2.
    """

    def __init__(self, steps, duration, effort=0.0, pull=0.0, goal=0.0):
        self.dt = duration / steps
        self.A = np.array([[1.0, self.dt], [0.0, 1.0]])
        self.B = np.array([[0.5 * self.dt**2], [self.dt]])
        self.steps, self.effort, self.pull, self.goal = steps, effort, pull, goal

    def step(self, x, u):
        return self.A @ x + self.B @ u

    def cost(self, x, u):
        effort, miss = self.effort * self.dt * np.sum(u**2), x[-1, 0] - self.goal
        return 0.5 * (effort + self.pull * miss**2)

    def linearise(self, trajectory):
        A, B = (np.tile(matrix, (self.steps, 1, 1)) for matrix in (self.A, self.B))
        return Linearisation(A, B)

    def quadratise(self, trajectory):
        N = self.steps
        l_x, l_xx = np.zeros((N + 1, 2)), np.zeros((N + 1, 2, 2))
        l_x[-1, 0] = self.pull * (trajectory.states[-1, 0] - self.goal)
        l_xx[-1, 0, 0] = self.pull
        weight = self.effort * self.dt
        l_u, l_uu = weight * trajectory.inputs, np.full((N, 1, 1), weight)
        return CostExpansion(l_x, l_u, l_xx, np.zeros((N, 1, 2)), l_uu)


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


def best_bounded_inputs(model, x0, low, high):
    """Inputs (N,) within bounds, and their cost: one sum of squares, as x_N = free + row u."""
    free, row = np.array(x0), np.zeros((2, model.steps))
    for k in range(model.steps):
        free, row = model.A @ free, model.A @ row
        row[:, k] += model.B[:, 0]
    effort = np.sqrt(model.effort * model.dt) * np.eye(model.steps)
    stack = np.vstack((effort, np.sqrt(model.pull) * row[:1]))
    right = np.append(np.zeros(model.steps), np.sqrt(model.pull) * (model.goal - free[0]))
    direct = lsq_linear(stack, right, (low, high), tol=1e-14)
    return direct.x, direct.cost
