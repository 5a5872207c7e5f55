"""Chapter 4's filters on many trials: what single filters give, and what noise adds up to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx
from scipy.stats import binomtest

from saltation.filters.bank import SaltedBank
from saltation.filters.particle import ParticleFilter, ParticleOptions
from saltation.filters.salted import SaltedKalmanFilter
from studies.kong import skf, skf_aslip, skf_constant_flow, skf_particles
from studies.kong.skf import Level, aslip_problem, flow_problem, simulate_truths
from studies.study import StudyOptions

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


def test_threads_and_other_trials_change_nothing():
    problem = PROBLEMS["flow"]
    fewer = problem._replace(states=problem.states[:2])
    one, few = simulate_truths(problem, 1, 1), simulate_truths(fewer, 1, 2)
    assert_array_equal(one.states[:2], few.states)
    assert_array_equal(one.measurements, simulate_truths(problem, 1, 3).measurements)
    assert_array_equal(
        skf.kalman(problem, one.measurements, True, 3)[0],
        skf.kalman(problem, one.measurements, True, 1)[0],
    )


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


def test_skf_is_better_on_a_clear_set_and_neither_where_measurements_say_all():
    results = {}
    for grid in (((1.0,), (0.001,), (0.1,)), ((5.0,), (0.1,), (0.0001,))):
        level = Level(*(each[0] for each in grid))
        options = StudyOptions(trials=400, seed=1)
        found = skf.compare_all(options, flow_problem, grid, 1, level, ("a", "b"), (0, 1))
        assert set(found.figures) == {"trial"}
        results[level.dt] = found.rows[0]
    assert results[1.0]["better"] == "skf" and results[5.0]["better"] == "tie"
    assert results[1.0]["mse_skf"] < 0.95 * results[1.0]["mse_jrkf"]


def test_aslip_hops_twice_from_its_constraint_and_the_skf_is_better():
    grid = (0.03,), (0.001,), (0.005,)
    options, shown = StudyOptions(trials=6, seed=2), Level(0.03, 0.001, 0.005)
    (row,) = skf.compare_all(options, aslip_problem, grid, 1, shown, ("x", "z"), (0, 1)).rows
    assert row["better"] == "skf" and row["mse_skf"] < row["mse_jrkf"] and row["lost"] == 0
    problem = PROBLEMS["aslip"]
    assert np.linalg.matrix_rank(problem.start.Sigma, tol=1e-9) == 6 and problem.steps == 41
    modes = simulate_truths(problem, 1).modes
    assert (np.sum(np.diff(modes) != 0, axis=1) == 4).all()


def test_grids_and_table_4_1_are_those_of_the_thesis():
    sizes = [np.prod([len(axis) for axis in each.GRID]) for each in (skf_constant_flow, skf_aslip)]
    assert sizes == [80, 36]
    assert all(each.met for each in skf_constant_flow.table_4_1())


def test_particles_repeat_and_more_of_them_do_better():
    case = skf_particles.FLOW._replace(sizes=(10, 200), level=Level(0.5, 0.01, 1.0))
    one, other = (skf_particles.rows_of(case, 4, 3) for _ in range(2))
    assert [row["mse"] for row in one] == [row["mse"] for row in other]
    assert [row["filter"] for row in one] == ["skf", "jrkf", "bank", "particles", "particles"]
    assert one[-1]["mse"] < one[-2]["mse"] and one[0]["mse_over_skf"] == 1.0
