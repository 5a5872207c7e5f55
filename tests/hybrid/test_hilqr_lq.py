"""Without events HiLQR is iLQR: on linear-quadratic problems, the optimum in one step."""

import numpy as np
import pytest

from hybrid.hilqr import (
    CostExpansion,
    Hilqr,
    Linearisation,
    Policies,
    Rollouts,
)


def positive(rng, count, size):
    factor = rng.standard_normal((count, size, size))
    return factor @ factor.transpose(0, 2, 1) / size + 0.1 * np.eye(size)


class LinearQuadratic:
    """x' = A_k x + B_k u + c_k; cost sum x'Qx + 2 u'Sx + u'Ru + 2 q'x + 2 r'u (no one half)."""

    def __init__(self, seed, N=12, n=5, m=3):
        rng = np.random.default_rng(seed)
        self.N, self.n, self.m = N, n, m
        self.A = np.eye(n) + 0.3 * rng.standard_normal((N, n, n))
        self.B = rng.standard_normal((N, n, m))
        self.c = rng.standard_normal((N, n))
        joint = positive(rng, N, n + m)
        self.Q = np.concatenate((joint[:, :n, :n], positive(rng, 1, n)))
        self.S, self.R = joint[:, n:, :n], joint[:, n:, n:]
        self.q, self.r = rng.standard_normal((N + 1, n)), rng.standard_normal((N, m))
        self.x0 = rng.standard_normal(n)

    def cost(self, x, u):
        value = np.einsum("ki,kij,kj", x, self.Q, x) + 2 * np.sum(self.q * x)
        value += np.einsum("ki,kij,kj", u, self.R, u) + 2 * np.sum(self.r * u)
        return value + 2 * np.einsum("ki,kij,kj", u, self.S, x[:-1])

    def roll_out(self, x0, policies):
        C = policies.count
        x, u = np.empty((C, self.N + 1, self.n)), np.empty((C, self.N, self.m))
        for c, (p, a) in enumerate(zip(policies.policy_index, policies.step_size, strict=True)):
            x[c, 0] = x0
            for k in range(self.N):
                u[c, k] = policies.inputs[p, k] + a * policies.feedforward[p, k]
                u[c, k] += policies.gains[p, k] @ (x[c, k] - policies.states[p, k])
                x[c, k + 1] = self.A[k] @ x[c, k] + self.B[k] @ u[c, k] + self.c[k]
        cost = np.array([self.cost(x[c], u[c]) for c in range(C)])
        return Rollouts(x, u, cost, np.isfinite(cost))

    def linearise(self, trajectory):
        return Linearisation(self.A, self.B)

    def quadratise(self, trajectory):
        x, u = trajectory.states, trajectory.inputs
        l_x = 2 * (np.einsum("kij,kj->ki", self.Q, x) + self.q)
        l_x[:-1] += 2 * np.einsum("kij,ki->kj", self.S, u)
        l_u = 2 * (np.einsum("kij,kj->ki", self.R, u) + self.r)
        l_u += 2 * np.einsum("kij,kj->ki", self.S, x[:-1])
        return CostExpansion(l_x, l_u, 2 * self.Q, 2 * self.S, 2 * self.R)

    def seed(self):
        states, inputs = np.zeros((self.N + 1, self.n)), np.ones((self.N, self.m))
        return Policies.of(states, inputs, np.zeros((self.N, self.m, self.n)))

    def optimum(self):
        """Inputs of the optimum from one dense linear system, no recursion in it."""
        N, n, m = self.N, self.n, self.m
        phi, gamma = np.zeros(((N + 1) * n, N * m)), np.zeros((N + 1) * n)
        gamma[:n] = self.x0
        for k in range(N):
            now, after = slice(k * n, (k + 1) * n), slice((k + 1) * n, (k + 2) * n)
            phi[after] = self.A[k] @ phi[now]
            phi[after, k * m : (k + 1) * m] += self.B[k]
            gamma[after] = self.A[k] @ gamma[now] + self.c[k]
        Q, R, S = (
            np.zeros((len(phi), len(phi))),
            np.zeros((N * m, N * m)),
            np.zeros((N * m, len(phi))),
        )
        for k in range(N + 1):
            Q[k * n : (k + 1) * n, k * n : (k + 1) * n] = self.Q[k]
        for k in range(N):
            R[k * m : (k + 1) * m, k * m : (k + 1) * m] = self.R[k]
            S[k * m : (k + 1) * m, k * n : (k + 1) * n] = self.S[k]
        H = phi.T @ Q @ phi + R + S @ phi + (S @ phi).T
        g = phi.T @ (Q @ gamma + self.q.ravel()) + self.r.ravel() + S @ gamma
        return np.linalg.solve(H, -g).reshape(N, m)


@pytest.mark.parametrize("seed", range(5))
def test_one_iteration_solves_a_linear_quadratic_problem(seed):
    problem = LinearQuadratic(seed)
    solver = Hilqr(problem)
    start = solver.start(problem.x0, problem.seed())
    step = solver.iterate(problem.x0, start)
    assert step.status == "improved" and step.step_size == 1.0
    np.testing.assert_allclose(step.trajectory.inputs, problem.optimum(), atol=1e-9)
    assert step.actual_change == pytest.approx(step.expected_change, rel=1e-9)
    assert solver.iterate(problem.x0, step.trajectory).status == "converged"
