"""Limits of a robot in a plan, as inequality constraints of HiLQR.

Of every knot: joint ranges and speeds, the motors' torque at their speed and near the end of a
range, the power that all of them take together, the clearance of trunk and knees from the ground,
and that of the body from keep-out boxes. Each is divided by its limit, or in metres, so that a
violation of 0.01 is one hundredth of the limit, or 1 cm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.planner_options import LimitOptions
from robots.conventions import JOINT_NAMES
from robots.legs import Legs
from robots.robot import Robot
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, make_ground, surface_at
from robots.vectors import Vector, apply_transposed, cross, triple

RANGES, SPEEDS, TORQUES, POWER, KNEES, TRUNK = 0, 24, 36, 60, 61, 65  # first rows
BOXES = TRUNK + 8


class Shape(NamedTuple):
    """The lengths of a robot that limits need.

    Attributes:
        legs: its legs.
        corners: of the box around trunk, head and hips, in the base (8, 3) [m].
        spheres: centres of three spheres that hold that box but for its edges, in the base (3, 3)
            [m]; radius: of each [m].
        torque, speed, corner_speed: of each motor (12) [N m], [rad/s].
        spring, damper: of the torque outwards near the end of a range, as shares of the largest
            (12) [1/rad], [s/rad].
        margin: from the ends of the ranges [rad]; power: of all motors [W].
        trunk, knees: their clearances [m].
    """

    legs: Legs
    corners: Array
    spheres: Array
    radius: float
    torque: Array
    speed: Array
    corner_speed: Array
    spring: Array
    damper: Array
    margin: float
    power: float
    trunk: float
    knees: float


def shape_of(options: LimitOptions, robot: Robot) -> Shape:
    """The limits of a robot; what the options leave out is the robot's own."""
    low, high = robot.body
    spheres = np.tile(0.5 * (low + high), (3, 1))
    spheres[:, 0] = low[0] * 13.0 / 24.0, 0.0, high[0] / 1.8
    torque, speed, corner = (
        np.array(own) if limit is None else np.full(12, limit)
        for limit, own in (
            (options.torque, robot.torque_limit), (options.speed, robot.velocity_limit),
            (options.corner_speed, robot.corner_speed),
        )
    )  # fmt: skip
    return Shape(
        robot.legs, np.array(list(product(*robot.body.T))), spheres,
        0.5 * float(high[1] - low[1]), torque, speed, corner,
        options.stop_stiffness / torque, options.stop_damping / torque, options.range_margin,
        options.power, options.trunk_clearance, options.knee_clearance,
    )  # fmt: skip


class Limits:
    """Implements `saltation.hilqr.constraints.Constraints`."""

    def __init__(self, options: LimitOptions, robot: Robot, ground: Ground | None = None) -> None:
        """Compile, or load; `ground` is level at z = 0 where it is left out."""
        self.options, self._ground = options, ground or make_ground()
        self._shape = shape_of(options, robot)
        self._boxes = np.array([(box.low, box.high) for box in options.keep_out]).reshape(-1, 2, 3)
        # Only plans that meet a limit need them: compile now, not in the first such plan.
        self.jacobians(np.eye(37)[6:7], np.zeros((1, 12)), np.arange(1))

    @property
    def names(self) -> Sequence[str]:
        """Names of the constraints."""
        joints = [name.removesuffix("_joint") for name in JOINT_NAMES]
        legs = [name.split("_")[0] for name in JOINT_NAMES[::3]]
        return [
            *(f"{what} of {name}" for what in ("least angle", "greatest angle", "speed")
              for name in joints),
            *(f"torque of {name} {way}" for way in ("forward", "backward") for name in joints),
            "power of the motors",
            *(f"clearance of {leg} knee" for leg in legs),
            *(f"clearance of trunk corner {i}" for i in range(8)),
            *(f"distance of the body's {part} from keep-out box {i}"
              for i in range(len(self._boxes)) for part in ("rear", "middle", "front")),
        ]  # fmt: skip

    def values(self, states: Array, inputs: Array) -> Array:
        """C (C, N+1, P) of states (C, N+1, 37) and torques (C, N, 12)."""
        out = np.empty((*states.shape[:2], self._count))
        _write_values(states, inputs, self._shape, self._ground, self._boxes, out)
        return out

    def jacobians(
        self, states: Array, inputs: Array, knots: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """c_x (K, P, 36), c_u (K, P, 12) at `knots` of states (N+1, 37) and torques (N, 12)."""
        c_x = np.zeros((len(knots), self._count, 36))
        c_u = np.zeros((len(knots), self._count, 12))
        _write_jacobians(states, inputs, knots, self._shape, self._ground, self._boxes, c_x, c_u)
        return c_x, c_u

    @property
    def _count(self) -> int:
        return BOXES + 3 * len(self._boxes)


@njit(cache=True)
def _write_knee(legs: Legs, leg: int, joints: Array, out: Array, jacobian: Array) -> None:
    """Write a knee's place in the base (3,) [m], and its derivatives by hip and thigh (3, 2)."""
    a, b, length = joints[3 * leg], joints[3 * leg + 1], legs.thigh[leg]
    y, z, dz = legs.plane[leg], -length * np.cos(b), length * np.sin(b)
    sine, cosine = np.sin(a), np.cos(a)
    out[0] = legs.hip[leg, 0] - length * np.sin(b)
    out[1] = legs.hip[leg, 1] + y * cosine - z * sine
    out[2] = legs.hip[leg, 2] + y * sine + z * cosine
    jacobian[0] = 0.0, -length * np.cos(b)
    jacobian[1] = -y * sine - z * cosine, -dz * sine
    jacobian[2] = y * cosine - z * sine, dz * cosine


@njit(cache=True)
def _height(ground: Ground, q: Array, R: Array, point: Array) -> tuple[float, float, float]:
    """Height of a point of the base (3,) above the ground [m], and its slopes along x and y."""
    x = q[0] + R[0, 0] * point[0] + R[0, 1] * point[1] + R[0, 2] * point[2]
    y = q[1] + R[1, 0] * point[0] + R[1, 1] * point[1] + R[1, 2] * point[2]
    z = q[2] + R[2, 0] * point[0] + R[2, 1] * point[1] + R[2, 2] * point[2]
    top, nx, ny, nz = surface_at(ground, x, y)
    return z - top, nx / nz, ny / nz


@njit(cache=True)
def _gradient(ground: Ground, q: Array, R: Array, point: Array) -> Vector:
    """The gradient of the height of a point of the base, in the base."""
    _, along_x, along_y = _height(ground, q, R, point)
    return apply_transposed(R, (along_x, along_y, 1.0))


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
def _share(shape: Shape, i: int, speed: float) -> float:
    """The torque of motor i at a speed in the torque's direction, as a share of the largest."""
    most = shape.speed[i]
    return min(1.0, max(0.0, (most - speed) / (most - shape.corner_speed[i])))


@njit(cache=True)
def _stop(shape: Shape, i: int, distance: float, speed: float) -> float:
    """Most torque outwards near the end of a range, as a share of the largest; -1 at least.

    Args:
        shape: of the robot; i: the joint.
        distance: to the end of the range [rad].
        speed: outwards [rad/s].
    """
    spring = shape.spring[i] * max(0.0, distance - shape.margin)
    return max(-1.0, spring - shape.damper[i] * max(0.0, speed))


@njit(cache=True)
def _write_values(
    states: Array, inputs: Array, shape: Shape, ground: Ground, boxes: Array, out: Array
) -> None:
    legs, margin = shape.legs, shape.margin
    point, toward, unused = np.empty(3), np.empty(3), np.empty((3, 2))
    for c in range(states.shape[0]):
        for k in range(states.shape[1]):
            x, row = states[c, k], out[c, k]
            q, dq = x[7:19], x[25:37]
            for i in range(12):
                row[RANGES + i] = legs.lower[i] + margin - q[i]
                row[RANGES + 12 + i] = q[i] - legs.upper[i] + margin
                row[SPEEDS + i] = abs(dq[i]) / shape.speed[i] - 1.0
            row[TORQUES : POWER + 1] = -np.inf
            if k < inputs.shape[1]:
                total = 0.0
                for i in range(12):
                    u, torque = inputs[c, k, i], shape.torque[i]
                    upper = _stop(shape, i, legs.upper[i] - q[i], dq[i])
                    lower = _stop(shape, i, q[i] - legs.lower[i], -dq[i])
                    row[TORQUES + i] = u / torque - min(upper, _share(shape, i, dq[i]))
                    row[TORQUES + 12 + i] = -u / torque - min(lower, _share(shape, i, -dq[i]))
                    total += abs(u * dq[i])
                row[POWER] = total / shape.power - 1.0
            R = rotation_from_quaternion(x[3:7])
            for leg in range(4):
                _write_knee(legs, leg, q, point, unused)
                row[KNEES + leg] = shape.knees - _height(ground, x, R, point)[0]
            for i in range(8):
                height = _height(ground, x, R, shape.corners[i])[0]
                row[TRUNK + i] = shape.trunk - height
            for b in range(len(boxes)):
                for i in range(3):
                    distance = _distance(boxes[b], x[:3] + R @ shape.spheres[i], toward)
                    row[BOXES + 3 * b + i] = shape.radius - distance


@njit(cache=True)
def _write_jacobians(
    states: Array, inputs: Array, knots: NDArray[np.int64], shape: Shape, ground: Ground,
    boxes: Array, c_x: Array, c_u: Array,
) -> None:  # fmt: skip
    point, by_joint = np.empty(3), np.empty((3, 2))
    for n in range(len(knots)):
        k = knots[n]
        x = states[k]
        q, dq = x[7:19], x[25:37]
        for i in range(12):
            c_x[n, RANGES + i, 6 + i] = -1.0
            c_x[n, RANGES + 12 + i, 6 + i] = 1.0
            c_x[n, SPEEDS + i, 24 + i] = np.sign(dq[i]) / shape.speed[i]
            if k < len(inputs):
                u, torque = inputs[k, i], shape.torque[i]
                c_u[n, TORQUES + i, i], c_u[n, TORQUES + 12 + i, i] = 1.0 / torque, -1.0 / torque
                above, below = shape.legs.upper[i] - q[i], q[i] - shape.legs.lower[i]
                _write_torque_slopes(shape, i, above, dq[i], 1.0, c_x[n, TORQUES + i])
                _write_torque_slopes(shape, i, below, -dq[i], -1.0, c_x[n, TORQUES + 12 + i])
                sign = np.sign(u * dq[i]) / shape.power
                c_u[n, POWER, i], c_x[n, POWER, 24 + i] = sign * dq[i], sign * u
        R = rotation_from_quaternion(x[3:7])
        for leg in range(4):
            _write_knee(shape.legs, leg, q, point, by_joint)
            toward = _gradient(ground, x, R, point)
            _clear(point, toward, c_x[n, KNEES + leg])
            for j in range(2):
                for i in range(3):
                    c_x[n, KNEES + leg, 6 + 3 * leg + j] -= toward[i] * by_joint[i, j]
        for i in range(8):
            toward = _gradient(ground, x, R, shape.corners[i])
            _clear(shape.corners[i], toward, c_x[n, TRUNK + i])
        for b in range(len(boxes)):
            for i in range(3):
                _distance(boxes[b], x[:3] + R @ shape.spheres[i], point)
                _clear(shape.spheres[i], triple(R.T @ point), c_x[n, BOXES + 3 * b + i])


@njit(cache=True)
def _write_torque_slopes(
    shape: Shape, i: int, distance: float, speed: float, sign: float, row: Array
) -> None:
    """Write the derivatives of joint i's limit of torque toward one end of its range."""
    share, stop = _share(shape, i, speed), _stop(shape, i, distance, speed)
    if stop >= share:
        row[24 + i] = sign / (shape.speed[i] - shape.corner_speed[i]) if 0.0 < share < 1.0 else 0.0
    elif stop > -1.0:
        row[6 + i] = sign * shape.spring[i] if distance > shape.margin else 0.0
        row[24 + i] = sign * shape.damper[i] if speed > 0.0 else 0.0


@njit(cache=True)
def _clear(point: Array, toward: Vector, row: Array) -> None:
    """Write the derivative of a clearance by the base's place and turn."""
    turn = cross(triple(point), toward)
    for i in range(3):
        row[i], row[3 + i] = -toward[i], -turn[i]
