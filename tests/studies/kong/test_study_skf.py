"""Chapter 4's comparison of filters, with few trials."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from studies.kong import skf_aslip, skf_constant_flow
from studies.kong.filters.comparison import Drawing, compare, compare_all, sign_test
from studies.kong.filters.problems import ASLIP_BODY, Level, aslip_problem, flow_problem
from studies.kong.skf_constant_flow import covariance_at_transition
from studies.study import StudyOptions

KEYS = ["dt", "process", "measurement", "mse_skf", "mse_jrkf", "p_value", "better", "lost"]
CLEAR = Level(1.0, 0.001, 0.1)  # a set on which the SKF is clearly better
TIED = Level(5.0, 0.1, 0.0001)  # and one on which measurements leave nothing to do


@given(st.lists(st.integers(-2, 2), max_size=40))
def test_sign_test_is_the_binomial_one_without_ties(differences):
    a = np.array(differences, dtype=float)
    smaller, larger = int(np.sum(a < 0)), int(np.sum(a > 0))
    found = sign_test(a, np.zeros(len(a)))
    if smaller + larger == 0:
        assert found == 1.0
    else:
        assert found == pytest.approx(binomtest(smaller, smaller + larger).pvalue, rel=1e-9)
    assert found == sign_test(-a, np.zeros(len(a)))


def test_grids_are_those_of_the_thesis():
    assert len(skf_constant_flow.levels()) == 80 and len(set(skf_constant_flow.levels())) == 80
    assert len(skf_aslip.levels()) == 36 and len(set(skf_aslip.levels())) == 36
    assert skf_constant_flow.SHOWN in skf_constant_flow.levels()
    assert skf_aslip.SHOWN in skf_aslip.levels()


def test_skf_is_better_on_a_clear_set_and_neither_where_measurements_say_all():
    clear = compare(flow_problem(CLEAR, 600, 1), 2)
    row = clear.row()
    assert list(row) == KEYS and row["better"] == "skf" and row["p_value"] < 1e-4
    assert row["mse_skf"] < 0.95 * row["mse_jrkf"]
    assert compare(flow_problem(TIED, 200, 1), 2).row()["better"] == "tie"


def test_errors_before_the_event_are_those_of_one_filter():
    """The filters are the same until a mean crosses the guard."""
    one = compare(flow_problem(Level(0.1, 0.01, 0.1), 20, 3), 4)
    same = one.estimates["skf"].modes[:, 1:] == 1
    assert same.any() and not same.all()
    np.testing.assert_array_equal(one.errors["skf"][same], one.errors["jrkf"][same])


def test_studies_are_deterministic_rows_of_json_with_figures(monkeypatch):
    monkeypatch.setattr(skf_constant_flow, "TIMESTEPS", (1.0,))
    monkeypatch.setattr(skf_constant_flow, "SHOWN", Level(1.0, 0.01, 1.0))
    results = [skf_constant_flow.run(StudyOptions(trials=5, seed=seed)) for seed in (3, 3, 4)]
    rows = [list(result.records) for result in results]
    assert rows[0] == rows[1] != rows[2] and len(rows[0]) == 20
    assert all(list(row) == KEYS for row in rows[0])
    assert json.loads(json.dumps(rows[0], allow_nan=False)) == rows[0]
    assert set(results[0].figures) == {"trial", "errors"}
    assert [one.met for one in results[0].criteria[1:]] == [True] * 8


def test_pendulum_hops_twice_and_the_skf_is_better(monkeypatch):
    monkeypatch.setattr(skf_aslip, "TIMESTEPS", (0.03,))
    monkeypatch.setattr(skf_aslip, "PROCESS", (0.001,))
    monkeypatch.setattr(skf_aslip, "MEASUREMENT", (0.005,))
    monkeypatch.setattr(skf_aslip, "SHOWN", Level(0.03, 0.001, 0.005))
    result = skf_aslip.run(StudyOptions(trials=20, seed=1))
    (row,) = result.records
    assert list(row) == KEYS and row["better"] == "skf" and row["mse_skf"] < row["mse_jrkf"]
    assert set(result.figures) == {"trial", "errors"}
    assert [one.met for one in result.criteria] == [True]


def test_pendulum_starts_on_its_constraint_and_jumps_twice():
    """Initial states and covariance move the toe with the body; four transitions follow."""
    level = Level(0.03, 0.0001, 0.001)
    one = compare(aslip_problem(level, 10, 0), 1)
    assert (np.sum(np.diff(one.truths.modes) != 0, axis=1) == 4).all()
    problem = one.problem
    assert np.linalg.matrix_rank(problem.start.Sigma, tol=1e-9) == 6
    hip = problem.states[:, :2] - 0.5 * np.stack(
        [np.cos(problem.states[:, 2]), np.sin(problem.states[:, 2])], axis=-1
    )
    np.testing.assert_allclose(np.linalg.norm(hip - problem.states[:, 3:5], axis=1), 1.0)
    body = problem.states[:, [0, 1, 2, 5, 6, 7]] - ASLIP_BODY
    assert 0.3e-4 < np.var(body) < 3e-4
    assert problem.steps == 41


@pytest.mark.parametrize(("dt", "norm", "tolerance"), [(5.0, 0.16, 0.005), (1.0, 0.10, 0.005)])
def test_table_4_1_is_met_with_a_process_noise_of_a_hundredth(dt, norm, tolerance):
    assert covariance_at_transition(dt, 0.01, 1.0) == pytest.approx(norm, abs=tolerance)
    assert covariance_at_transition(dt, 0.1, 1.0) > 2.0 * norm, "what its caption says"


def test_a_set_to_draw_that_is_not_there_is_said():
    with pytest.raises(ValueError, match="is not among those compared"):
        compare_all([CLEAR], TIED, Drawing((), ()), flow_problem, StudyOptions(), 5)
