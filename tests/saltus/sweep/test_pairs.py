"""Planners trial by trial: counts, p values against scipy's, and Holm's correction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx
from scipy.stats import binomtest, wilcoxon

from saltus.sweep.pairs import holm, pair_up
from tests.saltus.sweep.test_summary import row as summary_row


def row(planner, trial, fell=False, deviation=0.2, **more):
    return summary_row(planner, "g", fell, deviation=deviation) | {"trial": trial} | more


def test_holm_on_a_worked_example():
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("ours, theirs", [(6, 0), (5, 2), (0, 3), (0, 0)])
def test_trials_that_only_one_passed_are_counted(ours, theirs):
    rows = [row("hilqr", k, fell=k < theirs) for k in range(20)]
    rows += [row("mppi", k, fell=theirs <= k < theirs + ours) for k in range(20)]
    (pairing,) = pair_up(rows)
    assert (pairing.planner, pairing.rival, pairing.trials) == ("hilqr", "mppi", 20)
    assert (pairing.only_planner, pairing.only_rival) == (ours, theirs)
    chance = binomtest(ours, ours + theirs).pvalue if ours + theirs else 1.0
    assert pairing.p_success == approx(chance) == pairing.p_success_holm


def test_deviations_are_compared_where_neither_fell():
    draw = np.random.default_rng(0)
    ours, theirs = draw.uniform(0.1, 0.3, 12), draw.uniform(0.2, 0.4, 12)
    rows = [row("hilqr", k, deviation=d) for k, d in enumerate(ours)]
    rows += [row("mppi", k, deviation=d, fell=k == 0) for k, d in enumerate(theirs)]
    (pairing,) = pair_up(rows)
    change = (ours - theirs)[1:]
    assert pairing.upright == 11
    assert pairing.difference == approx(np.median(change))
    assert pairing.p_difference == approx(wilcoxon(change).pvalue)


def test_conditions_stay_apart_and_budgets_are_never_added_up():
    rows = [
        row(planner, trial, group=group, budget_ms=budget)
        for planner in ("hilqr", "mppi")
        for trial, (budget, group) in enumerate(
            (budget, group) for budget in (None, 10.0) for group in ("a", "b")
        )
    ]  # fmt: skip
    pairings = {pairing.condition: pairing.trials for pairing in pair_up(rows)}
    assert pairings == {
        "a: default settings": 1, "a: 10 ms a plan": 1,
        "b: default settings": 1, "b: 10 ms a plan": 1,
        "all trials, default settings": 2, "all trials, 10 ms a plan": 2,
    }  # fmt: skip


def test_p_values_are_corrected_for_all_conditions_and_rivals():
    rows = [row("hilqr", k, group=f"g{k // 10}") for k in range(20)]
    for rival in ("mppi", "ilqr_fd"):
        rows += [row(rival, k, group=f"g{k // 10}", fell=k < 6) for k in range(20)]
    first, *_ = pair_up(rows)
    assert first.p_success == approx(0.03125)
    assert first.p_success_holm == approx(4 * 0.03125)


def test_a_driven_robot_is_compared_by_its_velocity_error():
    rows = [row(planner, 0, deviation=None, velocity_rmse_m_s=error)
            for planner, error in (("hilqr", 0.01), ("mppi", 0.03))]  # fmt: skip
    assert pair_up(rows)[0].difference == approx(-0.02)


def test_only_trials_that_both_have_finished_count():
    (pairing,) = pair_up([row("hilqr", 0), row("hilqr", 1), row("mppi", 1)])
    assert pairing.trials == 1
