"""Table 5.1: its rows, its seeds, and what 5.5.1 says of them in words."""

import json

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import bouncing_ball_problem
from hybrid.hilqr import Hilqr, Policies
from studies.kong import table_5_1
from studies.kong.hilqr.two_methods import CUT_OFF
from studies.kong.table_5_1 import CASES, START, Case, count_bounces, seed_force, solve_case
from studies.study import StudyOptions

KEYS = "optimal seed method fraction actual cost expected_reduction converged".split()


def rolled_seed(case, steps=1000):
    model = bouncing_ball_problem(case.target_height, case.duration / steps)
    force = np.full((steps, 1), seed_force(case.seed, case.duration))
    policies = Policies.of(np.zeros((steps + 1, 2)), force, np.zeros((steps, 1, 2)))
    return model, Hilqr(model).start(START, policies)


def jump_at_apex(trajectory):
    knots = [e.knot for e in trajectory.aux.events if e.event.transition.name == "apex"]
    return max(float(abs(trajectory.inputs[k + 1, 0] - trajectory.inputs[k, 0])) for k in knots)


def test_cases_are_those_printed():
    assert len(CASES) == len(set(CASES)) == 16
    assert [case.method for case in CASES].count("direct") == 1
    assert {(case.optimal, case.seed) for case in CASES} == {
        (0, 0), (0, 1), (1, 0), (1, 1), (1, 3), (3, 1), (3, 3),
    }  # fmt: skip


@pytest.mark.parametrize("case", [case for case in CASES if case.method == "xi"])
def test_seeds_bounce_as_often_as_their_name_says(case):
    _, seed = rolled_seed(case)
    assert count_bounces(seed) == case.seed


def test_the_apex_is_the_identity_whatever_the_input_does_there():
    """5.4.1; with the next input in F+ it would not be, and descents would make that jump grow."""
    model, seed = rolled_seed(Case(3, 3, "xi"))
    inputs = np.random.default_rng(0).normal(size=seed.inputs.shape)
    found = model.linearise(seed._replace(inputs=inputs)).transitions
    names = [event.event.transition.name for event in seed.aux.events]
    assert names.count("apex") >= 2 and len(found) == len(names)
    for name, jump in zip(names, found, strict=True):
        assert np.array_equal(jump.saltation, np.eye(2)) == (name == "apex")


@pytest.mark.parametrize(("optimal", "seed"), [(0, 0), (1, 0)])
def test_without_bounces_both_methods_are_one(optimal, seed):
    rows = [solve_case(Case(optimal, seed, method), 200).row for method in ("xi", "dxr")]
    assert rows[0]["converged"] and rows[0]["actual"] == 0
    assert rows[0]["cost"] == rows[1]["cost"] and rows[1]["converged"]


def test_direct_collocation_confirms_the_minimum_under_one_bounce():
    """Footnote 1 of 5.5.1; held inputs cannot do better than free ones."""
    direct, xi = (solve_case(Case(0, 1, method)).row for method in ("direct", "xi"))
    assert direct["converged"] and xi["converged"] and direct["actual"] == xi["actual"] == 1
    assert direct["expected_reduction"] is None
    assert direct["cost"] < xi["cost"] == pytest.approx(direct["cost"], rel=1e-3)
    with pytest.raises(ValueError, match="only one"):
        solve_case(Case(1, 3, "direct"))


def test_figure_5_2_both_pull_bounces_away_and_only_xi_gets_to_the_target():
    xi, dxr = (solve_case(Case(1, 3, method)) for method in ("xi", "dxr"))
    assert xi.row["converged"] and not dxr.row["converged"]
    assert xi.row["expected_reduction"] <= CUT_OFF < 1.0 < dxr.row["expected_reduction"]
    assert xi.row["actual"] == dxr.row["actual"] == 1
    errors = [np.linalg.norm(one.final.states[-1] - [1.0, 0.0]) for one in (xi, dxr)]
    assert errors[0] < 0.1 and errors[1] > 3.0 * errors[0]
    assert xi.row["cost"] < dxr.row["cost"]


def test_three_bounces_need_the_extension_and_the_saltation_matrix():
    """5.5.1: without extension it does worse than D_xR, which does worse than Xi."""
    rows = [solve_case(Case(3, 3, method)).row for method in ("xi", "dxr", "no_extension")]
    assert [row["converged"] for row in rows] == [True, False, False]
    assert rows[0]["actual"] == 3 and rows[0]["cost"] < rows[1]["cost"] < rows[2]["cost"]


def test_an_optimal_input_does_not_jump_at_the_apex():
    """With saltation matrices there it ended with a jump that nothing asks for."""
    solved = solve_case(Case(3, 1, "xi"))
    assert solved.row["converged"] and jump_at_apex(solved.final) < 0.2


def test_run_gives_sixteen_json_rows_and_two_figures(monkeypatch):
    monkeypatch.setattr(table_5_1, "STEPS", 50)
    told = []
    options = StudyOptions(progress=lambda done, total, what: told.append((done, total)))
    result = table_5_1.run(options)
    assert [list(row) for row in result.records] == [KEYS] * 16
    json.dumps(result.records)
    assert set(result.figures) == {"figure-5.2", "table-5.1"}
    assert told[0] == (0, 16) and told[-1] == (16, 16)
    labels = [line.get_label() for line in result.figures["figure-5.2"].axes[0].lines]
    assert {"seed", "target", r"$\Xi$-iLQR", r"$D_xR$-iLQR"} <= set(labels)
