import numpy as np
import pinocchio as pin
import pytest

from robots.legs import foot_jacobians_in_base, foot_positions_in_base, inverse_kinematics
from robots.pinocchio_model import foot_frame_ids
from tests.a1 import A1


@pytest.fixture
def joints():
    rng = np.random.default_rng(5)
    return lambda: rng.uniform(A1.legs.lower, A1.legs.upper)


def test_positions_and_jacobians_are_pinocchios(model, joints):
    data = model.createData()
    for _ in range(20):
        angles = joints()
        q = np.concatenate((np.zeros(6), [1.0], angles))
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        feet, jacobians = (
            foot_positions_in_base(A1.legs, angles),
            foot_jacobians_in_base(A1.legs, angles),
        )
        for leg, frame in enumerate(foot_frame_ids(model)):
            assert feet[leg] == pytest.approx(data.oMf[frame].translation, abs=1e-14)
            J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            own = slice(6 + 3 * leg, 9 + 3 * leg)
            assert jacobians[leg] == pytest.approx(J[:3, own], abs=1e-14)


def test_inverse_returns_the_joints_of_every_posture_with_the_foot_below_the_hip(joints):
    tried = 0
    for _ in range(300):
        angles = joints()
        b, c = angles[1::3], angles[2::3]
        if np.any(np.cos(b) + np.cos(b + c) < 1e-3):
            angles[1::3] = np.clip(0.3 * b - 0.5 * c, -1.0, 2.0)  # foot near below the hip
            b = angles[1::3]
        if np.all(np.cos(b) + np.cos(b + c) > 1e-3):
            tried += 1
            back = inverse_kinematics(A1.legs, foot_positions_in_base(A1.legs, angles))
            assert back == pytest.approx(angles, abs=1e-9)
    assert tried > 200


def test_inverse_is_exact_wherever_no_limit_binds():
    rng = np.random.default_rng(8)
    stand = foot_positions_in_base(A1.legs, A1.stand)
    for _ in range(50):
        feet = stand + rng.uniform(-0.06, 0.06, size=(4, 3))
        assert foot_positions_in_base(A1.legs, inverse_kinematics(A1.legs, feet)) == pytest.approx(
            feet, abs=1e-12
        )


def test_out_of_reach_and_degenerate_feet_give_postures_within_limits():
    rng = np.random.default_rng(9)
    hips = np.array(A1.legs.hip)
    cases = [hips, hips + [0.0, 0.0, -5.0], hips + [3.0, 0.0, 0.0], np.zeros((4, 3))]
    cases += [rng.normal(size=(4, 3)) for _ in range(50)]
    for feet in cases:
        joints = inverse_kinematics(A1.legs, feet)
        assert np.all(np.isfinite(joints))
        assert np.all(joints >= A1.legs.lower) and np.all(joints <= A1.legs.upper)


def test_stand_has_the_feet_on_the_ground_below_the_hips():
    feet = foot_positions_in_base(A1.legs, A1.stand)
    assert feet[:, 2] == pytest.approx(A1.legs.foot_radius - A1.stand_height, abs=1e-15)
    assert feet[:, 0] == pytest.approx(A1.legs.hip[:, 0], abs=1e-15)
