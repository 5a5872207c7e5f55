"""The policy of every candidate at one knot, compiled: the inner loop of the line search."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.a1.constants import TORQUE_LIMIT
from robots.state import difference, pinocchio_from_mujoco

Array = NDArray[np.float64]

_LIMIT = float(TORQUE_LIMIT)


@njit(cache=True)
def record_states(k: int, qpos: Array, qvel: Array, states: Array) -> None:
    """Write knot k of every candidate: MuJoCo's rows (C, 19), (C, 18) to states (C, N+1, 37)."""
    for c in range(qpos.shape[0]):
        q, v = pinocchio_from_mujoco(qpos[c], qvel[c])
        states[c, k, :19] = q
        states[c, k, 19:] = v


@njit(cache=True)
def apply_policies(
    k: int,
    qpos: Array,
    qvel: Array,
    states: Array,
    inputs: Array,
    ctrl: Array,
    nominal_states: Array,
    nominal_inputs: Array,
    feedforward: Array,
    gains: Array,
    policy_index: NDArray[np.int64],
    step_size: Array,
) -> None:
    """Record knot k and set every candidate's torque for it.

    u = u_nominal + step k_ff + K (x (-) x_nominal), (5.17), limited to the motors' torque [N m].
    """
    record_states(k, qpos, qvel, states)
    for c in range(qpos.shape[0]):
        p, step = policy_index[c], step_size[c]
        x, nominal = states[c, k], nominal_states[p, k]
        dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
        for i in range(12):
            u = nominal_inputs[p, k, i] + step * feedforward[p, k, i]
            for j in range(36):
                u += gains[p, k, i, j] * dx[j]
            if u > _LIMIT:  # written so that NaN stays NaN and its candidate is found out
                u = _LIMIT
            elif u < -_LIMIT:
                u = -_LIMIT
            inputs[c, k, i] = u
            ctrl[c, i] = u
