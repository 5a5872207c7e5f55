"""The convergent-hybrid study, in fewer timesteps and from fewer starts."""

from dataclasses import replace

import numpy as np
import pytest

from studies.kong import convergent_hybrid as study
from studies.kong.convergent_hybrid import (
    BALL,
    HOPPER,
    SPREAD,
    area_ratio,
    circle_starts,
    gaussian_starts,
    perturbed,
    row,
)
from studies.study import StudyOptions

TRIALS = 6
REDUCED = (replace(BALL, steps=44), replace(HOPPER, steps=45))


@pytest.fixture(scope="module")
def groups():
    return [study.measure_task(task, StudyOptions(trials=TRIALS)) for task in REDUCED]


@pytest.fixture(scope="module")
def rows(groups):
    return [row(one, group[0].plan) for group in groups for one in group]


def by_system(rows):
    for task in REDUCED:
        yield {one["plan"]: one for one in rows if one["system"] == task.name}


@pytest.mark.slow
def test_perturbed_starts_end_closer_together_with_the_cost_than_without(rows):
    for plans in by_system(rows):
        plain, convergent = plans["plain"], plans["convergent"]
        assert plain["status"] == convergent["status"] == "converged"
        assert convergent["trace"] < 0.6 * plain["trace"]
        assert convergent["mean_distance"] < plain["mean_distance"]
        assert convergent["phi_norm"] < 0.8 * plain["phi_norm"]
        assert convergent["extra_effort"] > 0.0 == plain["extra_effort"]
        assert convergent["events"] == plain["events"] and len(plain["events"]) >= 4
        np.testing.assert_allclose(convergent["end"], plain["end"], atol=0.01)


@pytest.mark.slow
def test_reset_jacobians_in_place_of_saltation_matrices_buy_little_or_harm(rows):
    for plans in by_system(rows):
        assert plans["dxr"]["trace"] > 1.4 * plans["convergent"]["trace"]


def test_an_lqr_on_the_hoppers_convergent_plan_has_less_left_to_do(rows):
    *_, plans = by_system(rows)
    assert plans["convergent"]["lqr_trace_ratio"] < 0.5 * plans["plain"]["lqr_trace_ratio"]
    assert plans["convergent"]["lqr_effort"] < plans["plain"]["lqr_effort"]


def test_small_starts_end_where_phi_says(groups):
    """W dx_N = W Phi V V^-1 dx_0 to first order."""
    for group in groups:
        for one in group:
            starts = gaussian_starts(3, 1, scale=1e-3)
            wanted = gaussian_starts(3, 1, scale=1e-3) @ np.diag([1.0, 0.2]) / SPREAD
            ends = perturbed(one.plan, starts).end
            np.testing.assert_allclose(
                ends, wanted @ one.plan.perturbations[-1].T, atol=1e-3 * SPREAD * 0.05
            )


def test_an_unperturbed_start_stays_on_the_plan_with_feedback_and_without(groups):
    plan = groups[1][1].plan
    for feedback in (False, True):
        ends = perturbed(plan, np.zeros((1, 2)), feedback=feedback)
        assert ends.same_events == 1.0 and ends.failed == 0
        np.testing.assert_allclose(ends.deviations, 0.0, atol=1e-9)
        assert ends.added_effort(plan) == pytest.approx(0.0, abs=1e-12)


def test_the_ball_keeps_its_areas(rows):
    """|det Phi| = e^4 after two bounces, whatever the plan; the hull of a circle shrinks so."""
    for one in rows[:3]:
        assert one["phi_det"] == pytest.approx(0.75**4, rel=1e-6)
        assert one["area_ratio"] == pytest.approx(0.75**4, rel=1e-2)


def test_an_unmoved_circle_has_the_area_ratio_one(groups):
    one = groups[0][0]
    moved = circle_starts() @ np.diag([1.0, 0.2])
    deviations = np.repeat(moved[:, None], 2, axis=1)
    assert area_ratio(one.circle._replace(deviations=deviations)) == pytest.approx(1.0)
    assert area_ratio(one.circle._replace(deviations=0.0 * deviations)) == 0.0


def test_starts_are_the_same_for_the_same_seed():
    np.testing.assert_array_equal(gaussian_starts(5, 3), gaussian_starts(9, 3)[:5])
    assert not np.array_equal(gaussian_starts(5, 3), gaussian_starts(5, 4))


def test_figures_rows_and_criteria(groups):
    result = study.report(groups, StudyOptions(trials=TRIALS))
    assert [one["plan"] for one in result.rows] == ["plain", "convergent", "dxr"] * 2
    assert len(result.criteria) == 4 and all(each.met for each in result.criteria)
    for name in ("bouncing-ball", "hopper"):
        assert len(result.figures[f"trajectories-{name}"].axes) == 6
        assert len(result.figures[f"ends-{name}"].axes) == 4


@pytest.mark.slow
def test_full_adds_weights_and_wider_starts(groups):
    result = study.report(groups[:1], StudyOptions(trials=3, full=True))
    assert "trade-off" in result.figures
    assert [row["scale"] for row in result.rows[-4:]] == [2.0, 2.0, 4.0, 4.0]
    assert [row["weight"] for row in result.rows[3:-4]] == list(study.WEIGHTS)
