"""How fast and how high the feet's contact points are, and what that depends on.

The foot is a sphere of radius rho that rolls: its contact point moves at

    R u,  u = v + w x r + J dq - w_calf x (rho R^T n),  w_calf = w + G dq

with r(q) the centre of the foot in the base, J = dr/dq and n the ground's normal. A foot that
stands has R u = 0, and its centre about rho above the ground along n. The axes of the leg's joints
are the columns of G; the knee's is the thigh's, and J_jk = dJ_k/dq_j = G_i x J_l with i the smaller
and l the larger of j and k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.legs import Legs, foot_jacobians_in_base, foot_positions_in_base
from robots.rotations import Array, rotation_from_quaternion
from robots.vectors import (
    Vector,
    apply,
    apply_transposed,
    cross,
    dot,
    minus,
    plus,
    times,
    triple,
    unit,
)


class FootRows(NamedTuple):
    """Of four feet: velocity of the contact points, and the centres' places along the normal."""

    velocity: Array
    """(4, 3) world axes [m/s]"""
    velocity_jacobian: Array
    """(4, 3, 15) by v, w, the leg's dq, the leg's q, rotation: three columns each."""
    height: Array
    """(4) n p of the centres p [m]: the height, where the ground is level."""
    height_jacobian: Array
    """(4, 9) by position, rotation, the leg's q: three columns each."""


@njit(cache=True)
def foot_rows(legs: Legs, q: Array, v: Array, radius: Array, normal: Array) -> FootRows:
    """Rows of the feet at a state q (19), v (18).

    Args:
        legs: of the robot.
        q, v: the state.
        radius: (4) on which they roll [m].
        normal: (4, 3) of the ground at each, world axes.
    """
    R = rotation_from_quaternion(q[3:7])
    joints, base, w = q[7:], triple(v), triple(v[3:])
    centres, J = foot_positions_in_base(legs, joints), foot_jacobians_in_base(legs, joints)
    rows = FootRows(np.empty((4, 3)), np.empty((4, 3, 15)), np.empty(4), np.empty((4, 9)))
    velocity, by_state, height, height_by_state = rows
    for i in range(4):
        up = apply_transposed(R, triple(normal[i]))
        rates, r, down = triple(v[6 + 3 * i :]), triple(centres[i]), times(radius[i], up)
        J_0, J_1, J_2 = _column(J[i], 0), _column(J[i], 1), _column(J[i], 2)
        hip, pitch = unit(0), (0.0, np.cos(joints[3 * i]), np.sin(joints[3 * i]))
        swing = plus(times(rates[1], J_1), times(rates[2], J_2))
        bend = rates[1] + rates[2]
        calf = plus(w, plus(times(rates[0], hip), times(bend, pitch)))
        foot = plus(times(rates[0], J_0), swing)
        u = plus(plus(base, cross(w, r)), minus(foot, cross(calf, down)))
        # d(J dq)/dq_k, and of the calf's turn, which only the hip changes
        by_hip = cross(hip, foot)
        by_thigh = plus(times(rates[0], cross(hip, J_1)), cross(pitch, swing))
        by_knee = plus(times(rates[0], cross(hip, J_2)), times(bend, cross(pitch, J_2)))
        by_hip = minus(by_hip, cross(times(bend, cross(hip, pitch)), down))
        turned = cross(pitch, down)
        for k in range(3):
            e = unit(k)
            by_rotation = plus(cross(e, u), cross(calf, cross(e, down)))
            _write(by_state[i], R, k, e)
            _write(by_state[i], R, 3 + k, cross(e, minus(r, down)))
            _write(by_state[i], R, 12 + k, by_rotation)
            height_by_state[i, k] = up[k]
            height_by_state[i, 3 + k] = dot(up, cross(e, r))
        _write(by_state[i], R, 6, minus(J_0, cross(hip, down)))
        _write(by_state[i], R, 7, minus(J_1, turned))
        _write(by_state[i], R, 8, minus(J_2, turned))
        _write(by_state[i], R, 9, plus(by_hip, cross(w, J_0)))
        _write(by_state[i], R, 10, plus(by_thigh, cross(w, J_1)))
        _write(by_state[i], R, 11, plus(by_knee, cross(w, J_2)))
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = apply(R, u)
        height[i] = dot(triple(normal[i]), triple(q)) + dot(up, r)
        height_by_state[i, 6], height_by_state[i, 7] = dot(up, J_0), dot(up, J_1)
        height_by_state[i, 8] = dot(up, J_2)
    return rows


@njit(cache=True, inline="always")
def _column(matrix: Array, k: int) -> Vector:
    return matrix[0, k], matrix[1, k], matrix[2, k]


@njit(cache=True, inline="always")
def _write(by_state: Array, R: Array, k: int, derivative: Vector) -> None:
    """Write R times a derivative of u to column k of (3, 15)."""
    by_state[0, k], by_state[1, k], by_state[2, k] = apply(R, derivative)
