"""The set-valued impact law: energy, termination, its special cases, and repeatability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from saltation.impacts.impact_lcp import step_matrix
from saltation.impacts.lemke import solve_lcp
from saltation.impacts.resolution import simultaneous
from saltation.impacts.sampling import SamplingOptions, sample_impacts
from tests.saltation.impacts.drawn_problems import drawn

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 3), st.booleans())
def test_every_sample_ends_without_gaining_energy(seed, m, spatial):
    """Theorems 7 and 8."""
    problem, v = drawn(seed, m=m, spatial=spatial)
    found = sample_impacts(problem, v, SamplingOptions(40, 0.5, seed=seed))
    assert found.terminated.all()
    assert found.energy_growth < 1e-9
    assert found.failures == {}
    assert (found.outcomes @ problem.J_n.T >= -1e-9).all()
    assert max(map(problem.kinetic_norm, found.v_plus)) <= problem.kinetic_norm(v) * (1 + 1e-9)


@given(SEEDS)
def test_a_step_keeps_its_bounds_and_coulombs_law(seed):
    """(72): normal impulses within bounds, none where a contact separates, friction in (20)."""
    problem, v = drawn(seed)
    m = problem.count
    bound = np.random.default_rng(seed).random(m)
    z = solve_lcp(step_matrix(problem), np.concatenate([bound, problem.J_bar @ v, np.zeros(m)])).z
    _, normal, friction = z[:m], z[m : 2 * m], z[2 * m : 4 * m].reshape(m, 2)
    after = v + problem.velocity_by_impulse @ z[m : 4 * m]
    assert (normal <= bound + 1e-9).all()
    assert (normal * (problem.J_n @ after) <= 1e-9).all()
    assert (friction.sum(axis=1) <= problem.mu * normal + 1e-9).all()
    slip = (problem.J_D @ after).reshape(m, 2)
    power = (friction * slip).sum(axis=1)
    assert_allclose(power, -problem.mu * normal * np.abs(slip).max(axis=1), atol=1e-8)


@given(SEEDS)
def test_one_contact_is_rouths_and_has_one_outcome(seed):
    """Section 3.2: with one contact the law is Routh's, whose outcome in the plane is unique."""
    problem, v = drawn(seed, m=1)
    impulse = -(problem.J_n[0] @ v) / (problem.J_n[0] @ problem.velocity_by_impulse[:, 0])
    fine = SamplingOptions(20, 0.02 * impulse, max_steps=10_000, seed=seed)
    found, expected = sample_impacts(problem, v, fine), routh(problem, v, 1e-3 * impulse)
    assert found.terminated.all()
    near = 0.03 * np.abs(v).max()
    assert_allclose(found.v_plus, np.tile(expected, (20, 1)), atol=near)


def routh(problem, v, step):
    """Routh's method (36) by small explicit steps."""
    v = v.copy()
    by_normal, by_tangent = problem.velocity_by_impulse[:, 0], problem.velocity_by_impulse[:, 1]
    tangent = problem.J_D[0]
    while problem.J_n[0] @ v < 0.0:
        sliding = v + step * (by_normal - problem.mu[0] * np.sign(tangent @ v) * by_tangent)
        if (tangent @ sliding) * (tangent @ v) > 0.0:
            v = sliding
            continue
        pull = -(tangent @ (v + step * by_normal)) / (tangent @ by_tangent)
        pull = np.clip(pull, -problem.mu[0] * step, problem.mu[0] * step)
        v = v + step * by_normal + pull * by_tangent
    return v


@pytest.mark.parametrize("mu", [0.0, 1e3, 1e5, 1e8])
@pytest.mark.parametrize("spatial", [False, True])
def test_any_friction_ends_without_gain_and_is_seldom_spoilt_by_rounding(mu, spatial):
    problem, v = drawn(3, n=6, m=3, friction=mu, spatial=spatial)
    found = sample_impacts(problem, v, SamplingOptions(1000, 0.5))
    assert found.terminated.all()
    assert found.energy_growth < 1e-12
    assert sum(found.failures.values()) <= (0.05 if mu <= 1e5 else 0.5) * found.lcps.sum()
    assert simultaneous(problem, v).ok


def test_threads_do_not_change_the_samples():
    problem, v = drawn(7)
    options = {"samples": 20_000, "step": 0.3, "seed": 4}
    one = sample_impacts(problem, v, SamplingOptions(**options, threads=1))
    three = sample_impacts(problem, v, SamplingOptions(**options, threads=3))
    assert np.array_equal(one.v_plus, three.v_plus)
    assert np.array_equal(one.lcps, three.lcps)


def test_an_impact_that_runs_out_of_steps_is_told_with_its_configuration():
    problem, v = drawn(13)
    found = sample_impacts(problem, v, SamplingOptions(50, 1e-3, max_steps=3, epsilon=1e-6))
    assert not found.terminated.any()
    assert found.outcomes.shape == (0, 4)
    assert set(found.lcps) == {4}  # three steps and the last one of Algorithm 2
    assert all(word in found.message for word in ("drawn on A, B", "50 of 50", "max_steps"))


@pytest.mark.parametrize(
    "change",
    [
        {"samples": 0},
        {"samples": 1.5},
        {"step": 0.0},
        {"step": np.nan},
        {"max_steps": 0},
        {"max_steps": None},
        {"threads": 0},
        {"seed": -1},
        {"seed": np.nan},
    ],
)
def test_options_that_cannot_be_sampled_are_refused(change):
    with pytest.raises(ValueError, match="give a (whole|finite) number"):
        SamplingOptions(**{"samples": 1, "step": 0.1, **change})
