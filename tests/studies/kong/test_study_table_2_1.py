"""Tables 2.1 and 2.2: their rows from known outcomes, and real plans of one trial."""

import json

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from controller.convergent.hill import SINE_HILL
from controller.convergent.hill_path import HillPath
from studies.kong import table_2_1, table_2_2
from studies.kong.hill.methods import METHODS, ends
from studies.kong.hill.trials import (
    Outcome,
    Trials,
    acceleration_cost,
    plan,
    run_trials,
)
from studies.kong.table_2_2 import compare
from studies.study import StudyOptions

NAN = float("nan")


def outcome(log_area, seconds=1.0, broken="", rough=False):
    success = bool(np.isfinite(log_area))
    rest = (0.5 * log_area, 7.0 if success else NAN)
    return Outcome(success, seconds, seconds, log_area, *rest, broken, success, rough, 0.5)


def trials_of(areas):
    """Trials of all methods; ``areas`` has the log E_a by number, the rest have zeros."""
    count = len(next(iter(areas.values())))
    return Trials(
        count,
        {m.number: [outcome(a) for a in areas.get(m.number, [0.0] * count)] for m in METHODS},
    )


def test_the_methods_are_those_of_the_thesis():
    assert [m.number for m in METHODS] == list(range(1, 12))
    assert METHODS[0].label == "1 T-OPT shortest" and METHODS[3].label == "4 B-RRT*"
    assert METHODS[8].label == "9 T-OPT p = 1 D_a < 0" and METHODS[5].label == "6 CR-RRT D_m < 0"
    assert [m.number for m in METHODS if m.power == "1"] == [1, 9]


def test_problems_are_uniform_on_the_map_and_repeatable():
    places = np.array([ends(3, trial) for trial in range(400)])
    low, high = np.transpose([SINE_HILL.x_bounds, SINE_HILL.y_bounds])
    share = (places - low) / (high - low)
    assert share.min() > 0.0 and share.max() < 1.0
    np.testing.assert_allclose(share.mean(axis=0), 0.5, atol=0.06)
    np.testing.assert_allclose(share.var(axis=0), 1.0 / 12.0, atol=0.015)
    np.testing.assert_array_equal(places[7], ends(3, 7))
    assert len({tuple(start) for start, _ in (ends(0, 1), ends(1, 0), ends(0, 0))}) == 3


def test_acceleration_is_what_2_19_says():
    even = HillPath("ok", np.linspace([0.0, 0.0], [1.0, 0.5], 6), np.ones(5))
    assert acceleration_cost(even) == pytest.approx(0.0, abs=1e-20)
    corner = HillPath("ok", np.array([[0.0, 0.0], [0.01, 0.0], [0.01, 0.01]]), np.ones(2))
    assert acceleration_cost(corner) == pytest.approx(1e5 * 2e-4 / 2)
    assert acceleration_cost(HillPath("ok", np.zeros((1, 2)), np.zeros(0))) == 0.0


def test_rows_are_means_over_successes():
    rows = table_2_1.rows(trials_of({2: [-1.0, -3.0, NAN, -5.0], 5: [NAN] * 4}))
    assert json.loads(json.dumps(rows)) == rows and set(table_2_1.SHOWN) <= set(rows[0])
    asked = ("method", "power", "success", "log_area_ratio_mean", "log_area_ratio_std",
             "log_distance_ratio_mean", "log_distance_ratio_std", "acceleration_cost",
             "seconds")  # fmt: skip
    assert tuple(rows[0])[:9] == asked
    two, five = rows[1], rows[4]
    assert (two["success"], two["log_area_ratio_mean"], two["successes"]) == (75.0, -3.0, 3)
    assert two["log_area_ratio_std"] == pytest.approx(np.sqrt(8.0 / 3.0))
    assert two["log_distance_ratio_mean"] == -1.5 and two["acceleration_cost"] == 7.0
    assert five["success"] == 0.0 and five["log_area_ratio_mean"] is None
    assert (five["seconds"], five["thesis_success"]) == (1.0, 4.5)


def test_criteria_judge_by_what_was_measured():
    good = trials_of({2: [-4.0] * 10, 5: [NAN] * 9 + [-2.0], 8: [-5.0] * 10})
    assert sum(each.met for each in table_2_1.criteria(table_2_1.rows(good))) == 6
    poor = trials_of({2: [-4.0] * 9 + [NAN], 5: [NAN] * 10, 8: [-4.0] * 9 + [NAN]})
    slow = [outcome(-1.0, seconds=3.0, broken="D_a < 0: it is 1 at waypoint 2", rough=True)] * 10
    poor.outcomes[9][:] = slow
    rows = table_2_1.rows(poor)
    assert sum(not each.met for each in table_2_1.criteria(rows)) == 5
    assert (rows[8]["broken"], rows[8]["rough"], rows[7]["broken"]) == (10, 10, 0)


def test_rows_count_the_paths_that_converge_at_both_ends():
    trials = trials_of({5: [-2.0, -2.0, NAN, NAN]})
    trials.outcomes[5][0] = trials.outcomes[5][0]._replace(at_ends=False)
    stricter = trials_of({5: [NAN] * 4, 9: [-1.0, -1.0, -1.0, NAN]})
    rows = table_2_1.rows(trials, both_ends=stricter)
    assert (rows[4]["at_ends"], rows[4]["successes"], rows[10]["at_ends"]) == (1, 2, 4)
    assert (rows[4]["success_both_ends"], rows[8]["success_both_ends"]) == (0.0, 75.0)


def test_comparisons_are_paired():
    first = np.array([-1.0, -2.0, NAN, -3.0, 0.5, -1.0])
    second = np.array([0.0, -3.0, -9.0, -1.0, NAN, -0.5])
    trials = trials_of({8: first, 2: second, 4: first, 10: [NAN] * 6})
    found, back = compare(trials, 8, 2), compare(trials, 2, 8)
    assert (found.wins, back.wins, found.pairs) == (0.75, 0.25, 4)
    assert found.difference == -back.difference == pytest.approx(-0.625)
    apart = [-1.0, 1.0, -2.0, -0.5]
    assert found.t_test == pytest.approx(float(ttest_1samp(apart, 0.0).pvalue))
    assert 0.0 < found.rank_test == back.rank_test <= 1.0
    same = compare(trials, 8, 4)
    assert (same.wins, same.ties, same.pairs) == (0.5, 1.0, 5) and np.isnan(same.t_test)
    near = trials_of({8: first, 2: first + [1e-5, 1e-5, 0.0, -1.0, 0.0, 1.0]})
    assert (compare(near, 8, 2).wins, compare(near, 8, 2).ties) == pytest.approx((0.5, 0.6))
    assert compare(trials, 8, 10).pairs == 0


def test_table_2_2_says_who_is_ahead():
    draws = np.random.default_rng(0).normal(size=(7, 40))
    areas = {number: draws[i] + (0.0 if number != 8 else -3.0) for i, number in
             enumerate(table_2_2.ORDER)}  # fmt: skip
    trials = trials_of(areas)
    rows = table_2_2.rows(trials)
    assert json.loads(json.dumps(rows)) == rows and set(table_2_2.SHOWN) <= set(rows[0])
    assert [row["method"].split()[0] for row in rows] == [str(n) for n in table_2_2.ORDER]
    assert rows[0]["2"] + rows[1]["8"] == 1.0 and rows[0]["8"] == 0.0
    assert rows[0]["pairs_2"] == 40 and rows[0]["t_2"] < 0.001
    assert all(criterion.met for criterion in table_2_2.criteria(trials))
    judged = table_2_2.criteria(trials_of(areas | {4: 2.0 * areas[8]}))
    assert [each.what.split()[-1] for each in judged if not each.met] == ["4"]
    assert len(table_2_2.draw(rows).axes[0].texts) == 42
    printed = np.array(table_2_2.PRINTED)
    apart = (printed + printed.T)[~np.eye(7, dtype=bool)]
    np.testing.assert_allclose(apart, 1.0, atol=0.011)  # as rounded


def test_one_trial_of_planners_and_its_figures(monkeypatch):
    """In this process; D_m < 0 takes longer, and is left to the study."""
    some = [METHODS[number - 1] for number in (1, 2, 3, 4, 8, 10)]
    seen = []
    options = StudyOptions(trials=1, progress=lambda *report: seen.append(report))
    trials = run_trials(options, some)
    assert seen == [(0, 1, "compiling"), (1, 1, "trials")]
    for method in some:
        (found,) = trials.outcomes[method.number]
        assert found.success and not found.broken and not found.rough and found.seconds > 0.0
    area = {number: outcomes[0].log_area_ratio for number, outcomes in trials.outcomes.items()}
    assert max(area[2], area[8]) < area[1] - 1.0
    whole = Trials(1, trials_of({1: [0.0]}).outcomes | dict(trials.outcomes))
    monkeypatch.setattr(table_2_1, "run_trials", lambda _: whole)
    result = table_2_1.run(options)
    assert list(result.figures) == ["figure-2.1", "figure-2.2", "log-area-ratios",
                                    "contraction-regions"]  # fmt: skip
    assert len(result.figures["figure-2.2"].axes[1].lines) == 8  # 6 paths, the goal, the start
    assert len(result.figures["figure-2.1"].axes[0].lines) == 7


def test_trees_grow_otherwise_when_repeated():
    paths = [plan(METHODS[2], 0, 0, repeat)[1] for repeat in (0, 0, 1)]
    np.testing.assert_array_equal(paths[0].positions, paths[1].positions)
    assert len(paths[0].positions) != len(paths[2].positions) or not np.allclose(
        paths[0].positions, paths[2].positions
    )


@pytest.mark.slow
def test_processes_find_what_one_process_does():
    some = [METHODS[number - 1] for number in (1, 3, 8)]
    many = run_trials(StudyOptions(trials=3), some)
    alone = run_trials(StudyOptions(trials=1), some)
    for method in some:
        here, there = alone.outcomes[method.number][0], many.outcomes[method.number][0]
        assert here.log_area_ratio == pytest.approx(there.log_area_ratio, abs=1e-9)
