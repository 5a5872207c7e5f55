"""One step of the stance dynamics with its derivatives: `ContactDynamics.step`, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.euler_step import fill_positions, semi_implicit_step
from robots.rotations import Array, rotation_from_quaternion
from robots.stance_dynamics import StanceModel, differentiate_stance, hold, stance_acceleration
from robots.vectors import apply, triple


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
    for i in range(18):
        for j in range(36):
            A[18 + i, j] = dt * da[i, j]
        A[18 + i, 18 + i] += 1.0
    q_next, v_next = semi_implicit_step(q, v, a, dt)
    fill_positions(v_next, dt, A)
    return StanceStep(q_next, v_next, A, load)
