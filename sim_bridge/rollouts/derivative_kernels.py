"""The loops over knots and substeps of the rollouts' derivatives, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.kinematic_tree import Tree
from robots.rotations import rotation_from_quaternion
from robots.soft_contact import SoftContact
from robots.soft_step import differentiate_step
from robots.state import mujoco_from_pinocchio
from robots.vectors import apply, apply_transposed, minus, times, triple
from sim_bridge.compiled_step import call
from sim_bridge.rollouts.kernel import record_state

Array = NDArray[np.float64]


@njit(cache=True, nogil=True)
def differentiate_knots(
    mj_step: int, model: int, data: int, tree: Tree, contact: SoftContact,
    dt: float, saltation: bool, replay: bool, substeps: int,
    qpos: Array, qvel: Array, qacc: Array, ctrl: Array,
    states: Array, inputs: Array, A: Array, B: Array,
) -> None:  # fmt: skip
    """Write A (N, 36, 36) and B (N, 36, 12) of N knots, analytically.

    Args:
        mj_step: address of MuJoCo's step, of the addresses `model` and `data`.
        tree, contact: the same model as our own dynamics know it.
        dt: length of a step [s]; saltation: at touchdowns; substeps: steps in a knot.
        replay: simulate a knot's last step too; else its acceleration is that to the next state.
        qpos, qvel, qacc, ctrl: views of the data's arrays.
        states, inputs: x (N+1, 37), torques (N, 12) [N m].
        A, B: filled.
    """
    x, a = np.empty(37), np.empty(18)
    A_step, B_step = np.empty((36, 36)), np.empty((36, 12))
    for k in range(inputs.shape[0]):
        qpos[:], qvel[:] = mujoco_from_pinocchio(states[k, :19], states[k, 19:])
        ctrl[:] = inputs[k]
        for step in range(substeps):
            record_state(qpos, qvel, x)
            R = rotation_from_quaternion(x[3:7])
            if replay or step < substeps - 1:
                call(mj_step, (model, data))
                a[3:] = qacc[3:]
                lift = triple(qacc)
            else:
                after = states[k + 1]
                a[3:] = (after[22:] - x[22:]) / dt
                moved = apply(rotation_from_quaternion(after[3:7]), triple(after[19:]))
                lift = times(1.0 / dt, minus(moved, apply(R, triple(x[19:]))))
            for i, each in enumerate(apply_transposed(R, lift)):
                a[i] = each
            if step == 0:
                differentiate_step(tree, contact, R, x, a, dt, saltation, A[k], B[k])
            else:
                differentiate_step(tree, contact, R, x, a, dt, saltation, A_step, B_step)
                A[k] = A_step @ A[k]
                B[k] = A_step @ B[k] + B_step


@njit(cache=True, nogil=True)
def difference_knots(
    mj_step: int, transition_fd: int, model: int, data: int, difference: float,
    centred: bool, substeps: int, qpos: Array, qvel: Array, ctrl: Array,
    states: Array, inputs: Array, A: Array, B: Array,
) -> None:  # fmt: skip
    """Write A (N, 36, 36) and B (N, 36, 12) of N knots, by MuJoCo's finite differences.

    Args:
        mj_step, transition_fd: MuJoCo's, of the addresses `model` and `data`.
        difference: of states and torques; centred: on both sides of them.
        substeps: steps in a knot.
        qpos, qvel, ctrl: views of the data's arrays.
        states, inputs: x (N, 37) at the knots' beginnings, torques (N, 12) [N m].
        A, B: filled.
    """
    x, after = np.empty(37), np.empty(37)
    A_step, B_step = np.empty((36, 36)), np.empty((36, 12))
    A_address, B_address = np.intp(A_step.ctypes.data), np.intp(B_step.ctypes.data)
    for k in range(inputs.shape[0]):
        qpos[:], qvel[:] = mujoco_from_pinocchio(states[k, :19], states[k, 19:])
        ctrl[:] = inputs[k]
        for step in range(substeps):
            record_state(qpos, qvel, x)
            arguments = model, data, difference, int(centred), A_address, B_address, 0, 0
            call(transition_fd, arguments)
            call(mj_step, (model, data))
            record_state(qpos, qvel, after)
            to_local_tangents(x, after, A_step, B_step)
            if step == 0:
                A[k], B[k] = A_step, B_step
            else:
                A[k] = A_step @ A[k]
                B[k] = A_step @ B[k] + B_step


@njit(cache=True)
def to_local_tangents(x: Array, after: Array, A: Array, B: Array) -> None:
    """Turn derivatives in MuJoCo's tangents at x and x+ into those of `robots.state`, in place.

    MuJoCo's has the base's position and linear velocity in the world: dp_w = R dp and
    du_w = R (du - u x dphi).
    """
    R, u = rotation_from_quaternion(x[3:7]), x[19:22]
    for i in range(36):
        for first in (0, 18):
            w = (A[i, first], A[i, first + 1], A[i, first + 2])
            for j in range(3):
                A[i, first + j] = w[0] * R[0, j] + w[1] * R[1, j] + w[2] * R[2, j]
        w = (A[i, 18], A[i, 19], A[i, 20])  # by du; -u x dphi: w . (-u x e) = (u x w) . e
        A[i, 3] += u[1] * w[2] - u[2] * w[1]
        A[i, 4] += u[2] * w[0] - u[0] * w[2]
        A[i, 5] += u[0] * w[1] - u[1] * w[0]
    R, u = rotation_from_quaternion(after[3:7]), after[19:22]
    for matrix in (A, B):
        for j in range(matrix.shape[1]):
            for first in (0, 18):
                c = (matrix[first, j], matrix[first + 1, j], matrix[first + 2, j])
                for i in range(3):
                    matrix[first + i, j] = R[0, i] * c[0] + R[1, i] * c[1] + R[2, i] * c[2]
            phi = (matrix[3, j], matrix[4, j], matrix[5, j])
            matrix[18, j] += u[1] * phi[2] - u[2] * phi[1]
            matrix[19, j] += u[2] * phi[0] - u[0] * phi[2]
            matrix[20, j] += u[0] * phi[1] - u[1] * phi[0]
