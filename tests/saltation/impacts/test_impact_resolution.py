"""Impacts with one outcome: Anitescu and Potra at once, and one contact after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltation.impacts.resolution import all_simultaneous, sequential, simultaneous
from tests.saltation.impacts.drawn_problems import drawn, wedge

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 3), st.booleans())
def test_all_at_once_separates_and_dissipates(seed, m, spatial):
    problem, v = drawn(seed, m=m, spatial=spatial)
    hit = simultaneous(problem, v)
    assert hit.ok
    assert not problem.is_colliding(hit.v_plus, 1e-7)
    assert problem.kinetic_energy(hit.v_plus) <= problem.kinetic_energy(v) + 1e-9


@given(SEEDS)
def test_without_friction_all_at_once_is_the_projection_onto_the_feasible_velocities(seed):
    """Moreau's inelastic impact: the unique feasible velocity that is nearest in the metric."""
    problem, v = drawn(seed, friction=0.0)
    (outcome,) = all_simultaneous(problem, v)
    rng = np.random.default_rng(seed)
    distance = problem.kinetic_norm(outcome.v_plus - v)
    for other in rng.normal(size=(200, problem.dim)) + outcome.v_plus:
        if (problem.J_n @ other >= 0.0).all():
            assert problem.kinetic_norm(other - v) >= distance - 1e-9


@given(SEEDS, st.integers(1, 3))
def test_one_after_another_separates_and_every_impact_dissipates(seed, m):
    problem, v = drawn(seed, m=m)
    hit = sequential(problem, v, range(m))
    assert hit.ok
    energy = [problem.kinetic_energy(u) for u in hit.path]
    assert (np.diff(energy) <= 1e-9).all()
    assert np.array_equal(hit.path[0], v)
    assert np.array_equal(hit.path[-1], hit.v_plus)


def test_two_walls_that_close_for_ever_are_a_status():
    """Frictionless walls at a small angle: single inelastic impacts go to and fro."""
    hit = sequential(wedge(1e-3, 0.0), np.array([0.3, -1.0]), (0, 1), max_impacts=50)
    assert hit.status == "step_limit"
    assert len(hit.path) == 51
    assert all(word in hit.message for word in ("wedge", "50", "max_impacts"))


@pytest.mark.parametrize(
    "law, words",
    [
        (lambda p, v: simultaneous(p, v[:2]), "velocity .* 4 finite"),
        (lambda p, v: all_simultaneous(p, v * np.nan), "velocity .* 4 finite"),
        (lambda p, v: sequential(p, v[:2], (0, 1)), "velocity .* 4 finite"),
        (lambda p, v: sequential(p, v, (0,)), "order .* 2 contacts"),
        (lambda p, v: sequential(p, v, (0, 1, 2)), "order .* 2 contacts"),
        (lambda p, v: sequential(p, v, ()), "order .* 2 contacts"),
        (lambda p, v: sequential(p, v, (0, 1), np.nan), "max_impacts .* > 0"),
        (lambda p, v: sequential(p, v, (0, 1), 0), "max_impacts .* > 0"),
        (lambda p, v: sequential(p, v, (0, 1), 1.5), "max_impacts .* > 0"),
    ],
)
def test_what_is_no_impact_is_refused_by_name(law, words):
    with pytest.raises(ValueError, match=f"drawn: {words}"):
        law(*drawn(1))
