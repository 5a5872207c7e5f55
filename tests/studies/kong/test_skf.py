"""Chapter 4's filters on many trials: what single filters give, and what noise adds up to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx
from scipy.stats import binomtest

from saltation.filters.bank import SaltedBank
from saltation.filters.particle import ParticleFilter, ParticleOptions
from saltation.filters.salted import SaltedKalmanFilter
from studies.kong import skf, skf_aslip, skf_constant_flow
from studies.kong.skf import Level, aslip_problem, flow_problem, simulate_truths

NONE = np.zeros(0)
PROBLEMS = {
    "flow": flow_problem(Level(0.5, 0.01, 0.3), 3, 0),
    "aslip": aslip_problem(Level(0.03, 1e-2, 1e-3), 2, 0),
}
EVERY = pytest.mark.parametrize("name", PROBLEMS)


def single(name, make, trial):
    """Means of a single filter over a trial, in shared coordinates."""
    problem = PROBLEMS[name]
    one, start = make(problem), problem.start
    numbers = list(problem.model.system.modes)

    def shared(mode, x):
        return problem.coordinates[numbers.index(mode)](0.0, x, NONE)

    for y in trial:
        belief = one.step(NONE, y, problem.level.dt)
        yield one.mean_of(shared) if hasattr(one, "mean_of") else shared(belief.mode, belief.mean)
    assert start.mode == numbers[0]


def arguments(problem):
    start = problem.start
    return problem.model, start.mode, start.mean, start.Sigma


@EVERY
@pytest.mark.parametrize("sensitivity", ["saltation", "reset"])
def test_trials_are_single_kalman_filters(name, sensitivity):
    ys = simulate_truths(PROBLEMS[name], 1).measurements
    means, ok = skf.kalman(PROBLEMS[name], ys, sensitivity == "saltation", 2)
    found = single(name, lambda p: SaltedKalmanFilter(*arguments(p), 0.0, sensitivity), ys[1])
    assert_allclose(means[1, 1:], list(found), atol=1e-8)
    assert ok.all()


@pytest.mark.slow
@EVERY
def test_trials_are_single_banks_and_the_first_is_a_particle_filter(name):
    ys, options = simulate_truths(PROBLEMS[name], 1).measurements, ParticleOptions(50, seed=4)
    found = list(single(name, lambda p: SaltedBank(*arguments(p)), ys[1]))
    assert_allclose(skf.bank(PROBLEMS[name], ys)[1, 1:], found, rtol=1e-6, atol=1e-7)
    found = list(single(name, lambda p: ParticleFilter(*arguments(p), options=options), ys[0]))
    means = skf.particles(PROBLEMS[name], ys, options)
    assert_allclose(means[0, 1:], found, rtol=1e-7, atol=1e-7)


def test_the_flow_over_a_timestep_adds_w_and_another_disturbance_acts_after_a_transition():
    """h^2 Q a timestep; (4.12): with the event at h_1, x_2 has h_1^2 + h_2^2 of Q."""
    many, h = 4000, 0.5
    problem = flow_problem(Level(h, 0.3, 0.2), many, 0)._replace(steps=2)
    far = simulate_truths(problem._replace(states=np.tile([-9.0, 0.0], (many, 1))), 1)
    steps = np.diff(far.states, axis=1)
    assert_allclose(steps.mean(axis=0), [[h, -h]] * 2, atol=0.03)
    assert_allclose(np.cov(steps[:, 1].T), 0.3 * h**2 * np.eye(2), atol=0.01)
    noise = far.measurements - far.states[:, 1:]
    assert_allclose(np.cov(noise[:, 1].T), 0.2 * np.eye(2), atol=0.02)
    quiet = flow_problem(Level(1.0, 1e-3, 1.0), many, 0)._replace(steps=1)
    near = simulate_truths(quiet._replace(states=np.tile([-0.25, 0.0], (many, 1))), 2)
    assert (near.modes[:, 1] == 1).all()
    spread = np.var(near.states[:, 1, 1])
    assert spread == approx(1e-3 * (0.25**2 + 0.75**2 + 4.0 * 0.25**2), rel=0.15)


@given(st.lists(st.integers(-2, 2), max_size=40))
def test_sign_test_is_the_binomial_one_without_ties(differences):
    a, zero = np.array(differences, dtype=float), np.zeros(len(differences))
    smaller, larger = int(np.sum(a < 0)), int(np.sum(a > 0))
    wanted = binomtest(smaller, smaller + larger).pvalue if smaller + larger else 1.0
    assert skf.sign_test(a, zero) == approx(wanted, rel=1e-9) == skf.sign_test(-a, zero)


def test_grids_and_table_4_1_are_those_of_the_thesis():
    sizes = [np.prod([len(axis) for axis in each.GRID]) for each in (skf_constant_flow, skf_aslip)]
    assert sizes == [80, 36]
    assert all(each.met for each in skf_constant_flow.table_4_1())
