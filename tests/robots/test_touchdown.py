import numpy as np
import pytest
from pytest import approx

from robots.rotations import exp3
from robots.state import difference, integrate
from robots.touchdown import impact, touchdown
from tests.a1 import feet_in_world
from tests.differences import flow, slopes
from tests.robots.test_contact_dynamics import foot_jacobian

SOME = [(0, 0), (0, 3), (1, 3), (4, 1), (6, 0), (9, 2), (7, 3), (14, 0)]


def _vector(mask):
    return np.array([float(mask >> i & 1) for i in range(4)])


UP = np.array([0.0, 0.0, 1.0])
SLOPE = exp3(np.array([0.3, -0.5, 0.2])) @ UP


def _event(model, dynamics, random_state, mask, foot, normal=UP):
    """A random state in which the standing feet stand still and `foot` comes down briskly."""
    while True:
        q, v, tau = random_state()
        v = impact(dynamics, q, v, _vector(mask)).v_plus if mask else v
        down = normal @ foot_jacobian(model, q, [foot]) @ v
        if abs(down) > 0.8:
            return q, -np.sign(down) * v, tau


@pytest.mark.parametrize("normal", [UP, SLOPE])
@pytest.mark.parametrize("mask, foot", SOME)
def test_saltation_is_the_derivative_of_a_simulated_touchdown(
    model, dynamics, random_state, mask, foot, normal
):
    q, v, tau = _event(model, dynamics, random_state, mask, foot, normal)
    before, after = _vector(mask), _vector(mask | 1 << foot)
    hit = touchdown(dynamics, q, v, tau, before, foot, normal=normal)
    assert hit.normal_velocity == approx(normal @ foot_jacobian(model, q, [foot]) @ v)
    ground = normal @ feet_in_world(q)[foot]

    def end(dx):
        """Flow from the neighbour to its own touchdown, stop, and flow the same time back."""
        x, t = integrate(q, v, dx), 0.0
        for _ in range(6):  # Newton on the time of touchdown
            qt, vt = flow(dynamics, *x, tau, before, t)
            rate = normal @ foot_jacobian(model, qt, [foot]) @ vt
            t -= (normal @ feet_in_world(qt)[foot] - ground) / rate
        qt, vt = flow(dynamics, *x, tau, before, t)
        return flow(dynamics, qt, impact(dynamics, qt, vt, after).v_plus, tau, after, -t)

    fd = slopes(lambda dx: difference(q, hit.v_plus, *end(dx)), np.zeros(36), 3e-6)
    scale = np.abs(fd).max()
    assert np.abs(hit.saltation - fd).max() < 1e-5 * scale
    assert np.abs(hit.reset_jacobian - fd).max() > 1e-2 * scale  # D_xR alone is not it


def test_slow_and_rising_feet_divide_by_nothing(model, dynamics, random_state):
    q, v, tau = _event(model, dynamics, random_state, 0, 2)
    J_n = foot_jacobian(model, q, [2])[2]
    sliding = v - J_n * (J_n @ v) / (J_n @ J_n)
    for velocity in (sliding, -v, 0.0 * v):
        hit = touchdown(dynamics, q, velocity, tau, np.zeros(4), 2)
        assert not hit.transverse and not hit.guard_shift.any()
        assert np.all(np.isfinite(hit.saltation))
        assert np.all(hit.saltation == hit.reset_jacobian)
