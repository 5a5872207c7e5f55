"""What the A1 must not do in a plan, as inequality constraints of HiLQR.

Of every knot: joint ranges and speeds, the motors' torque at their speed and near the end of a
range, the power that all of them take together, the clearance of trunk and knees from the ground,
and that of the body from keep-out boxes. Each is divided by its own scale, so that a violation of
0.01 is one hundredth of the limit, or 1 cm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.limit_options import LimitOptions
from robots.a1.constants import (
    HIP_POSITION_IN_BASE,
    JOINT_LOWER,
    JOINT_NAMES,
    JOINT_UPPER,
    LEG_SIDE,
    LINK_LENGTH,
    THIGH_OFFSET,
)
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, make_ground, surface_at

CORNERS = np.array([[x, y, z] for x in (-0.24, 0.27) for y in (-0.12, 0.12) for z in (-0.06, 0.06)])
"""Of the box around trunk, head and hips, in the base [m] (8, 3); see `a1.xml`."""
BODY = np.array([[-0.13, 0.0, 0.0], [0.0, 0.0, 0.0], [0.15, 0.0, 0.0]])
"""Centres of spheres that hold that box but for its edges, in the base [m] (3, 3)."""
BODY_RADIUS = 0.12  # [m] of each
LENGTH = 1.0  # [m] scale of clearances
RANGES, SPEEDS, TORQUES, POWER, KNEES, TRUNK = 0, 24, 36, 60, 61, 65  # first rows
BOXES = TRUNK + len(CORNERS)


class Limits:
    """Implements `hybrid.hilqr.constraints.Constraints` for the A1."""

    def __init__(self, options: LimitOptions | None = None, ground: Ground | None = None) -> None:
        """Compile, or load; `ground` is level at z = 0 where it is left out."""
        options = options or LimitOptions()
        self.options, self._ground = options, ground or make_ground()
        self._numbers = np.array([
            options.range_margin, options.torque, options.speed, options.corner_speed,
            options.power, options.trunk_clearance, options.knee_clearance,
            options.stop_stiffness / options.torque, options.stop_damping / options.torque,
        ])  # fmt: skip
        self._boxes = np.array([(box.low, box.high) for box in options.keep_out]).reshape(-1, 2, 3)
        # A plan asks for them only where a limit is met: the first such plan shall not compile.
        self.jacobians(np.eye(37)[6:7], np.zeros((1, 12)), np.arange(1))

    @property
    def names(self) -> Sequence[str]:
        """Of each constraint."""
        joints = [name.removesuffix("_joint") for name in JOINT_NAMES]
        legs = [name.split("_")[0] for name in JOINT_NAMES[::3]]
        return [
            *(f"least angle of {name}" for name in joints),
            *(f"greatest angle of {name}" for name in joints),
            *(f"speed of {name}" for name in joints),
            *(f"torque of {name} forward" for name in joints),
            *(f"torque of {name} backward" for name in joints),
            "power of the motors",
            *(f"clearance of {leg} knee" for leg in legs),
            *(f"clearance of trunk corner {i}" for i in range(len(CORNERS))),
            *(f"distance of the body's {part} from keep-out box {i}"
              for i in range(len(self._boxes)) for part in ("rear", "middle", "front")),
        ]  # fmt: skip

    def values(self, states: Array, inputs: Array) -> Array:
        """C (C, N+1, P) of states (C, N+1, 37) and torques (C, N, 12)."""
        out = np.empty((*states.shape[:2], self._count))
        _write_values(states, inputs, self._numbers, self._ground, self._boxes, out)
        return out

    def jacobians(
        self, states: Array, inputs: Array, knots: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """c_x (K, P, 36), c_u (K, P, 12) at `knots` of states (N+1, 37) and torques (N, 12)."""
        c_x = np.zeros((len(knots), self._count, 36))
        c_u = np.zeros((len(knots), self._count, 12))
        _write_jacobians(states, inputs, knots, self._numbers, self._ground, self._boxes, c_x, c_u)
        return c_x, c_u

    @property
    def _count(self) -> int:
        return BOXES + len(BODY) * len(self._boxes)


@njit(cache=True)
def _write_knee(leg: int, joints: Array, out: Array, jacobian: Array) -> None:
    """Write a knee's place in the base (3,) [m], and its derivatives by hip and thigh (3, 2)."""
    a, b = joints[3 * leg], joints[3 * leg + 1]
    y, z, dz = LEG_SIDE[leg] * THIGH_OFFSET, -LINK_LENGTH * np.cos(b), LINK_LENGTH * np.sin(b)
    sine, cosine = np.sin(a), np.cos(a)
    out[0] = HIP_POSITION_IN_BASE[leg, 0] - LINK_LENGTH * np.sin(b)
    out[1] = HIP_POSITION_IN_BASE[leg, 1] + y * cosine - z * sine
    out[2] = HIP_POSITION_IN_BASE[leg, 2] + y * sine + z * cosine
    jacobian[0, 0], jacobian[0, 1] = 0.0, -LINK_LENGTH * np.cos(b)
    jacobian[1, 0], jacobian[1, 1] = -y * sine - z * cosine, -dz * sine
    jacobian[2, 0], jacobian[2, 1] = y * cosine - z * sine, dz * cosine


@njit(cache=True)
def _height(ground: Ground, q: Array, R: Array, point: Array) -> tuple[float, float, float]:
    """Height of a point of the base (3,) above the ground [m], and its slopes along x and y."""
    x = q[0] + R[0, 0] * point[0] + R[0, 1] * point[1] + R[0, 2] * point[2]
    y = q[1] + R[1, 0] * point[0] + R[1, 1] * point[1] + R[1, 2] * point[2]
    z = q[2] + R[2, 0] * point[0] + R[2, 1] * point[1] + R[2, 2] * point[2]
    top, nx, ny, nz = surface_at(ground, x, y)
    return z - top, nx / nz, ny / nz


@njit(cache=True)
def _write_gradient(ground: Ground, q: Array, R: Array, point: Array, toward: Array) -> None:
    """Write the gradient of the height of a point of the base, in the base (3,)."""
    _, along_x, along_y = _height(ground, q, R, point)
    for i in range(3):
        toward[i] = R[0, i] * along_x + R[1, i] * along_y + R[2, i]


@njit(cache=True)
def _distance(box: Array, place: Array, away: Array) -> float:
    """Distance of a place (3,) from a box (2, 3), negative inside [m], and its gradient (3,)."""
    beyond = np.maximum(box[0] - place, place - box[1])
    outside = np.maximum(beyond, 0.0)
    distance = np.sqrt((outside * outside).sum())
    if distance > 0.0:
        away[:] = outside / distance
    else:
        nearest = np.argmax(beyond)
        away[:], distance = 0.0, beyond[nearest]
        away[nearest] = 1.0
    for i in range(3):
        if box[0, i] - place[i] > place[i] - box[1, i]:
            away[i] = -away[i]
    return distance


@njit(cache=True)
def _share(speed: float, numbers: Array) -> float:
    """The motor's torque at a speed in the torque's direction, as a share of the largest."""
    return min(1.0, max(0.0, (numbers[2] - speed) / (numbers[2] - numbers[3])))


@njit(cache=True)
def _stop(distance: float, speed: float, numbers: Array) -> float:
    """Most torque outwards near the end of a range, as a share of the largest; -1 at least.

    Args:
        distance: to the end of the range [rad].
        speed: outwards [rad/s].
        numbers: of the limits.
    """
    spring, damper = numbers[7] * max(0.0, distance - numbers[0]), numbers[8] * max(0.0, speed)
    return max(-1.0, spring - damper)


@njit(cache=True)
def _write_values(
    states: Array, inputs: Array, numbers: Array, ground: Ground, boxes: Array, out: Array
) -> None:
    margin, torque, speed, _, power, trunk, knees = numbers[:7]
    point, toward, unused = np.empty(3), np.empty(3), np.empty((3, 2))
    for c in range(states.shape[0]):
        for k in range(states.shape[1]):
            x, row = states[c, k], out[c, k]
            q, dq = x[7:19], x[25:37]
            for i in range(12):
                row[RANGES + i] = JOINT_LOWER[i] + margin - q[i]
                row[RANGES + 12 + i] = q[i] - JOINT_UPPER[i] + margin
                row[SPEEDS + i] = abs(dq[i]) / speed - 1.0
            row[TORQUES : POWER + 1] = -np.inf
            if k < inputs.shape[1]:
                total = 0.0
                for i in range(12):
                    u = inputs[c, k, i]
                    upper = _stop(JOINT_UPPER[i] - q[i], dq[i], numbers)
                    lower = _stop(q[i] - JOINT_LOWER[i], -dq[i], numbers)
                    row[TORQUES + i] = u / torque - min(upper, _share(dq[i], numbers))
                    row[TORQUES + 12 + i] = -u / torque - min(lower, _share(-dq[i], numbers))
                    total += abs(u * dq[i])
                row[POWER] = total / power - 1.0
            R = rotation_from_quaternion(x[3:7])
            for leg in range(4):
                _write_knee(leg, q, point, unused)
                row[KNEES + leg] = (knees - _height(ground, x, R, point)[0]) / LENGTH
            for i in range(CORNERS.shape[0]):
                row[TRUNK + i] = (trunk - _height(ground, x, R, CORNERS[i])[0]) / LENGTH
            for b in range(len(boxes)):
                for i in range(BODY.shape[0]):
                    distance = _distance(boxes[b], x[:3] + R @ BODY[i], toward)
                    row[BOXES + BODY.shape[0] * b + i] = (BODY_RADIUS - distance) / LENGTH


@njit(cache=True)
def _write_jacobians(
    states: Array, inputs: Array, knots: NDArray[np.int64], numbers: Array, ground: Ground,
    boxes: Array, c_x: Array, c_u: Array,
) -> None:  # fmt: skip
    torque, speed, power = numbers[1], numbers[2], numbers[4]
    point, toward, by_joint = np.empty(3), np.empty(3), np.empty((3, 2))
    for n in range(len(knots)):
        k = knots[n]
        x = states[k]
        q, dq = x[7:19], x[25:37]
        for i in range(12):
            c_x[n, RANGES + i, 6 + i] = -1.0
            c_x[n, RANGES + 12 + i, 6 + i] = 1.0
            c_x[n, SPEEDS + i, 24 + i] = np.sign(dq[i]) / speed
            if k < len(inputs):
                u = inputs[k, i]
                c_u[n, TORQUES + i, i], c_u[n, TORQUES + 12 + i, i] = 1.0 / torque, -1.0 / torque
                _write_torque_slopes(
                    JOINT_UPPER[i] - q[i], dq[i], numbers, i, 1.0, c_x[n, TORQUES + i]
                )
                _write_torque_slopes(
                    q[i] - JOINT_LOWER[i], -dq[i], numbers, i, -1.0, c_x[n, TORQUES + 12 + i]
                )
                sign = np.sign(u * dq[i]) / power
                c_u[n, POWER, i], c_x[n, POWER, 24 + i] = sign * dq[i], sign * u
        R = rotation_from_quaternion(x[3:7])
        for leg in range(4):
            _write_knee(leg, q, point, by_joint)
            _write_gradient(ground, x, R, point, toward)
            _clear(point, toward, c_x[n, KNEES + leg])
            for j in range(2):
                for i in range(3):
                    c_x[n, KNEES + leg, 6 + 3 * leg + j] -= toward[i] * by_joint[i, j] / LENGTH
        for i in range(CORNERS.shape[0]):
            _write_gradient(ground, x, R, CORNERS[i], toward)
            _clear(CORNERS[i], toward, c_x[n, TRUNK + i])
        for b in range(len(boxes)):
            for i in range(BODY.shape[0]):
                _distance(boxes[b], x[:3] + R @ BODY[i], point)
                _clear(BODY[i], R.T @ point, c_x[n, BOXES + BODY.shape[0] * b + i])


@njit(cache=True)
def _write_torque_slopes(
    distance: float, speed: float, numbers: Array, i: int, sign: float, row: Array
) -> None:
    """Write the derivatives of joint i's limit of torque toward one end of its range."""
    share, stop = _share(speed, numbers), _stop(distance, speed, numbers)
    if stop >= share:
        row[24 + i] = sign / (numbers[2] - numbers[3]) if 0.0 < share < 1.0 else 0.0
    elif stop > -1.0:
        row[6 + i] = sign * numbers[7] if distance > numbers[0] else 0.0
        row[24 + i] = sign * numbers[8] if speed > 0.0 else 0.0


@njit(cache=True)
def _clear(point: Array, toward: Array, row: Array) -> None:
    """Write the derivative of a clearance by the base's place and turn."""
    for i in range(3):
        row[i] = -toward[i] / LENGTH
    row[3] = -(point[1] * toward[2] - point[2] * toward[1]) / LENGTH
    row[4] = -(point[2] * toward[0] - point[0] * toward[2]) / LENGTH
    row[5] = -(point[0] * toward[1] - point[1] * toward[0]) / LENGTH
