"""The policy of every candidate at one knot, compiled: the inner loop of the line search."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.state import difference, pinocchio_from_mujoco
from sim_bridge.compiled_step import call

Array = NDArray[np.float64]


@njit(cache=True)
def record_state(qpos: Array, qvel: Array, x: Array) -> None:
    """Write MuJoCo's state (19,), (18,) to x (37,)."""
    x[:19], x[19:] = pinocchio_from_mujoco(qpos, qvel)


@njit(cache=True)
def apply_policy(
    x: Array, nominal: Array, nominal_input: Array, feedforward: Array, gain: Array, step: float,
    limit: Array, inputs: Array, ctrl: Array,
) -> None:  # fmt: skip
    """Set one candidate's torque, and record it: inputs and ctrl (12,) [N m].

    u = u_nominal + step k_ff + K (x (-) x_nominal), (5.17), within the motors' `limit` (12,) [N m].
    """
    dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
    for i in range(12):
        u = nominal_input[i] + step * feedforward[i]
        for j in range(36):
            u += gain[i, j] * dx[j]
        if u > limit[i]:  # written so that NaN stays NaN and its candidate is found out
            u = limit[i]
        elif u < -limit[i]:
            u = -limit[i]
        inputs[i] = u
        ctrl[i] = u


@njit(cache=True, nogil=True)
def roll_candidate(
    mj_step: int, model: int, data: int, substeps: int,
    first: int, last: int,
    qpos: Array, qvel: Array, ctrl: Array, touch: Array,
    states: Array, inputs: Array, normal_forces: Array,
    nominal_states: Array, nominal_inputs: Array, feedforward: Array, gains: Array, step: float,
    limit: Array,
) -> bool:  # fmt: skip
    """Roll one candidate on from knot `first` to knot `last`.

    Args:
        mj_step: address of MuJoCo's step, of the addresses `model` and `data`; substeps: in a knot.
        qpos, qvel, ctrl, touch: views of the data's arrays (19,), (18,), (12,), (4,).
        states, inputs, normal_forces: filled, (N+1, 37), (N, 12), (N, 4) of the whole horizon.
        nominal_states, nominal_inputs, feedforward, gains: the policy over the whole horizon.
        step: its step size.
        limit: the motors' torques (12,) [N m].

    Returns:
        Whether all of this was finite.
    """
    for k in range(first, last):
        record_state(qpos, qvel, states[k])
        apply_policy(
            states[k], nominal_states[k], nominal_inputs[k], feedforward[k], gains[k], step, limit,
            inputs[k], ctrl,
        )  # fmt: skip
        for _ in range(substeps):
            call(mj_step, (model, data))
        normal_forces[k] = touch
    record_state(qpos, qvel, states[last])
    sound = np.isfinite(states[first : last + 1]).all() and np.isfinite(inputs[first:last]).all()
    return bool(sound)
