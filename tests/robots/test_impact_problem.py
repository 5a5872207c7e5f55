import numpy as np
import pinocchio as pin
import pytest
from pytest import approx

from robots.conventions import FOOT_NAMES
from robots.impact_problem import contact_problem
from robots.pinocchio_model import foot_frame_ids
from robots.state import integrate
from tests.a1 import A1, STAND
from tests.refusals import refusal
from tests.tables import yaml_table


def _point(model, q, foot, offset):
    """Where a point of a foot lies that is `offset` from its centre, in the foot's axes."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[foot_frame_ids(model)[FOOT_NAMES.index(foot)]].act(offset)


def test_the_jacobians_are_differences_of_the_lowest_points(model, random_state):
    """Of the material point that is lowest now, in any attitude."""
    feet, h = ("RL", "FR"), 1e-6
    for _ in range(5):
        q, v, _ = random_state()
        problem = contact_problem(A1, q, feet, directions=4)
        for i, foot in enumerate(feet):
            data = model.createData()
            pin.framesForwardKinematics(model, data, q)
            frame = data.oMf[foot_frame_ids(model)[FOOT_NAMES.index(foot)]]
            offset = frame.rotation.T @ np.array([0.0, 0.0, -A1.legs.foot_radius])
            steps = [integrate(q, v, s * h * np.append(v, np.zeros(18)))[0] for s in (1.0, -1.0)]
            ahead, behind = (_point(model, step, foot, offset) for step in steps)
            rate = (ahead - behind) / (2.0 * h)
            assert problem.J_n[i] @ v == approx(rate[2], abs=1e-7)
            along = np.array([rate[0], rate[1], -rate[0], -rate[1]])
            assert problem.J_D[4 * i : 4 * i + 4] @ v == approx(along, abs=1e-7)


def test_the_inertia_is_the_one_that_the_robot_accelerates_with(model, random_state):
    """M (a(tau) - a(0)) = tau, the rotors' inertia included."""
    q, v, tau = random_state()
    M = contact_problem(A1, q, ("FL",)).M
    forces = [np.zeros(18), np.append(np.zeros(6), tau)]
    slow, fast = (pin.aba(model, model.createData(), q, v, force).copy() for force in forces)
    assert M @ (fast - slow) == approx(forces[1], abs=1e-9)


@pytest.mark.parametrize("change, feet, says", yaml_table("""
    {} => [] => no foot is in contact
    {} => [FR, FX] => "'FX'; name FR, FL, RR, RL"
    {} => [FR, FR] => named twice
    {6: 2.0} => [FR] => quaternion has length 2
    {8: .nan} => [FR] => 19 finite numbers
    {9: 0.0} => [FL, FR] => leg FR (hip 0.000
"""))  # fmt: skip
def test_what_is_no_impact_is_refused_in_one_line(model, change, feet, says):
    q = STAND.copy()
    for place, value in change.items():
        q[place] = value
    assert says in refusal(ValueError, contact_problem, A1, q, feet)
