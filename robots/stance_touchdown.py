"""Touchdown of a foot with the stance dynamics: `robots.touchdown`, compiled.

    M (v+ - v-) = J_C' p,   J_C v+ = 0

with C all feet that stand afterwards. By q, M (v+ - v-) changes as the inverse dynamics without
gravity do at rest with the acceleration v+ - v-.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.inverse_dynamics import differentiate_inverse_dynamics, mass_and_bias
from robots.rotations import Array, rotation_from_quaternion
from robots.stance_dynamics import Stance, StanceModel, hold, solve_stance, stance_acceleration
from robots.stance_feet import add_load, differentiate_velocity

# How slowly a foot may come down for its touchdown to have a time that can be differentiated.
MINIMUM_APPROACH_SPEED = 1e-3  # [m/s] below it (3.2) divides by nearly nothing


class Touchdown(NamedTuple):
    """Effect of a touchdown on the velocity and, to first order, on the errors."""

    v_plus: Array  # (18) velocity after
    reset_jacobian: Array  # (36, 36) D_x R, (3.76)
    saltation: Array  # (36, 36) Xi, (3.2)
    guard_shift: Array  # (36) the state after it by the guard's value g [1/m]
    normal_velocity: float  # [m/s] of the foot along the ground's normal; negative comes down
    transverse: bool  # (3.11): the foot comes down, and all could be solved; else `v_plus` is none


@njit(cache=True)
def land(
    robot: StanceModel, q: Array, v: Array, tau: Array, standing: Array, foot: int, slowest: float,
    normal: Array,
) -> Touchdown:  # fmt: skip
    """Let `foot` touch down and stick while the feet that stand keep standing.

    Args:
        robot: the tree and its feet.
        q, v: configuration (19), velocity (18) at touchdown.
        tau: joint torques (12) [N m].
        standing: (4), above 0.5 for feet that stand already.
        foot: 0 to 3, the foot that comes down.
        slowest: a foot that comes down more slowly [m/s] is not transverse.
        normal: (3) of the ground where it lands, world axes: the guard's gradient.
    """
    h, gradient, v_plus = np.empty(18), np.zeros(36), np.full(18, np.nan)
    D, flow = np.eye(36), np.empty((2, 36))
    feet = standing.copy()
    feet[foot] = 1.0
    after, lands = hold(robot, q, v, feet, h)
    before, flies = hold(robot, q, v, standing, h)
    gradient[:18] = _along_normal(after, q, foot, normal)
    rate = (gradient[:18] * v).sum()
    if not (flies and lands and rate < -slowest):
        return Touchdown(v_plus, D, D, np.zeros(36), rate, False)
    flow[0, :18], flow[0, 18:] = v, stance_acceleration(before, v, tau, h)[0]
    v_plus[:] = _strike(robot, after, v, D)
    mass_and_bias(robot.tree, after.frames, after.upward, v_plus, after.M, h)
    flow[1, :18], flow[1, 18:] = v_plus, stance_acceleration(after, v_plus, tau, h)[0]
    shift = (flow[1] - D @ flow[0]) / rate
    return Touchdown(v_plus, D, D + np.outer(shift, gradient), shift, rate, True)


@njit(cache=True, inline="always")
def _along_normal(stance: Stance, q: Array, foot: int, normal: Array) -> Array:
    """Derivative of a standing foot's centre along a normal (3), in the world, by q (18)."""
    R = rotation_from_quaternion(q[3:7])
    s = np.searchsorted(stance.feet.feet, foot)
    return stance.feet.jacobian[:, 3 * s : 3 * s + 3].copy() @ (R.T @ normal)


@njit(cache=True, inline="always")
def _strike(robot: StanceModel, stance: Stance, v: Array, D: Array) -> Array:
    """Return v+ (18) of the impact of all standing feet; write its derivatives to D (36, 36)."""
    n = stance.feet.jacobian.shape[1]
    after, impulse = (stance.M @ v).reshape(18, 1), np.zeros((n, 1))
    solve_stance(stance, after, impulse)
    v_plus, at_rest = after[:, 0].copy(), np.zeros(18)
    M, by_q, by_v = np.empty((18, 18)), np.empty((18, 18)), np.empty((18, 18))
    dv, load = np.zeros((18, 36)), np.zeros((18, 18))
    drifts, drift_q = np.zeros((n, 36)), np.empty((n, 18))
    differentiate_inverse_dynamics(
        robot.tree, stance.frames, (0.0, 0.0, 0.0), at_rest, v_plus - v, M, by_q, by_v
    )
    add_load(stance.feet, impulse, load)
    differentiate_velocity(stance.feet, v_plus, drift_q)
    dv[:, :18], dv[:, 18:], drifts[:, :18] = load - by_q, stance.M, drift_q
    solve_stance(stance, dv, drifts)
    D[18:] = dv
    return v_plus
