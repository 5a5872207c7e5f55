import numpy as np
import pinocchio as pin
import pytest
from pytest import approx

from robots.legs import foot_jacobians_in_base, foot_positions_in_base, inverse_kinematics
from robots.pinocchio_model import foot_frame_ids
from tests.robots.every_robot import quadruped as quadruped


@pytest.fixture
def joints(quadruped):
    rng = np.random.default_rng(5)
    return lambda: rng.uniform(quadruped.legs.lower, quadruped.legs.upper)


def test_positions_and_jacobians_are_pinocchios(quadruped, model, joints):
    data = model.createData()
    for _ in range(20):
        angles = joints()
        q = np.concatenate((np.zeros(6), [1.0], angles))
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        feet, jacobians = (
            foot_positions_in_base(quadruped.legs, angles),
            foot_jacobians_in_base(quadruped.legs, angles),
        )
        for leg, frame in enumerate(foot_frame_ids(model)):
            assert feet[leg] == approx(data.oMf[frame].translation, abs=1e-14)
            J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            own = slice(6 + 3 * leg, 9 + 3 * leg)
            assert jacobians[leg] == approx(J[:3, own], abs=1e-14)


def test_inverse_returns_the_joints_of_every_posture_with_the_foot_below_the_hip(quadruped, joints):
    legs, tried = quadruped.legs, 0

    def below(b, c):
        return np.cos(b) + legs.ratio * np.cos(b + c + legs.lean) > 1e-3

    for _ in range(300):
        angles = joints()
        b, c = angles[1::3], angles[2::3]
        if not below(b, c).all():
            angles[1::3] = np.clip(0.3 * b - 0.5 * c, -1.0, 2.0)  # foot near below the hip
            b = angles[1::3]
        if below(b, c).all():
            tried += 1
            back = inverse_kinematics(legs, foot_positions_in_base(legs, angles))
            assert back == approx(angles, abs=1e-9)
    assert tried > 200


def test_out_of_reach_and_degenerate_feet_give_postures_within_limits(quadruped):
    rng = np.random.default_rng(9)
    hips = np.array(quadruped.legs.hip)
    cases = [hips, hips + [0.0, 0.0, -5.0], hips + [3.0, 0.0, 0.0], np.zeros((4, 3))]
    cases += [rng.normal(size=(4, 3)) for _ in range(50)]
    for feet in cases:
        joints = inverse_kinematics(quadruped.legs, feet)
        assert np.all(np.isfinite(joints))
        assert np.all(joints >= quadruped.legs.lower) and np.all(joints <= quadruped.legs.upper)


def test_stand_has_the_feet_on_the_ground_below_the_hips(quadruped):
    """A shank that leans by a hundredth, the Go2's, puts them as much behind."""
    legs = quadruped.legs
    feet = foot_positions_in_base(legs, quadruped.stand)
    ground = legs.foot_radius - quadruped.stand_height
    assert feet[:, 2] == approx(ground, abs=1e-15)
    leans = quadruped.leg_length * np.abs(legs.lean).max()
    assert feet[:, 0] == approx(legs.hip[:, 0], abs=1e-15 + leans)
