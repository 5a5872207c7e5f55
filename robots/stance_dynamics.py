"""Contact dynamics of `ContactDynamics`, compiled: feet that stand are held still, (3.59)-(3.60).

    [M J'] [ a ]   [ S' tau - h ]
    [J 0 ] [-f ] = [ -drift     ]

in the axes of the base, in which J, M and the forces know neither where the robot is nor how it is
turned. The derivatives are those of the solution: the right-hand side's, with a and f fixed.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit

from robots.conventions import FOOT_NAMES, GRAVITY
from robots.euler_step import fill_positions, semi_implicit_step
from robots.inverse_dynamics import differentiate_inverse_dynamics, mass_and_bias
from robots.kinematic_tree import JointFrames, Tree, joint_frames, tree_of
from robots.rotations import Array, rotation_from_quaternion
from robots.stance_feet import (
    StanceFeet,
    add_load,
    differentiate_acceleration,
    drift,
    stance_feet,
)
from robots.vectors import Vector, apply, times, triple
from saltation.cholesky import factorise, solve_lower, solve_lower_transposed

SOFTNESS = 1e-12  # added to J M^-1 J' [1/kg], which a stretched leg makes singular


class StanceModel(NamedTuple):
    """A tree with four feet."""

    tree: Tree
    soles: Array  # (4, 3) centres of the feet's spheres in the calves [m]


def stance_model_of(model: mujoco.MjModel) -> StanceModel:
    """Read it from a model of the whole robot."""
    return StanceModel(
        tree_of(model), np.array([model.geom(f"{name}_foot").pos for name in FOOT_NAMES])
    )


class Stance(NamedTuple):
    """The factorised system of one configuration and one set of standing feet."""

    frames: JointFrames
    feet: StanceFeet
    upward: Vector  # minus gravity in the base [m/s^2]
    M: Array  # (18, 18)
    L: Array  # (18, 18) Cholesky factor of M
    Y: Array  # (18, 3 n) L^-1 J'
    S: Array  # (3 n, 3 n) Cholesky factor of J M^-1 J'


@njit(cache=True)
def hold(robot: StanceModel, q: Array, v: Array, standing: Array, h: Array) -> tuple[Stance, bool]:
    """Factorise the system at q (19), v (18) with the feet that stand (4); write h (18).

    False when the numbers are not finite: then nothing can be solved.
    """
    frames = joint_frames(robot.tree, q[7:])
    feet = stance_feet(frames, robot.soles, standing)
    R = rotation_from_quaternion(q[3:7])
    upward = times(GRAVITY, triple(R[2]))
    M, L, n = np.empty((18, 18)), np.zeros((18, 18)), feet.jacobian.shape[1]
    mass_and_bias(robot.tree, frames, upward, v, M, h)
    Y, S = feet.jacobian.copy(), np.zeros((n, n))
    stance = Stance(frames, feet, upward, M, L, Y, S)
    if not factorise(M, L):
        return stance, False
    solve_lower(L, Y)
    compliance = Y.T @ Y
    for i in range(n):
        compliance[i, i] += SOFTNESS
    return stance, factorise(compliance, S)


@njit(cache=True)
def solve_stance(stance: Stance, rhs: Array, drifts: Array) -> None:
    """Solve [M J'; J 0] [x; -f] = [rhs; -drift] for k columns; they become the solution.

    Args:
        stance: the system.
        rhs: (18, k), becomes x.
        drifts: (3 n, k), becomes f.
    """
    L, Y, S = stance.L, stance.Y, stance.S
    m, k = rhs.shape
    solve_lower(L, rhs)
    for s in range(drifts.shape[0]):
        for i in range(m):
            factor = Y[i, s]
            for c in range(k):
                drifts[s, c] += factor * rhs[i, c]
    solve_lower(S, drifts)
    solve_lower_transposed(S, drifts)
    for i in range(drifts.shape[0]):
        for c in range(k):
            drifts[i, c] = -drifts[i, c]
    for i in range(m):
        for s in range(drifts.shape[0]):
            factor = Y[i, s]
            for c in range(k):
                rhs[i, c] += factor * drifts[s, c]
    solve_lower_transposed(L, rhs)


@njit(cache=True)
def stance_acceleration(stance: Stance, v: Array, tau: Array, h: Array) -> tuple[Array, Array]:
    """Return the acceleration (18) and the forces (3 n, 1) on the feet in the base's axes [N].

    Args:
        stance: the system; h: (18) of it.
        v: velocity (18); tau: joint torques (12) [N m].
    """
    a, forces = np.empty((18, 1)), np.empty((stance.feet.jacobian.shape[1], 1))
    for i in range(18):
        a[i, 0] = -h[i] + (tau[i - 6] if i >= 6 else 0.0)
    drift(stance.feet, v, forces)
    solve_stance(stance, a, forces)
    return a[:, 0].copy(), forces


@njit(cache=True)
def differentiate_stance(
    robot: StanceModel, stance: Stance, v: Array, a: Array, forces: Array
) -> Array:
    """Return da/d[q; v] (18, 36), q in the local tangent, at `stance_acceleration`'s solution."""
    M, by_q, by_v = np.empty((18, 18)), np.empty((18, 18)), np.empty((18, 18))
    n = stance.feet.jacobian.shape[1]
    drift_q, drift_v = np.empty((n, 18)), np.empty((n, 18))
    differentiate_inverse_dynamics(robot.tree, stance.frames, stance.upward, v, a, M, by_q, by_v)
    differentiate_acceleration(stance.feet, v, a, drift_q, drift_v)
    da, drifts, load = np.empty((18, 36)), np.empty((n, 36)), np.zeros((18, 18))
    add_load(stance.feet, forces, load)
    for i in range(18):
        for j in range(18):
            da[i, j], da[i, 18 + j] = load[i, j] - by_q[i, j], -by_v[i, j]
    drifts[:, :18], drifts[:, 18:] = drift_q, drift_v
    solve_stance(stance, da, drifts)
    return da


class StanceStep(NamedTuple):
    """A step and its first-order map; all NaN where the dynamics cannot be solved."""

    q: Array  # (19)
    v: Array  # (18)
    A: Array  # (36, 36) of the tangents at the states before and after
    load: Array  # (4) upward force of the ground on each foot [N]


@njit(cache=True)
def stance_step(
    robot: StanceModel, q: Array, v: Array, tau: Array, standing: Array, dt: float
) -> StanceStep:
    """Step from q (19), v (18) over `dt` [s] under the joint torques (12) [N m].

    standing (4): above 0.5 where a foot stands.
    """
    h, A, load = np.empty(18), np.zeros((36, 36)), np.zeros(4)
    stance, sound = hold(robot, q, v, standing, h)
    if not sound:
        A[:], load[:] = np.nan, np.nan
        return StanceStep(np.full(19, np.nan), np.full(18, np.nan), A, load)
    a, forces = stance_acceleration(stance, v, tau, h)
    R = rotation_from_quaternion(q[3:7])
    for s in range(stance.feet.feet.shape[0]):
        load[stance.feet.feet[s]] = apply(R, triple(forces[3 * s :, 0]))[2]
    da = differentiate_stance(robot, stance, v, a, forces)
    A[18:] = dt * da
    for i in range(18, 36):
        A[i, i] += 1.0
    q_next, v_next = semi_implicit_step(q, v, a, dt)
    fill_positions(v_next, dt, A)
    return StanceStep(q_next, v_next, A, load)
