"""The ground that a robot believes in by its footprints."""

import mujoco
import numpy as np
import pytest

from controller.ground_estimate import GroundEstimate
from robots.legs import foot_positions_in_base, inverse_kinematics
from robots.rotations import exp3, quaternion_from_rotation
from robots.terrain import height_at, nearest_surface
from runtime.messages import StateEstimate
from sim_bridge.rollouts.single import SingleSimulation
from tests.a1 import A1


def standing(base: np.ndarray, turn: np.ndarray, contact: np.ndarray) -> StateEstimate:
    q = np.concatenate([base, quaternion_from_rotation(exp3(turn)), A1.stand])
    return StateEstimate(tick=0, time=0.0, q=q, v=np.zeros(18), contact=contact, status="ok")


def feet_of(estimate: StateEstimate, turn: np.ndarray) -> np.ndarray:
    return estimate.q[:3] + foot_positions_in_base(A1.legs, estimate.q[7:]) @ exp3(turn).T


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.1, -0.2, 0.0), (0.05, 0.1, 2.5)])
@pytest.mark.parametrize("height", [0.7, -2000.0])  # which drifts, and in hours far
def test_the_feet_stand_on_the_ground(level: bool, turn: tuple[float, ...], height: float) -> None:
    estimate = standing(np.array([2.0, -1.0, height]), np.array(turn), np.ones(4))
    estimates = GroundEstimate(A1, level)
    estimates.follow(estimate)
    for foot in feet_of(estimate, np.array(turn)):
        lowest = foot - [0.0, 0.0, A1.legs.foot_radius]
        assert nearest_surface(estimates.ground, *lowest)[0] == pytest.approx(0.0, abs=2e-3)
        assert height_at(estimates.ground, foot[0], foot[1]) == pytest.approx(lowest[2], abs=2e-3)


@pytest.mark.parametrize("level", [False, True])
def test_a_level_ground_never_tilts(level: bool) -> None:
    estimates = GroundEstimate(A1, level)
    estimates.follow(standing(np.array([0.0, 0.0, 0.3]), np.array([0.0, -0.2, 0.0]), np.ones(4)))
    normal = estimates.ground.rotation[0, :, 2]
    slope = -normal[0] / normal[2]
    assert slope == (0.0 if level else pytest.approx(np.tan(0.2), rel=0.08))


def test_a_foot_in_the_air_leaves_no_footprint() -> None:
    estimates = GroundEstimate(A1, level=False)
    estimates.follow(standing(np.array([0.0, 0.0, 0.3]), np.zeros(3), np.ones(4)))
    before = estimates.ground.centre.copy()
    estimates.follow(standing(np.array([0.0, 0.0, 0.5]), np.zeros(3), np.zeros(4)))
    assert np.array_equal(estimates.ground.centre, before)


def test_a_state_that_is_not_finite_changes_nothing() -> None:
    estimates = GroundEstimate(A1, level=False)
    estimates.follow(standing(np.array([0.0, 0.0, 0.3]), np.zeros(3), np.ones(4)))
    before = estimates.ground.centre.copy()
    estimates.follow(standing(np.array([0.0, np.nan, 0.3]), np.zeros(3), np.ones(4)))
    assert np.array_equal(estimates.ground.centre, before)


def test_simulators_follow_the_ground() -> None:
    """MuJoCo's ray finds the tilted ground where the ground's own height has it."""
    estimates = GroundEstimate(A1, level=False)
    simulator = SingleSimulation(A1, estimates.ground)
    estimates.simulators.append(simulator)
    estimates.follow(standing(np.array([0.3, 0.2, 0.4]), np.array([0.1, -0.2, 0.4]), np.ones(4)))
    model, data = simulator.model, mujoco.MjData(simulator.model)
    mujoco.mj_resetData(model, data)
    data.qpos[2] = 50.0
    mujoco.mj_forward(model, data)
    for x, y in np.random.default_rng(1).uniform(-1.0, 1.0, (20, 2)):
        hit = np.zeros(1, dtype=np.int32)
        start, down = np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0])
        distance = mujoco.mj_ray(model, data, start, down, None, 1, -1, hit)
        assert 5.0 - distance == pytest.approx(height_at(estimates.ground, x, y), abs=1e-9)


def walk_to_a_step(estimates: GroundEstimate, edge: float, rise: float) -> None:
    """Walk along x until the fore feet alone stand beyond a step at `edge`."""
    neutral = foot_positions_in_base(A1.legs, A1.stand)
    for x in np.arange(-0.5, 0.001, 0.1):
        feet = neutral + [x, 0.0, 0.3]
        feet[:, 2] = A1.legs.foot_radius + rise * (feet[:, 0] > edge)
        base = np.array([x, 0.0, 0.3])
        q = np.concatenate([base, [0.0, 0.0, 0.0, 1.0], inverse_kinematics(A1.legs, feet - base)])
        estimates.follow(
            StateEstimate(tick=0, time=0.0, q=q, v=np.zeros(18), contact=np.ones(4), status="ok")
        )


@pytest.mark.parametrize("rise", [0.06, -0.06])
@pytest.mark.parametrize("edge", [-0.08, 0.02, 0.1])
def test_the_border_lies_where_the_fore_feet_stepped(edge: float, rise: float) -> None:
    """Within a stride of the true edge, on either side of which the ground is level."""
    estimates = GroundEstimate(A1, level=True)
    walk_to_a_step(estimates, edge, rise)
    for y in (-0.12, 0.12):
        heights = np.array([height_at(estimates.ground, x, y) for x in np.arange(-0.3, 0.3, 0.01)])
        before, after = heights[0], heights[-1]
        assert after - before == pytest.approx(rise, abs=2e-3)
        border = -0.3 + 0.01 * np.abs(heights - before).searchsorted(0.5 * abs(rise))
        assert border == pytest.approx(edge, abs=0.055)


def test_footprints_on_one_plane_leave_the_border_in_the_middle() -> None:
    estimates = GroundEstimate(A1, level=False)
    walk_to_a_step(estimates, 10.0, 0.06)
    assert estimates.ground.centre[:, 0] == pytest.approx([2.5, 2.5, -2.5, -2.5], abs=0.01)


def test_only_ground_that_may_tilt_is_rough() -> None:
    assert GroundEstimate(A1, level=True).ground.roughness == 0.0
    assert GroundEstimate(A1, level=False).ground.roughness > 0.0
