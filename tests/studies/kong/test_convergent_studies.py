"""Chapter 2's studies: rows from known outcomes, real plans, and reach; and figure 6.1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx
from scipy.stats import ttest_1samp

from saltation.convergent.hill import SINE_HILL, Hill
from saltation.convergent.planar_contraction import gaussian_curvature
from saltation.convergent.rotary.swing_up import SwingUpOptions
from studies.kong import rotary_pendulum, table_2_1
from studies.kong.hill import METHODS, Outcome, by_name, reach_graph
from studies.kong.table_2_2 import compare
from studies.runner import PRINTED
from studies.study import StudyOptions

NAN = float("nan")


def trials_of(areas):
    """Trials of all methods; ``areas`` has the log E_a by number, the rest have zeros."""
    count = len(next(iter(areas.values())))

    def outcome(area):
        won = bool(np.isfinite(area))
        rest = (0.5 * area, 7.0 if won else NAN)
        return Outcome(won, 1.0, area, *rest, False, won, False)

    return {
        m.number: by_name([outcome(a) for a in areas.get(m.number, [0.0] * count)]) for m in METHODS
    }


def test_rows_are_means_over_successes_and_criteria_judge_them():
    made = table_2_1.rows(trials_of({2: [-1.0, -3.0, NAN, -5.0], 5: [NAN] * 4}))
    two, five = made[1], made[4]
    assert (two["success"], two["log_area_ratio_mean"], two["successes"]) == (75.0, -3.0, 3)
    assert two["log_area_ratio_std"] == approx(np.sqrt(8.0 / 3.0))
    assert two["log_distance_ratio_mean"] == -1.5 and two["acceleration_cost"] == 7.0
    assert five["log_area_ratio_mean"] is None
    good = trials_of({2: [-4.0] * 10, 5: [NAN] * 9 + [-2.0], 8: [-5.0] * 10})
    assert all(each.met for each in table_2_1.criteria(table_2_1.rows(good)))
    assert not any(each.met for each in table_2_1.criteria(made)[:2])


def test_comparisons_are_paired_and_ties_are_halved():
    first = np.array([-1.0, -2.0, NAN, -3.0, 0.5, -1.0])
    second = np.array([0.0, -3.0, -9.0, -1.0, NAN, -0.5])
    trials = trials_of({8: first, 2: second, 4: first, 10: [NAN] * 6})
    found, back = compare(trials, 8, 2), compare(trials, 2, 8)
    assert (found["wins"], back["wins"], found["pairs"]) == (0.75, 0.25, 4)
    assert found["difference"] == -back["difference"] == approx(-0.625)
    assert found["t"] == approx(float(ttest_1samp([-1.0, 1.0, -2.0, -0.5], 0.0).pvalue))
    assert compare(trials, 8, 10)["pairs"] == 0
    printed = np.array([list(row.values())[1:] for row in PRINTED["table-2.2"]])
    apart = (printed + printed.T)[~np.eye(7, dtype=bool)]
    assert_allclose(apart, 1.0, atol=0.011)  # as rounded


BOTTOM = np.array([-1.0, 0.5])


def bowl(x, y):
    """A round bowl about BOTTOM: H = I, so D_a = D_m = grad h . v / ||grad h||^2 where p = 0."""
    a, b = x - BOTTOM[0], y - BOTTOM[1]
    return 0.5 * (a * a + b * b), a, b, 1.0 + 0.0 * a, 0.0 * a, 1.0 + 0.0 * a


@pytest.mark.parametrize("metric", ["average", "maximum"])
def test_in_a_bowl_with_power_0_every_way_down_converges_and_no_other(metric):
    graph = reach_graph(Hill("bowl", bowl, (0.0, 1.0), (0.0, 1.0)), metric, (0.0, 0.0))
    start, height = np.array([0.8, 0.5]), np.linalg.norm(graph.points - BOTTOM, axis=1)
    reached, own = graph.reached(start), np.linalg.norm(start - BOTTOM)
    assert height[reached].max() <= own + 1e-9 and np.all(reached[height < own - 0.1])
    assert graph.joins(start, np.array([0.0, 0.1]), 0.05)
    assert not graph.joins(np.array([0.0, 0.1]), start, 0.05)


def test_strict_convergence_stays_between_the_lines_without_curvature():
    graph = reach_graph(SINE_HILL, "maximum", (0.0, 2.0), spacing=0.05)
    K = gaussian_curvature(SINE_HILL.at(*graph.points.T))  # noqa: N806
    begin, end = graph.steps.nonzero()
    assert len(begin) > 1000 and np.all(K[begin] * K[end] > 0.0)
    nowhere = reach_graph(SINE_HILL, "maximum", (1.0, 1.0), spacing=0.1)
    assert np.sum(nowhere.reached(np.array([0.05, 0.1]))) == 1  # Lemma 1: only the start itself


def test_swing_ups_rows_agree_with_what_was_simulated_and_their_figures_are_drawn():
    task = SwingUpOptions(duration=1.0, waypoints=41, torque_limit=0.1)
    small = rotary_pendulum.solve(task, StudyOptions(trials=2))
    for entry in small.values():
        row = entry.row
        assert row["success"] == approx(0.5 * (row["success_plus"] + row["success_minus"]))
        assert row["max_torque"] <= 0.1 + 1e-6
    smooth, convergent = small["smooth"].row, small["convergent"].row
    assert convergent["average_divergence"] < smooth["average_divergence"]
    assert smooth["roughness"] < small["minimal_energy"].row["roughness"]
    assert sorted(rotary_pendulum.figures(small)) == sorted(f"figure-2.{i}" for i in range(4, 11))
