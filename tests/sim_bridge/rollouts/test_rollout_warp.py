"""MuJoCo Warp's rollouts: the policy's law on the device, divergence, room for contacts.

On Warp's CPU device, or on the first GPU of a machine that has one.
"""

import logging
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

from hybrid.hilqr import Policies
from robots.state import difference, integrate
from sim_bridge.options import WarpOptions
from sim_bridge.rollouts import warp_rollout
from sim_bridge.rollouts.warp_device import open_device
from tests.a1 import A1

# Not imported yet: that takes long, and each process of the tests looks for tests here.
pytestmark = pytest.mark.skipif(not find_spec("mujoco_warp"), reason="needs MuJoCo Warp")
KNOTS, PERIOD = 8, 0.01
STAND = np.concatenate([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0], A1.stand, np.zeros(18)])


def policies(candidates: int = 5, knots: int = KNOTS, seed: int = 0) -> Policies:
    """Two policies of random torques with feedback on the joints, at several step sizes."""
    rng = np.random.default_rng(seed)
    gains = np.zeros((2, KNOTS, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -60.0
    gains[:, :, range(12), range(24, 36)] = -1.5
    gains += 0.3 * rng.normal(size=gains.shape)
    return Policies(
        np.broadcast_to(STAND, (2, knots + 1, 37)).copy(),
        3.0 * rng.normal(size=(2, KNOTS, 12))[:, :knots],
        8.0 * rng.normal(size=(2, KNOTS, 12))[:, :knots],
        gains[:, :knots],
        np.arange(candidates) % 2,
        np.linspace(0.0, 1.0, candidates),
    )


def start(seed: int = 1) -> np.ndarray:
    x0 = STAND.copy()
    x0[19:] = 0.3 * np.random.default_rng(seed).normal(size=18)
    return x0


def make(**options) -> warp_rollout.WarpRollout:
    return warp_rollout.WarpRollout(A1, PERIOD, 2, WarpOptions(), **options)


@cache
def margin() -> float:
    """What a GPU's order of contacts, and so of sums, may change; it is not measured."""
    return 1e-4 if open_device("auto").device.is_cuda else 0.0


def assert_equal(left, right) -> None:
    """To the bit, but for what a GPU's order of sums does to the largest number."""
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=margin() * np.abs(b).max())


@pytest.fixture(scope="module")
def rollout() -> warp_rollout.WarpRollout:
    return make()


@pytest.mark.parametrize("turn", [1e-4, 1.0, 3.0, 3.5])
def test_law_of_the_policy_at_any_turn_of_the_base(rollout, turn):
    """(5.17) with `robots.state.difference` at the recorded states, all gains, both signs of q."""
    policy, rng = policies(), np.random.default_rng(5)
    policy.gains[:] = 0.2 * rng.normal(size=policy.gains.shape)
    axis = rng.normal(size=3)
    for k in range(KNOTS + 1):
        dx = 0.3 * rng.normal(size=36)
        dx[3:6] = turn * axis / np.linalg.norm(axis)
        for p in range(2):
            q, v = integrate(STAND[:19], STAND[19:], dx)
            q[3:7] *= (-1.0) ** (k + p)
            policy.states[p, k] = np.concatenate([q, v])
    found = rollout.roll_out(start(), policy)
    for c, p in enumerate(policy.policy_index):
        for k in range(KNOTS):
            x, nominal = found.states[c, k], policy.states[p, k]
            dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
            u = policy.inputs[p, k] + policy.step_size[c] * policy.feedforward[p, k]
            u = np.clip(u + policy.gains[p, k] @ dx, -A1.torque_limit[0], A1.torque_limit[0])
            np.testing.assert_allclose(found.inputs[c, k], u, rtol=0, atol=2e-5)


@pytest.mark.parametrize("speed", [np.nan, np.inf, 1e11, 1e300])
def test_no_call_remembers_another(rollout, speed):
    x0 = start()
    x0[22] = speed
    assert not rollout.roll_out(x0, policies()).finite.any()
    parked = next(reversed(rollout._batches.values()))._data
    assert np.isfinite(parked.qvel.numpy()).all(), "the contact solver would run on NaN for ever"
    assert_equal(rollout.roll_out(start(), policies()), make().roll_out(start(), policies()))


def test_far_from_the_origin_as_near_it(rollout):
    policy, away = policies(), np.array([4000.0, -9000.0])
    near = rollout.roll_out(start(), policy)
    policy.states[..., :2] += away
    x0 = start()
    x0[:2] += away
    far = rollout.roll_out(x0, policy)
    far.states[..., :2] -= away
    np.testing.assert_allclose(far.states, near.states, rtol=0, atol=1e-6 + 10.0 * margin())


def test_any_number_of_knots_and_candidates(rollout, monkeypatch):
    monkeypatch.setattr(warp_rollout, "KEPT", 2)
    whole = rollout.roll_out(start(), policies())
    for knots in (3, 1, 3):
        part = rollout.roll_out(start(), policies(knots=knots))
        assert_equal(part[:1], [whole.states[:, : knots + 1]])
        assert_equal(part[1:3], [whole.inputs[:, :knots], whole.normal_forces[:, :knots]])
    assert len(rollout._batches) == 2
    assert_equal(rollout.roll_out(start(), policies()), whole)


def test_dropped_contacts_are_never_silent(caplog):
    tight = make(contacts=1)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            found = tight.roll_out(STAND - 0.1 * np.eye(37)[2], policies())
    assert not found.finite.any()
    assert tight.statistics()["overflows"] == 10
    assert len(caplog.records) == 1 and "contact" in caplog.text
    assert tight.roll_out(STAND + np.eye(37)[2], policies()).finite.all(), "in the air, later"


def test_a_robot_that_lies_in_the_floor_at_all_its_joint_limits_has_room(rollout):
    """The most constraints there can be: every foot down and every joint beyond its limit."""
    x0 = STAND.copy()
    x0[2], x0[7:19] = -0.2, np.tile([1.0, 4.4, -0.7], 4)
    assert rollout.roll_out(x0, policies()).finite.all()
    assert rollout.statistics()["overflows"] == 0


def test_a_policy_that_is_not_there_is_an_error(rollout):
    policy = policies()
    policy.policy_index[3] = 2
    with pytest.raises(IndexError):
        rollout.roll_out(STAND, policy)


def test_report_names_the_device(rollout):
    expected = open_device("auto")
    assert rollout.statistics()["device"] == expected.name
    assert rollout.statistics()["backend"] == "warp" and rollout.round_trip_s == 0.0
