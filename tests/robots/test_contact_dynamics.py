import numpy as np
import pinocchio as pin
import pytest

from robots.contact_set import mask_of
from robots.conventions import GRAVITY
from robots.pinocchio_model import foot_frame_ids
from robots.state import difference, integrate
from tests.a1 import A1

SUBSETS = [np.array([float(mask >> i & 1) for i in range(4)]) for mask in range(16)]
DT = 0.01


def _foot_jacobian(model, q):
    data = model.createData()
    frames = foot_frame_ids(model)
    columns = [pin.computeFrameJacobian(model, data, q, f, pin.LOCAL_WORLD_ALIGNED) for f in frames]
    return np.vstack([J[:3] for J in columns])


@pytest.mark.parametrize("contacts", SUBSETS)
def test_newton_and_the_contact_constraint_hold(model, dynamics, random_state, contacts):
    q, v, tau = random_state()
    a, forces = dynamics.acceleration(q, v, tau, contacts)
    data = model.createData()
    J = _foot_jacobian(model, q)
    residual = pin.rnea(model, data, q, v, a) - J.T @ forces.ravel()
    residual[6:] -= tau
    assert np.abs(residual).max() < 1e-9
    assert np.all(forces[contacts == 0.0] == 0.0)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    for foot in np.flatnonzero(contacts):
        frame = foot_frame_ids(model)[foot]
        motion = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        assert np.abs(motion.linear).max() < 1e-8


@pytest.mark.parametrize("contacts", SUBSETS)
def test_step_derivatives_are_finite_differences(dynamics, random_state, contacts):
    """On repeated calls too: stale buffers would show in the second."""
    for _ in range(2):
        q, v, tau = random_state()
        A, B = dynamics.step_derivatives(q, v, tau, contacts, DT)
        after = dynamics.step(q, v, tau, contacts, DT)

        def change(dx, dtau, q=q, v=v, tau=tau, after=after):
            return difference(
                *after, *dynamics.step(*integrate(q, v, dx), tau + dtau, contacts, DT)
            )

        h, none, still = 1e-6, np.zeros(12), np.zeros(36)
        A_fd = np.array([change(h * e, none) - change(-h * e, none) for e in np.eye(36)]).T
        B_fd = np.array([change(still, h * e) - change(still, -h * e) for e in np.eye(12)]).T
        assert np.abs(A - A_fd / (2 * h)).max() < 1e-7 * np.abs(A).max()
        assert np.abs(B - B_fd / (2 * h)).max() < 1e-6 * np.abs(B).max()


def test_acceleration_derivatives_fit_the_step(dynamics, random_state):
    q, v, tau = random_state()
    contacts = [1.0, 0.0, 0.0, 1.0]
    a, a_q, a_v, a_tau = dynamics.acceleration_derivatives(q, v, tau, contacts)
    A, B = dynamics.step_derivatives(q, v, tau, contacts, DT)
    assert np.all(a == dynamics.acceleration(q, v, tau, contacts)[0])
    assert A[18:] == pytest.approx(np.hstack((DT * a_q, np.eye(18) + DT * a_v)), abs=1e-12)
    assert B[18:] == pytest.approx(DT * a_tau, abs=1e-12)


def test_step_is_semi_implicit_euler_of_first_order(dynamics, random_state):
    q, v, tau = random_state()
    contacts = np.array([0.0, 1.0, 1.0, 0.0])
    a, _ = dynamics.acceleration(q, v, tau, contacts)
    q1, v1 = dynamics.step(q, v, tau, contacts, DT)
    assert v1 == pytest.approx(v + DT * a, abs=0)
    assert difference(q, v, q1, v1)[:18] == pytest.approx(DT * v1, abs=1e-14)
    exact = _flow(dynamics, q, v, tau, contacts, 2000)
    errors = [
        np.abs(difference(*exact, *_flow(dynamics, q, v, tau, contacts, n))).max() for n in (10, 20)
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)


def _flow(dynamics, q, v, tau, contacts, steps, duration=0.02):
    for _ in range(steps):
        q, v = dynamics.step(q, v, tau, contacts, duration / steps)
    return q, v


def test_free_flight_falls_with_gravity_and_keeps_its_angular_momentum(
    model, dynamics, random_state
):
    q, v, tau = random_state()
    a, _ = dynamics.acceleration(q, v, tau, np.zeros(4))
    data = model.createData()
    rate = pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    weight = [0.0, 0.0, -A1.mass * GRAVITY]
    assert rate.linear == pytest.approx(weight, abs=1e-9)
    assert rate.angular == pytest.approx(np.zeros(3), abs=1e-9)


def test_balanced_forces_are_found_again_and_nothing_moves(model, dynamics):
    q = np.concatenate(([0, 0, A1.stand_height, 0, 0, 0, 1], A1.stand))
    J = _foot_jacobian(model, q)
    gravity = pin.computeGeneralizedGravity(model, model.createData(), q)
    balanced = np.linalg.lstsq(J[:, :6].T, gravity[:6], rcond=None)[0]
    tau = (gravity - J.T @ balanced)[6:]
    a, forces = dynamics.acceleration(q, np.zeros(18), tau, np.ones(4))
    assert np.abs(a).max() < 1e-8
    assert forces.ravel() == pytest.approx(balanced, abs=1e-7)
    assert forces[:, 2].sum() == pytest.approx(A1.mass * GRAVITY, rel=1e-9)


def test_results_are_new_arrays(dynamics, random_state):
    q, v, tau = random_state()
    first, forces = dynamics.acceleration(q, v, tau, np.ones(4))
    kept, kept_forces = first.copy(), forces.copy()
    A, _ = dynamics.step_derivatives(q, v, tau, np.ones(4), DT)
    kept_A = A.copy()
    other = random_state()
    dynamics.step_derivatives(*other, np.ones(4), DT)
    assert np.all(first == kept) and np.all(forces == kept_forces) and np.all(A == kept_A)


def test_masks_read_arrays_lists_and_probabilities():
    assert mask_of([1, 0, 0, 1]) == 9
    assert mask_of(np.array([0.4, 0.6, 0.0, 1.0])) == 10
    assert mask_of((True, False, True, False)) == 5
