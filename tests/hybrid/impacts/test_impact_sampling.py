"""The set-valued impact law: energy, termination, its special cases, and repeatability."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid.impacts import sampling
from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.impact_lcp import step_matrix
from hybrid.impacts.lemke import solve_lcp
from hybrid.impacts.resolution import sequential, simultaneous
from hybrid.impacts.sampling import SamplingOptions, sample_impacts, sample_paths
from studies.halm_posa.systems import ramone, rocking_block
from tests.hybrid.impacts.drawn_problems import drawn

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
    np.testing.assert_allclose(power, -problem.mu * normal * np.abs(slip).max(axis=1), atol=1e-8)


@given(SEEDS)
def test_one_contact_is_rouths_and_has_one_outcome(seed):
    """Section 3.2: with one contact the law is Routh's, whose outcome in the plane is unique."""
    problem, v = drawn(seed, m=1)
    impulse = -(problem.J_n[0] @ v) / (problem.J_n[0] @ problem.velocity_by_impulse[:, 0])
    fine = SamplingOptions(20, 0.02 * impulse, max_steps=10_000, seed=seed)
    found, expected = sample_impacts(problem, v, fine), routh(problem, v, 1e-3 * impulse)
    assert found.terminated.all()
    near = 0.03 * np.abs(v).max()
    np.testing.assert_allclose(found.v_plus, np.tile(expected, (20, 1)), atol=near)


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


@given(SEEDS)
def test_contacts_that_are_orthogonal_in_the_kinetic_metric_have_one_outcome(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    M = A @ A.T + 0.3 * np.eye(3)
    L = np.linalg.cholesky(M)
    normals = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2] @ L.T  # u M^-1 v' = 0
    problem = ContactProblem.planar(M, normals, np.ones((2, 3)), 0.0, ("A", "B"))
    v = np.linalg.solve(L.T, rng.normal(size=3))
    found = sample_impacts(problem, v, SamplingOptions(30, 0.4, seed=seed))
    together = simultaneous(problem, v).v_plus
    np.testing.assert_allclose(found.v_plus, np.tile(together, (30, 1)), atol=1e-8)


def test_steps_grow_with_speed_over_step_size():
    """Theorem 8: linear in |v|, and in 1 / h."""
    problem, v = drawn(3)
    mean = [sample_impacts(problem, s * v, SamplingOptions(400, h)).lcps.mean()
            for s, h in ((1.0, 0.05), (2.0, 0.05), (1.0, 0.025))]  # fmt: skip
    assert mean[1] == pytest.approx(2.0 * mean[0], rel=0.15)
    assert mean[2] == pytest.approx(2.0 * mean[0], rel=0.15)


def test_scaling_velocity_and_step_scales_every_outcome():
    """Lemma 11: the law is homogeneous."""
    problem, v = drawn(5)
    one = sample_impacts(problem, v, SamplingOptions(100, 0.1))
    ten = sample_impacts(problem, 10.0 * v, SamplingOptions(100, 1.0))
    np.testing.assert_allclose(ten.v_plus, 10.0 * one.v_plus, atol=1e-7)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6])
def test_a_body_of_any_mass_has_the_same_outcomes_for_impulses_of_its_size(size):
    """Of a milligram, say, whose impulses must not be taken for rounding."""
    problem, v = drawn(5, m=3, spatial=True)
    scaled = replace(problem, M=size * problem.M)
    one = sample_impacts(problem, v, SamplingOptions(100, 0.1))
    other = sample_impacts(scaled, v, SamplingOptions(100, 0.1 * size))
    np.testing.assert_allclose(other.v_plus, one.v_plus, atol=1e-7)
    assert other.failures == {}
    np.testing.assert_allclose(
        simultaneous(scaled, v).v_plus, simultaneous(problem, v).v_plus, atol=1e-9
    )


@pytest.mark.parametrize("mu", [0.0, 1e3, 1e5, 1e8])
@pytest.mark.parametrize("spatial", [False, True])
def test_any_friction_ends_without_gain_and_is_seldom_spoilt_by_rounding(mu, spatial):
    problem, v = drawn(3, n=6, m=3, friction=mu, spatial=spatial)
    found = sample_impacts(problem, v, SamplingOptions(1000, 0.5))
    assert found.terminated.all()
    assert found.energy_growth < 1e-12
    assert sum(found.failures.values()) <= (0.05 if mu <= 1e5 else 0.5) * found.lcps.sum()
    assert simultaneous(problem, v).ok


def test_contacts_that_repeat_one_another_are_no_obstacle():
    """Five contacts whose normals span two dimensions."""
    problem, v = drawn(2, n=6, m=5, friction=2.0)
    rank_2 = np.random.default_rng(0).random((5, 2)) @ problem.J_n[:2]
    found = sample_impacts(replace(problem, J_n=rank_2), v, SamplingOptions(200, 0.5))
    assert found.terminated.all()
    assert found.energy_growth < 1e-12
    assert found.failures == {}


def test_threads_do_not_change_the_samples():
    problem, v = drawn(7)
    options = {"samples": 20_000, "step": 0.3, "seed": 4}
    one = sample_impacts(problem, v, SamplingOptions(**options, threads=1))
    three = sample_impacts(problem, v, SamplingOptions(**options, threads=3))
    assert np.array_equal(one.v_plus, three.v_plus)
    assert np.array_equal(one.lcps, three.lcps)


def test_degenerate_steps_are_counted():
    """Two equal contacts that close equally fast, without friction: every ratio comes twice."""
    twins = ContactProblem.planar(np.eye(2), np.eye(2), np.eye(2)[::-1], 0.0, ("A", "B"))
    tied = sample_impacts(twins, -np.ones(2), SamplingOptions(10, 1e6, random_covering=False))
    assert tied.degenerate == tied.lcps.sum() == 10
    apart = sample_impacts(twins, np.ones(2), SamplingOptions(10, 5.0))
    assert apart.degenerate == 0


def test_paths_begin_at_the_velocity_and_lose_energy_all_the_way():
    problem, v = drawn(9)
    for path in sample_paths(problem, v, SamplingOptions(20, 0.2)):
        assert np.array_equal(path[0], v)
        energy = [problem.kinetic_energy(u) for u in path]
        assert (np.diff(energy) <= 1e-9).all()
        assert not problem.is_colliding(path[-1])


def test_a_velocity_that_separates_is_left_alone():
    problem, v = drawn(11)
    apart = np.abs(v) * np.array([10.0, 0.0, 0.0, 0.0])
    found = sample_impacts(problem, apart, SamplingOptions(5, 0.2))
    assert np.array_equal(found.v_plus, np.tile(apart, (5, 1)))
    assert not found.lcps.any()


def test_an_impact_that_runs_out_of_steps_is_told_with_its_configuration():
    problem, v = drawn(13)
    found = sample_impacts(problem, v, SamplingOptions(50, 1e-3, max_steps=3, epsilon=1e-6))
    assert not found.terminated.any()
    assert found.outcomes.shape == (0, 4)
    assert set(found.lcps) == {4}  # three steps and the last one of Algorithm 2
    assert found.message.startswith("drawn on A, B at v = [")
    assert "50 of 50 samples still collide after 3 steps of up to 0.001 N s" in found.message
    assert "raise max_steps" in found.message


def test_a_body_jammed_between_walls_is_told_from_one_that_needs_more_steps():
    """(24) fails: squeezed from both sides, with more friction than the wedge is steep."""
    walls, along = np.array([[1.0, 0.1], [-1.0, 0.1]]), np.array([[-0.1, 1.0], [0.1, 1.0]])
    jammed = ContactProblem.planar(np.eye(2), walls, along, 2.0, ("left", "right"), "jammed")
    found = sample_impacts(jammed, np.array([0.0, -1.0]), SamplingOptions(20, 1e-4, max_steps=5))
    assert "its friction cone is not pointed (24)" in found.message


def test_algorithm_2_ends_what_is_within_its_tolerance():
    problem, v = drawn(13)
    many = SamplingOptions(50, 1e-3, max_steps=3, epsilon=1e4)
    found = sample_impacts(problem, v, many)
    assert found.terminated.all()
    assert found.message == ""


def test_sequences_of_single_impacts_bound_the_samples_of_the_block():
    """Fig. 9: the sampled set comes near every named outcome of the rocking block."""
    problem, v = rocking_block.problem(), rocking_block.velocity()
    found = sample_impacts(problem, v, SamplingOptions(2**14, 0.3))
    named = [sequential(problem, v, order) for order in ((0, 1), (1, 0))]
    for outcome in (*named, simultaneous(problem, v)):
        nearest = min(map(problem.kinetic_norm, found.v_plus - outcome.v_plus))
        assert nearest < 0.01 * problem.kinetic_norm(v)


def wide_covering(tables, count, options, rng):
    return tables.floor * np.exp(3.0 * rng.normal(size=(count, tables.size)))


def test_covering_vectors_of_any_scale_give_no_outcome_with_more_energy(monkeypatch):
    """RAMone's friction of 1e5 makes some LCPs so ill-conditioned that their vertices are wrong."""
    monkeypatch.setattr(sampling, "_cover", wide_covering)
    found = sample_impacts(ramone.problem(), ramone.velocity(), SamplingOptions(2**14, 1.0))
    assert found.failures["inaccurate"] > 0
    assert found.energy_growth < 1e-9
    assert found.terminated.all()
    assert "LCPs were not solved (inaccurate)" in found.message


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
    with pytest.raises(ValueError, match="give a (whole )?number"):
        SamplingOptions(**{"samples": 1, "step": 0.1, **change})


def test_a_velocity_of_another_dimension_is_refused():
    problem, v = drawn(1)
    for wrong in (v[:2], v * np.nan):
        with pytest.raises(ValueError, match="drawn: velocity .* is not 4 finite numbers"):
            sample_impacts(problem, wrong, SamplingOptions(1, 0.1))
