"""Beside the ``SKF`` of hybrid-tools 0.1.0 on constant flow: the same estimates, to rounding.

Where they part, that filter is not Algorithm 1, and each difference has its test below:

- Its integration does not stop at an event, so the flow before one is given the noise and the
  Jacobian A of the whole timestep, W(h) in place of W(h_1), (4.16). With the stop put in (its guard
  functions marked ``terminal``) it agrees with ours. On constant flow A is the identity, and
  without process noise the two agree as they are.
- A measurement that pulls the mean into a guard has the reset and Xi applied, and the mode is not
  changed, line 19 of Algorithm 1: the next prediction has the wrong flow, and the next measurement
  applies Xi again. The trials here change it (``new_mode``).
- A measurement that puts the mean on the guard exactly is no transition to it, as it asks for g < 0
  where (4.2) has g <= 0. The next prediction makes up for it.
- It asks for no falling guard: where the flow leaves the guard it jumps all the same. On constant
  flow the guard always falls.
- An event is a change of sign: a mean that starts behind the guard never has one. Ours is taken
  through at once.
- A guard that is crossed twice in one timestep yields both states in one vector; ours has an event
  for each crossing. Constant flow crosses once.
"""

import numpy as np
import pytest
from hybrid_tools import SKF, HybridDynamicalSystem, ModeNoise, skf
from hybrid_tools.basic_hybrid_systems import simple_system
from numpy.testing import assert_allclose

from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.salted import SaltedKalmanFilter
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

PEER, NOTHING, EYE = simple_system(), np.zeros(0), np.eye(2)
MODES = {"I": LEFT, "J": RIGHT}
ROUNDING = {"rtol": 1e-11, "atol": 1e-11}
GUARDS = skf.solve_ivp_guard_funcs


def pair(x, Sigma, dt, Q, V):
    """Theirs and ours, with W = dt^2 Q and V, from one start."""
    noises = dict.fromkeys("IJ", ModeNoise(Q * EYE, V * EYE))
    system = HybridDynamicalSystem(PEER.dynamics, PEER.resets, PEER.guards, noises)
    theirs = SKF(x.copy(), "I", Sigma.copy(), dt, NOTHING, system)
    modes = (LEFT, RIGHT)
    model = FilterModel(
        constant_flow(),
        dict.fromkeys(modes, ProcessNoise(Q * EYE)),
        dict.fromkeys(modes, Measurement(lambda t, x, u: x.copy(), V * EYE)),
    )
    return theirs, SaltedKalmanFilter(model, LEFT, x, Sigma)


def trial(seed, dt, Q, V, steps):
    """Both filters' estimates at each step of one noisy trial of the thesis's (4.7.1)."""
    rng = np.random.default_rng(seed)
    truth = np.array([-2.5, 0.0]) + np.sqrt(0.1) * rng.normal(size=2)
    theirs, ours = pair(np.array([-2.5, 0.0]), 0.1 * EYE, dt, Q, V)
    for k in range(steps):
        slope = -1.0 if truth[0] < 0.0 else 1.0  # the trials need not be those of the system
        truth = truth + dt * (np.array([1.0, slope]) + np.sqrt(Q) * rng.normal(size=2))
        y = truth + np.sqrt(V) * rng.normal(size=2)
        theirs.predict(k * dt, np.zeros(2))
        theirs.update((k + 1) * dt, np.zeros(2), y)
        theirs._current_mode = new_mode(theirs)
        yield theirs, ours.step(NOTHING, y, dt)


def stopping_guards(*arguments):
    """Their guard functions, at which scipy's integration stops."""
    guards, modes = GUARDS(*arguments)
    for guard in guards:
        guard.terminal = True
    return guards, modes


def new_mode(theirs):
    """The mode that a measurement leaves, which ``SKF.update`` does not set."""
    return "J" if theirs.current_state[0] > 0.0 else theirs.current_mode


def assert_same(theirs, ours):
    assert MODES[theirs.current_mode] == ours.mode
    assert_allclose(ours.mean, theirs.current_state, **ROUNDING)
    assert_allclose(ours.Sigma, theirs.current_cov, **ROUNDING)


@pytest.mark.parametrize("dt", [5.0, 1.0, 0.1])
@pytest.mark.parametrize("Q", [0.1, 0.0])
@pytest.mark.parametrize("V", [1.0, 1e-4])
def test_the_same_estimates_once_its_integration_stops_at_events(monkeypatch, dt, Q, V):
    monkeypatch.setattr(skf, "solve_ivp_guard_funcs", stopping_guards)
    for seed in range(2):
        for theirs, ours in trial(seed, dt, Q, V, round(5.0 / dt)):
            assert_same(theirs, ours)
        assert ours.mode == RIGHT
