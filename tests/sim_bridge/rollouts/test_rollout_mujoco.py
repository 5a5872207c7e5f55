"""Batched rollouts equal serial simulation to the bit, whatever the number of threads."""

import mujoco
import numpy as np

from hybrid.hilqr import Policies
from robots.state import difference, mujoco_from_pinocchio, pinocchio_from_mujoco
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.planning_model import planning_model
from tests.a1 import A1

KNOTS, PERIOD = 12, 0.01
STAND = np.concatenate([[0, 0, A1.stand_height, 0, 0, 0, 1], A1.stand, np.zeros(18)])


def policies(seed=0):
    rng = np.random.default_rng(seed)
    gains = np.zeros((2, KNOTS, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -40.0
    gains[:, :, range(12), range(24, 36)] = -1.5
    gains += rng.normal(size=gains.shape)
    return Policies(
        states=np.tile(STAND, (2, KNOTS + 1, 1)),
        inputs=rng.normal(size=(2, KNOTS, 12)),
        feedforward=4.0 * rng.normal(size=(2, KNOTS, 12)),
        gains=gains,
        policy_index=np.array([0, 1, 0, 1, 0]),
        step_size=np.linspace(0, 1, 5),
    )


def start(seed=1):
    x0 = STAND.copy()
    x0[19:] = 0.3 * np.random.default_rng(seed).normal(size=18)
    return x0


def serial(x0, policy, c):
    """One candidate, one knot and one substep at a time, without the batch."""
    model = planning_model(A1, PERIOD / 2)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x0[:19], x0[19:])
    p, states, inputs = policy.policy_index[c], [], []
    for k in range(KNOTS):
        q, v = pinocchio_from_mujoco(data.qpos, data.qvel)
        states.append(np.concatenate([q, v]))
        nominal = policy.states[p, k]
        dx = difference(nominal[:19], nominal[19:], q, v)
        u = policy.inputs[p, k] + policy.step_size[c] * policy.feedforward[p, k]
        for j in range(36):
            u = u + policy.gains[p, k][:, j] * dx[j]
        data.ctrl[:] = np.clip(u, -A1.torque_limit[0], A1.torque_limit[0])
        inputs.append(data.ctrl.copy())
        mujoco.mj_step(model, data, 2)
    states.append(np.concatenate(pinocchio_from_mujoco(data.qpos, data.qvel)))
    return np.array(states), np.array(inputs)


def test_batch_equals_serial_to_the_bit():
    policy, x0 = policies(), start()
    batch = MujocoRollout(A1, KNOTS, PERIOD).roll_out(x0, policy)
    assert batch.finite.all()
    for c in range(5):
        states, inputs = serial(x0, policy, c)
        np.testing.assert_array_equal(batch.states[c], states)
        np.testing.assert_array_equal(batch.inputs[c], inputs)


def test_threads_and_history_do_not_change_the_result():
    policy, x0 = policies(), start()
    one, two = (
        MujocoRollout(A1, KNOTS, PERIOD, threads=1),
        MujocoRollout(A1, KNOTS, PERIOD, threads=2),
    )
    two.roll_out(start(7), policies(9))
    a, b = one.roll_out(x0, policy), two.roll_out(x0, policy)
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


def test_advance_agrees_with_finer_physics():
    rollout, x0, torque = MujocoRollout(A1, KNOTS, PERIOD), start(), np.zeros(12)
    half = rollout.advance(rollout.advance(x0, torque, 0.004), torque, 0.006)
    np.testing.assert_allclose(rollout.advance(x0, torque, 0.01), half, atol=2e-3)
