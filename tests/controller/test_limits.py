"""The A1's limits: derivatives by differences, and the same limits as the simulated motors'."""

import mujoco
import numpy as np
import pytest
from pytest import approx

from controller.limits import BOXES, KNEES, TORQUES, Limits, shape_of
from controller.planner_options import KeepOut, LimitOptions
from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.limits import bounds_of, outward_cap
from robots.mujoco_model import load_mujoco
from robots.state import mujoco_from_pinocchio
from robots.terrain import Box, make_ground
from sim_bridge.motors import limited_torque
from tests.a1 import A1
from tests.differences import moved, slopes

BAR = KeepOut((-0.2, -1.0, 0.3), (0.1, 0.2, 0.5))
WALL = KeepOut((0.2, -2.0, 0.0), (0.25, 2.0, 1.0))
SHAPE = shape_of(LimitOptions(), A1)
SLOPE = make_ground((Box((0.0, 0.0, 0.0), (3.0, 3.0, 0.4), 0.4, 0.3),))


def random_states(count, seed=0):
    draw = np.random.default_rng(seed)
    x = np.zeros((count, 37))
    x[:, :3] = draw.uniform(-0.3, 0.3, (count, 3)) + [0.0, 0.0, 0.4]
    x[:, 3:7] = draw.normal(size=(count, 4))
    x[:, 3:7] /= np.linalg.norm(x[:, 3:7], axis=1)[:, None]
    x[:, 7:19] = draw.uniform(-2.0, 2.0, (count, 12))
    x[:, 19:25] = draw.normal(size=(count, 6))
    x[:, 25:] = draw.uniform(-25.0, 25.0, (count, 12))
    return x, draw.uniform(-35.0, 35.0, (count - 1, 12))


@pytest.mark.parametrize("ground", [None, SLOPE])
def test_derivatives_are_those_of_the_values(ground):
    limits = Limits(LimitOptions(keep_out=(BAR, WALL)), A1, ground)
    states, inputs = random_states(9)
    c_x, c_u = limits.jacobians(states, inputs, np.arange(len(states)))
    some = np.array([1, 4, 8])
    for all_knots, chosen in zip((c_x, c_u), limits.jacobians(states, inputs, some), strict=True):
        assert np.array_equal(chosen, all_knots[some])

    def values(dx, du):
        shifted = np.array([[moved(x, dx) for x in states]])
        found = limits.values(shifted, (inputs + du)[None])[0]
        return np.where(np.isfinite(found), found, 0.0)

    by_state = slopes(lambda d: values(d, 0.0), np.zeros(36), 1e-7)
    by_input = slopes(lambda d: values(np.zeros(36), d), np.zeros(12), 1e-7)
    assert np.allclose(by_state, c_x, atol=2e-6)
    assert np.allclose(by_input[:-1], c_u[:-1], atol=2e-6)


def test_torques_within_the_limits_are_those_that_the_motors_and_the_bridge_give():
    limits, safety = Limits(LimitOptions(), A1), HardwareSafetyOptions()
    bounds = bounds_of(safety, A1)[0]
    states, inputs = random_states(200, seed=1)
    c = limits.values(states[None], inputs[None])[0]
    violations = np.zeros(2, int)
    for k, u in enumerate(inputs):
        q, dq = states[k, 7:19], states[k, 25:37]
        for i in range(12):
            most = outward_cap(A1.legs.upper[i] - q[i], dq[i], bounds)
            least = -outward_cap(q[i] - A1.legs.lower[i], -dq[i], bounds)
            given = min(max(limited_torque(u[i], dq[i], 33.5, 10.5, 21.0), least), most)
            violated = max(c[k, TORQUES + i], c[k, TORQUES + 12 + i]) > 1e-9
            if A1.legs.lower[i] <= q[i] <= A1.legs.upper[i]:
                assert violated == (abs(given - u[i]) > 1e-9)
                violations[int(violated)] += 1
    assert violations.min() > 200  # both cases


def test_knees_are_where_the_model_has_them():
    model = load_mujoco(A1)
    data = mujoco.MjData(model)
    states, inputs = random_states(5, seed=2)
    c = Limits(LimitOptions(knee_clearance=0.0), A1).values(states[None], inputs[None])[0]
    for k, x in enumerate(states):
        data.qpos[:] = mujoco_from_pinocchio(x[:19], x[19:])[0]
        mujoco.mj_kinematics(model, data)
        heights = [data.body(f"{leg}_calf").xpos[2] for leg in ("FR", "FL", "RR", "RL")]
        assert np.allclose(-c[k, KNEES : KNEES + 4], heights, atol=1e-9)


@pytest.mark.parametrize(
    "place, distance",
    [((0.0, 0.0, 0.8), 0.3), ((0.13, 0.24, 0.4), 0.05), ((0.0, 0.0, 0.45), -0.05)],
)
def test_the_body_keeps_its_distance_from_a_box(place, distance):
    """The middle sphere over a face, beside an edge and inside; the nearest face counts inside."""
    x = np.zeros((1, 1, 37))
    x[0, 0, :3], x[0, 0, 6] = place, 1.0
    limits = Limits(LimitOptions(keep_out=(BAR,)), A1)
    (row,) = limits.values(x, np.zeros((1, 0, 12)))[0]
    assert row[BOXES + 1] == approx(SHAPE.radius - distance)
    assert limits.names[BOXES + 1] == "distance of the body's middle from keep-out box 0"
