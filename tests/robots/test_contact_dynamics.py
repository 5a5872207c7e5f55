import numpy as np
import pinocchio as pin
import pytest

from robots.pinocchio_model import foot_frame_ids
from robots.state import difference, integrate
from tests.differences import slopes

SUBSETS = [np.array([float(mask >> i & 1) for i in range(4)]) for mask in range(16)]
DT = 0.01


def foot_jacobian(model, q, feet=range(4)):
    """Of the feet's centres in the world, three rows each."""
    data = model.createData()
    frames = [foot_frame_ids(model)[foot] for foot in feet]
    rows = [pin.computeFrameJacobian(model, data, q, f, pin.LOCAL_WORLD_ALIGNED) for f in frames]
    return np.vstack([J[:3] for J in rows])


@pytest.mark.parametrize("contacts", SUBSETS)
def test_step_derivatives_are_finite_differences(dynamics, random_state, contacts):
    """On repeated calls too: stale buffers would show in the second."""
    for _ in range(2):
        q, v, tau = random_state()
        A, B = np.empty((36, 36)), np.empty((36, 12))
        dynamics.step_derivatives_into(q, v, tau, contacts, DT, A, B)
        after = dynamics.step(q, v, tau, contacts, DT)

        def change(d, q=q, v=v, tau=tau, after=after):
            end = dynamics.step(*integrate(q, v, d[:36]), tau + d[36:], contacts, DT)
            return difference(*after, *end)

        found = slopes(change, np.zeros(48))
        assert np.abs(A - found[:, :36]).max() < 1e-7 * np.abs(A).max()
        assert np.abs(B - found[:, 36:]).max() < 1e-6 * np.abs(B).max()
