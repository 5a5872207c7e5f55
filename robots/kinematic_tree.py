"""The robot as a tree of revolute joints on a free body, and where its joints are, compiled."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.rotations import Array
from robots.vectors import Vector, apply, plus, triple


class Tree(NamedTuple):
    """Joints and bodies; body 0 is the base, body i + 1 the one that joint i moves."""

    parent: NDArray[np.int64]  # (n,) body that carries each joint
    position: Array  # (n, 3) of a joint in that body [m]
    rotation: Array  # (n, 3, 3) of the moved body in that body, at joint angle zero
    axis: Array  # (n, 3) of a joint, in the moved body
    mass: Array  # (n + 1,) [kg]
    centre: Array  # (n + 1, 3) of mass, in the body [m]
    inertia: Array  # (n + 1, 3, 3) about it, in the body's axes [kg m^2]
    armature: Array  # (n,) [kg m^2]


def tree_of(model: mujoco.MjModel) -> Tree:
    """Read a free body with revolute joints, one a body, whose axes pass the bodies' origins.

    Raises:
        ValueError: the model has other joints.
    """
    joints, bodies = np.arange(1, model.njnt), slice(1, model.nbody)
    moved = model.jnt_bodyid[joints]
    free, hinge = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_HINGE
    if (
        model.jnt_type[0] != free
        or (model.jnt_type[joints] != hinge).any()
        or model.jnt_pos[joints].any()
        or moved.tolist() != list(range(2, model.nbody))
    ):
        raise ValueError("inverse dynamics are for a free base with hinges at the bodies' origins")
    frames = np.array([rotation_of(quaternion) for quaternion in model.body_iquat[bodies]])
    return Tree(
        parent=(model.body_parentid[moved] - 1).astype(np.int64),
        position=model.body_pos[moved].copy(),
        rotation=np.array([rotation_of(quaternion) for quaternion in model.body_quat[moved]]),
        axis=model.jnt_axis[joints].copy(),
        mass=model.body_mass[bodies].copy(),
        centre=model.body_ipos[bodies].copy(),
        inertia=np.einsum("bij,bj,bkj->bik", frames, model.body_inertia[bodies], frames),
        armature=model.dof_armature[6:].copy(),
    )


def rotation_of(quaternion: Array) -> Array:
    """The rotation matrix (3, 3) of MuJoCo's quaternion, w first."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


class JointFrames(NamedTuple):
    """Frames of joints and bodies, in the base."""

    origins: Array  # (n, 3) of the joints [m]
    axes: Array  # (n, 3)
    rotations: Array  # (n + 1, 3, 3) of the bodies


@njit(cache=True)
def joint_frames(tree: Tree, joints: Array) -> JointFrames:
    """Find joints and bodies at the joint angles (n,) [rad]."""
    n = joints.shape[0]
    frames = JointFrames(np.empty((n, 3)), np.empty((n, 3)), np.empty((n + 1, 3, 3)))
    turn, placed = np.empty((3, 3)), np.empty((3, 3))
    frames.rotations[0] = np.eye(3)
    for k in range(n):
        parent = tree.parent[k]
        body = frames.rotations[parent]
        _multiply(body, tree.rotation[k], placed)
        _rotate(triple(tree.axis[k]), joints[k], turn)
        _multiply(placed, turn, frames.rotations[k + 1])
        origin = apply(body, triple(tree.position[k]))
        if parent > 0:
            origin = plus(origin, triple(frames.origins[parent - 1]))
        axis = apply(placed, triple(tree.axis[k]))
        frames.origins[k], frames.axes[k] = origin, axis
    return frames


@njit(cache=True, inline="always")
def _rotate(axis: Vector, angle: float, out: Array) -> None:
    """Write the rotation (3, 3) about a unit axis (Rodrigues)."""
    s, c = np.sin(angle), np.cos(angle)
    x, y, z = axis
    r = 1.0 - c
    out[0] = c + r * x * x, r * x * y - s * z, r * x * z + s * y
    out[1] = r * x * y + s * z, c + r * y * y, r * y * z - s * x
    out[2] = r * x * z - s * y, r * y * z + s * x, c + r * z * z


@njit(cache=True, inline="always")
def _multiply(a: Array, b: Array, out: Array) -> None:
    """Write a b (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]
