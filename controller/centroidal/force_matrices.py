"""The matrices of Convex MPC, with the states eliminated: the forces alone are left.

With the accelerations w'_j = W_j f_j and v'_j = S f_j / m + g of step j, W_j (3, 12) and S summing
over feet, the state after step k >= j holds dt_j w'_j and dt_j v'_j in its velocities and
a_kj w'_j and a_kj v'_j in its angles and positions, where a_kj = dt_j^2 / 2 + dt_j (t_k - t_j), t
the times at which steps end. The block of steps i and j of the Hessian is therefore

    W_i' (s_ij Q_phi + n_ij Q_w) W_j + S' (s_ij Q_p + n_ij Q_v) S / m^2,
    s_ij = sum_k a_ki a_kj,  n_ij = dt_i dt_j (N - max(i, j)).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.centroidal.rigid_body import angular_input_map, roll_out

Array = NDArray[np.float64]


@njit(cache=True)
def input_maps(arms: Array, contacts: Array, inverse_inertia: Array) -> Array:
    """W_j of each step (N, 3, 12) [rad/s^2/N]; columns of feet in the air are zero."""
    maps = np.empty((arms.shape[0], 3, 12))
    for k in range(arms.shape[0]):
        angular_input_map(arms[k], inverse_inertia, maps[k])
        for column in range(12):
            if not contacts[k, column // 3] > 0.5:
                maps[k, :, column] = 0.0
    return maps


@njit(cache=True)
def position_gains(dt: Array) -> Array:
    """a_kj (N, N) [s^2]: what an acceleration in step j has moved by the end of step k."""
    steps = dt.size
    gains = np.zeros((steps, steps))
    for j in range(steps):
        since = 0.0
        for k in range(j, steps):
            if k > j:
                since += dt[k]
            gains[k, j] = 0.5 * dt[j] * dt[j] + dt[j] * since
    return gains


@njit(cache=True)
def write_hessian(
    maps: Array, contacts: Array, dt: Array, mass: float, weights: Array, force_weight: float,
    unit: float, hessian: Array,
) -> None:  # fmt: skip
    """Write the upper triangle, column by column, for forces in units of `unit` [N].

    Args:
        maps: `input_maps`; contacts: (N, 4); dt: (N,) [s]; mass: [kg].
        weights: of the state (12,); force_weight: [1/N^2].
    """
    steps, gains = dt.size, position_gains(dt)
    weighted = np.empty((3, 12))
    for j in range(steps):
        for i in range(j + 1):
            both = 0.0
            for k in range(j, steps):
                both += gains[k, i] * gains[k, j]
            rates = dt[i] * dt[j] * (steps - j)
            for row in range(3):
                weight = unit * unit * (both * weights[row] + rates * weights[6 + row])
                for column in range(12):
                    weighted[row, column] = weight * maps[j, row, column]
            for column in range(12):
                entry = 12 * j + column
                begin = entry * (entry + 1) // 2 + 12 * i
                standing = contacts[j, column // 3] > 0.5
                axis = column % 3
                linear = both * weights[3 + axis] + rates * weights[9 + axis]
                linear *= unit * unit / (mass * mass)
                for row in range(12 if i < j else column + 1):
                    value = 0.0
                    for r in range(3):
                        value += maps[i, r, row] * weighted[r, column]
                    if row % 3 == axis and standing and contacts[i, row // 3] > 0.5:
                        value += linear
                    hessian[begin + row] = value
                if i == j:
                    hessian[begin + column] += force_weight * unit * unit


@njit(cache=True)
def write_gradient(
    x0: Array, x_ref: Array, maps: Array, contacts: Array, reference: Array, dt: Array, mass: float,
    weights: Array, force_weight: float, unit: float, gradient: Array,
) -> None:  # fmt: skip
    """Write the gradient at zero forces (12 N,), for forces in units of `unit` [N].

    Args:
        x0: (12,); x_ref: (N, 12); reference: forces f_ref (N, 4, 3) [N]; else as `write_hessian`.
    """
    steps, gains = dt.size, position_gains(dt)
    free = np.empty((steps, 12))
    no_force = np.zeros((steps, 4, 3))
    roll_out(x0, no_force, no_force, mass, np.eye(3), dt, free)
    for j in range(steps):
        angular, linear = np.zeros(3), np.zeros(3)
        for k in range(j, steps):
            for i in range(3):
                at, rate = gains[k, j], dt[j]
                angular[i] += at * weights[i] * (free[k, i] - x_ref[k, i])
                angular[i] += rate * weights[6 + i] * (free[k, 6 + i] - x_ref[k, 6 + i])
                linear[i] += at * weights[3 + i] * (free[k, 3 + i] - x_ref[k, 3 + i])
                linear[i] += rate * weights[9 + i] * (free[k, 9 + i] - x_ref[k, 9 + i])
        for column in range(12):
            value = -force_weight * reference[j, column // 3, column % 3]
            if contacts[j, column // 3] > 0.5:
                value += linear[column % 3] / mass
            for r in range(3):
                value += maps[j, r, column] * angular[r]
            gradient[12 * j + column] = unit * value


@njit(cache=True)
def shared_weight(contacts: Array, weight: float) -> Array:
    """Forces (N, 4, 3) [N] that share `weight` [N] evenly among the feet in contact (N, 4)."""
    forces = np.zeros((contacts.shape[0], 4, 3))
    for k in range(contacts.shape[0]):
        standing = (contacts[k] > 0.5).sum()
        for foot in range(4):
            if contacts[k, foot] > 0.5:
                forces[k, foot, 2] = weight / standing
    return forces
