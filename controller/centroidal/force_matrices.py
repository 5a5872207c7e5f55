"""The matrices of Convex MPC, sparse: forces and states of every step are variables.

The variables are z = [f_0, x_1, f_1, x_2, ...] (24 N), f_k (12) in units of a given force and along
the axes R of the ground's surface below each foot; the rows are the dynamics
x_{k+1} - A x_k - B_k R_k f_k = c_k (12 N), then those of `friction`. Only what depends
on the step is written anew, column by column in the order of the solver's values.

Measured against eliminating the states: a solve with dense factors takes about twice as long.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from controller.centroidal.friction import friction_rows
from controller.centroidal.rigid_body import angular_input_map
from robots.conventions import GRAVITY

Array = NDArray[np.float64]

STAGE = 24  # variables of a step: 12 of forces, then 12 of the state after it


def constraint_pattern(steps: int, friction: float, level: bool = True) -> sparse.csc_matrix:
    """The constraints' matrix (32 N, 24 N): its friction in place, ones in the dynamics.

    On `level` ground a force accelerates the body along its own axis alone.
    """
    linear = np.tile(np.eye(3) if level else np.ones((3, 3)), 4)
    inputs = np.tile(np.vstack((np.ones((3, 12)), linear)), (2, 1))
    motion = np.eye(12) + np.eye(12, k=6)
    limits = friction_rows(4, friction).toarray()
    now = np.vstack((np.hstack((inputs, np.eye(12))), np.hstack((limits, np.zeros((20, 12))))))
    before = np.zeros((32, STAGE))
    before[:12, 12:] = motion
    stages = np.kron(np.eye(steps), now) + np.kron(np.eye(steps, k=-1), before)
    rows = stages.reshape(steps, 32, -1)
    dynamics, pyramids = rows[:, :12].reshape(12 * steps, -1), rows[:, 12:]
    return sparse.csc_matrix(np.vstack((dynamics, pyramids.reshape(20 * steps, -1))))


def cost_matrix(steps: int, weights: Array, force_weight: float, unit: float) -> sparse.csc_matrix:
    """The diagonal P (24 N, 24 N) for weights of the state (12,) and of forces [1/N^2]."""
    stage = np.concatenate((np.full(12, force_weight * unit * unit), weights))
    size = STAGE * steps
    # Zero weights are kept, as values: the pattern is the same for all weights.
    return sparse.csc_matrix((np.tile(stage, steps), np.arange(size), np.arange(size + 1)))


@njit(cache=True)
def write_constraints(
    arms: Array, contacts: Array, frames: Array, level: bool, inverse_inertia: Array, dt: Array,
    mass: float, unit: float, values: Array,
) -> None:  # fmt: skip
    """Write the dynamics into the values of `constraint_pattern`.

    Args:
        arms: (N, 4, 3) [m]; contacts: (N, 4), the force of a foot in the air moves nothing.
        frames: R (N, 4, 3, 3); level: as of the pattern, and then R is the identity.
        inverse_inertia: in the world (3, 3) [1/(kg m^2)]; dt: (N,) [s]; mass: [kg].
        unit: of the forces [N].
    """
    steps, cursor = dt.size, 0
    angular = np.empty((3, 12))
    for k in range(steps):
        angular_input_map(arms[k], inverse_inertia, angular)
        for column in range(12):
            foot, axis = column // 3, column % 3
            share = unit if contacts[k, foot] > 0.5 else 0.0
            x, y, z = frames[k, foot, :, axis]
            for gain in (0.5 * dt[k] * dt[k], dt[k]):
                for row in range(3):
                    a, b, c = angular[row, 3 * foot : 3 * foot + 3]
                    values[cursor + row] = -gain * share * (a * x + b * y + c * z)
                cursor += 3
                for row in range(3):
                    if row == axis or not level:
                        values[cursor] = -gain * share * frames[k, foot, row, axis] / mass
                        cursor += 1
            cursor += 5 if axis == 2 else 2  # rows of friction
        for column in range(12):
            cursor += 1  # one, for the state after the step
            if k + 1 < steps:
                if column >= 6:
                    values[cursor] = -dt[k + 1]
                    cursor += 1
                values[cursor] = -1.0
                cursor += 1


@njit(cache=True)
def write_dynamics_bounds(x0: Array, dt: Array, lower: Array, upper: Array) -> None:
    """Write c_k (12 N,), where the rows of the dynamics begin, for the state now (12,)."""
    for k in range(dt.size):
        row = 12 * k
        lower[row : row + 12] = 0.0
        lower[row + 5], lower[row + 11] = -0.5 * GRAVITY * dt[k] * dt[k], -GRAVITY * dt[k]
    for i in range(12):
        lower[i] += x0[i] + (dt[0] * x0[i + 6] if i < 6 else 0.0)
    upper[: 12 * dt.size] = lower[: 12 * dt.size]


@njit(cache=True)
def write_gradient(
    x_ref: Array, contacts: Array, frames: Array, weights: Array, force_weight: float,
    weight: float, unit: float, gradient: Array,
) -> None:  # fmt: skip
    """Write q (24 N,): desired states (N, 12), and vertical forces that share `weight` [N] evenly.

    `frames` are the axes of the forces (N, 4, 3, 3). Where no foot is in contact no force is asked
    for.
    """
    for k in range(x_ref.shape[0]):
        stage = STAGE * k
        standing = (contacts[k] > 0.5).sum()
        gradient[stage : stage + 12] = 0.0
        for foot in range(4):
            if contacts[k, foot] > 0.5:
                share = weight / standing
                for axis in range(3):
                    up = frames[k, foot, 2, axis]
                    gradient[stage + 3 * foot + axis] = -force_weight * unit * share * up
        for i in range(12):
            gradient[stage + 12 + i] = -weights[i] * x_ref[k, i]
