"""Measurements of the salted filter, row by row, and the scalar update that takes each in.

The covariance P (n, n) is read and written in its lower triangle only, so that each entry is there
once; `mirror` fills the upper one in.

A foot is a sphere of radius rho that rolls: its contact point moves at

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
from numpy.typing import NDArray

from estimator import rows
from estimator.contacts import LEAST_TRUST
from estimator.kernel_filter import attitude
from estimator.options import SaltedOptions
from estimator.salted.memory import (
    ACCELEROMETER_BIAS,
    AGE,
    ANGULAR,
    GYRO_BIAS,
    JOINTS,
    LEVEL,
    MISALIGNMENT,
    POSITION,
    PREVIOUS,
    RATES,
    ROTATION,
    VARIANCE,
    VELOCITY,
    Memory,
)
from robots.conventions import GRAVITY
from robots.legs import Legs, foot_jacobians_in_base, foot_positions_in_base
from robots.rotations import Array, exp3, log3, rotation_from_quaternion, skew
from robots.terrain import write_surface_frame
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

Columns = NDArray[np.int64]
TOUCHDOWN_NOISE = 1.0
"""Slip and bounce at touchdown, which fade with `TOUCHDOWN_TIME` [m/s]."""
TOUCHDOWN_TIME = 0.01
"""Time constant with which a touchdown's noise fades [s]."""
HEAVY_LOAD = 100.0
"""A foot under more than this sinks in: its vertical noise grows by `TOUCHDOWN_NOISE` for every
other such load [N]. A standing A1 has 33 N on each foot, a trotting one 70."""
UP = 2


@njit(cache=True)
def innovation_variance(P: Array, columns: Columns, h: Array) -> float:
    """H P H^T of a row with the entries h (m) in `columns` (m)."""
    variance = 0.0
    for a in range(len(columns)):
        across = 0.0
        for b in range(a):
            i, j = columns[a], columns[b]
            across += h[b] * (P[i, j] if i > j else P[j, i])
        variance += h[a] * (2.0 * across + h[a] * P[columns[a], columns[a]])
    return variance


@njit(cache=True)
def predicted(d: Array, columns: Columns, h: Array) -> float:
    """H d: what the corrections (n) so far already explain of a residual."""
    found = 0.0
    for a in range(len(columns)):
        found += h[a] * d[columns[a]]
    return found


@njit(cache=True, error_model="numpy")
def correct(
    P: Array, d: Array, columns: Columns, h: Array, residual: float, variance: float
) -> None:
    """Take y - h(x) = `residual` in, with noise of `variance`; P and d (n) in place.

    The corrections d add up over the rows of one reading, and every row is linearised at the same
    state, so the order of the rows does not matter. With g = P H^T, s = H g + r and the gain
    k = g / s, Joseph's (I - k H) P (I - k H)^T + r k k^T is P - g g^T / s.
    """
    n = P.shape[0]
    g = np.zeros(n)
    for a in range(len(columns)):
        c, entry = columns[a], h[a]
        for i in range(c):
            g[i] += entry * P[c, i]
        for i in range(c, n):
            g[i] += entry * P[i, c]
    s = predicted(g, columns, h) + variance
    innovation = residual - predicted(d, columns, h)
    for i in range(n):
        gain = g[i] / s
        d[i] += gain * innovation
        for j in range(i + 1):
            P[i, j] -= gain * g[j]


@njit(cache=True)
def mirror(P: Array) -> None:
    """Make the upper triangle of P that of its transpose, in place."""
    for i in range(P.shape[0]):
        for j in range(i):
            P[j, i] = P[i, j]


@njit(cache=True)
def take_accelerometer(
    m: Memory, d: Array, force: Array, doubt: Array, dt: float, parameters: SaltedOptions
) -> None:
    """The mean specific force (3) over the last `dt` [s], base axes; P and d (48) in place.

    a = (v - R^T R- v-) / dt + R^T g e_z + b, with - of the tick before. It measures what became of
    the velocity, so it corrects what the dynamics and an impact predicted of it. Its standard
    deviation has a part `doubt` (3) beside the sensor's noise [m/s2].
    """
    R = rotation_from_quaternion(m.q[3:7])
    gravity = GRAVITY * R[2].copy()
    by_rotation, by_turning = skew(gravity), -skew(m.previous)
    expected = (m.v[:3] - m.previous) / dt + gravity + m.bias[3:6]
    columns, h = np.empty(9, dtype=np.int64), np.empty(9)
    for i in range(3):
        columns[0], h[0] = VELOCITY + i, 1.0 / dt
        columns[1], h[1] = PREVIOUS + i, -1.0 / dt
        columns[2], h[2] = ACCELEROMETER_BIAS + i, 1.0
        for j in range(3):
            columns[3 + j], h[3 + j] = ROTATION + j, by_rotation[i, j]
            columns[6 + j], h[6 + j] = ANGULAR + j, by_turning[i, j]
        noise = parameters.accelerometer_noise + doubt[i]
        noise += parameters.accelerometer_relative_noise * abs(force[i])
        correct(m.P, d, columns, h, force[i] - expected[i], noise * noise)


@njit(cache=True)
def take_gyroscope(m: Memory, d: Array, row: Array, parameters: SaltedOptions) -> None:
    """w + b, base axes; P and d (48) in place."""
    columns, h = np.empty(2, dtype=np.int64), np.ones(2)
    for i in range(3):
        columns[0], columns[1] = ANGULAR + i, GYRO_BIAS + i
        residual = row[rows.GYRO + i] - m.v[3 + i] - m.bias[i]
        correct(m.P, d, columns, h, residual, parameters.gyro_noise**2)


@njit(cache=True)
def take_orientation(m: Memory, d: Array, row: Array, parameters: SaltedOptions) -> None:
    """The IMU's attitude R exp(b): the residual log((R exp(b))^T R_IMU) is phi + b to first order.

    P and d (48) in place.
    """
    R = rotation_from_quaternion(m.q[3:7])
    residual = log3(exp3(-m.bias[6:9]) @ (R.T @ rotation_from_quaternion(attitude(row))))
    columns, h = np.empty(2, dtype=np.int64), np.ones(2)
    for i in range(3):
        columns[0], columns[1] = ROTATION + i, MISALIGNMENT + i
        correct(m.P, d, columns, h, residual[i], parameters.orientation_noise**2)


@njit(cache=True)
def take_encoders(m: Memory, d: Array, row: Array, parameters: SaltedOptions) -> None:
    """Joint positions and velocities, those that are sound; P and d (48) in place."""
    column, h = np.empty(1, dtype=np.int64), np.ones(1)
    for i in range(12):
        if m.past.sound[rows.POSITION_SENSOR + i]:
            column[0] = JOINTS + i
            residual = row[rows.POSITION + i] - m.q[7 + i]
            correct(m.P, d, column, h, residual, parameters.joint_position_noise**2)
        if m.past.sound[rows.VELOCITY_SENSOR + i]:
            column[0] = RATES + i
            residual = row[rows.VELOCITY + i] - m.v[6 + i]
            correct(m.P, d, column, h, residual, parameters.joint_velocity_noise**2)


class FootRows(NamedTuple):
    """Rows of four feet: velocity of the contact points, and places of centres along the normal."""

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
        velocity[i] = apply(R, u)
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
    by_state[:, k] = apply(R, derivative)


@njit(cache=True)
def take_standing_feet(
    m: Memory, legs: Legs, d: Array, load: Array, trust: Array, jumping: bool,
    parameters: SaltedOptions,
) -> None:  # fmt: skip
    """Zero velocity of feet with their trust (4), and their height where the ground's is known.

    P and d (48) change in place. A foot is soft: its load (4) [N] presses it in, and it rolls on a
    radius that is smaller by half of that. Its noise grows as its trust falls, while it lands or is
    pressed hard, and by Huber's weight where it contradicts the state, but for its velocity after a
    jump of the base: then the state is what is wrong.
    """
    sunk = np.maximum(load, 0.0) / parameters.foot_stiffness
    sunk = np.minimum(sunk, parameters.foot_depth)
    feet = foot_rows(legs, m.q.copy(), m.v.copy(), legs.foot_radius - 0.5 * sunk, m.normal)
    frame = np.empty((3, 3))
    for i in range(4):
        if trust[i] <= LEAST_TRUST:
            continue
        landing = np.exp(-m.contact[AGE, i] / TOUCHDOWN_TIME)
        pressing = landing + max(0.0, load[i] / HEAVY_LOAD - 1.0)
        slip = (parameters.foot_velocity_noise / trust[i]) ** 2
        slip += (TOUCHDOWN_NOISE * landing) ** 2
        sink = (parameters.foot_vertical_noise / trust[i]) ** 2
        sink += (TOUCHDOWN_NOISE * pressing) ** 2
        write_surface_frame(m.normal[i, 0], m.normal[i, 1], m.normal[i, 2], frame)
        columns, H = _velocity_columns(i), frame.T @ feet.velocity_jacobian[i]
        residual = -(frame.T @ feet.velocity[i])
        if not jumping:
            slip *= _softening(m.P, d, columns, H[:UP], residual[:UP], slip, parameters.huber)
            sink *= _softening(m.P, d, columns, H[UP:], residual[UP:], sink, parameters.huber)
        for axis in range(3):
            noise = sink if axis == UP else slip
            correct(m.P, d, columns, H[axis], residual[axis], noise)
        if m.ground[VARIANCE, i] > 0.0:
            continue
        columns, H = _height_columns(i), feet.height_jacobian[i : i + 1]
        centre = m.ground[LEVEL, i] + legs.foot_radius - sunk[i]
        residual = np.array([centre - feet.height[i]])
        unrest = TOUCHDOWN_NOISE * TOUCHDOWN_TIME * pressing
        noise = (parameters.height_noise / trust[i]) ** 2 + unrest * unrest
        noise *= _softening(m.P, d, columns, H, residual, noise, parameters.huber)
        correct(m.P, d, columns, H[0], residual[0], noise)


@njit(cache=True)
def height_variances(P: Array, feet: FootRows) -> Array:
    """Variances (4) of the places of the feet's centres along the ground's normal [m2]."""
    variances = np.empty(4)
    for i in range(4):
        variances[i] = innovation_variance(P, _height_columns(i), feet.height_jacobian[i])
    return variances


@njit(cache=True)
def _softening(
    P: Array, d: Array, columns: Columns, H: Array, residual: Array, variance: float,
    huber: float,
) -> float:  # fmt: skip
    """Factor of the variance that rows H (r, m) share, by Huber's weight: 1 or more.

    The distance is that of the residuals (r) together, so it does not depend on their axes.
    """
    squared, spread = 0.0, 0.0
    for axis in range(len(residual)):
        squared += (residual[axis] - predicted(d, columns, H[axis])) ** 2
        spread += innovation_variance(P, columns, H[axis]) + variance
    distance = np.sqrt(squared / spread)
    return 1.0 if distance <= huber else distance / huber


@njit(cache=True)
def _velocity_columns(foot: int) -> Columns:
    columns = np.empty(15, dtype=np.int64)
    for j in range(3):
        columns[j], columns[3 + j] = VELOCITY + j, ANGULAR + j
        columns[6 + j], columns[9 + j] = RATES + 3 * foot + j, JOINTS + 3 * foot + j
        columns[12 + j] = ROTATION + j
    return columns


@njit(cache=True)
def _height_columns(foot: int) -> Columns:
    columns = np.empty(9, dtype=np.int64)
    for j in range(3):
        columns[j], columns[3 + j] = POSITION + j, ROTATION + j
        columns[6 + j] = JOINTS + 3 * foot + j
    return columns
