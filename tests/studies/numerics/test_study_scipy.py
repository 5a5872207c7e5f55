"""The comparison with SciPy: random systems, that it sees what is wrong, and its reference."""

from functools import cache

import pytest

from studies.numerics import scipy as scipy_comparison
from studies.numerics.scipy import Accuracy, compare, judge, solve
from studies.numerics.scipy_problems import WAYS, draw
from studies.study import StudyOptions

FINE = Accuracy("DOP853", 1e-12, 1e-14)
FIRST = 1  # a trial with some events


def test_random_systems_end_as_scipy_has_them():
    result = scipy_comparison.run(StudyOptions(trials=40, seed=1))
    rows = {row["way"]: row for row in result.rows}
    assert tuple(rows) == (*WAYS, "all") and sum(rows[way]["trials"] for way in WAYS) == 40
    assert rows["all"]["seeds"] == [] and all(each.met for each in result.criteria)
    assert 0.0 < rows["all"]["worst"] <= 1.0


@pytest.mark.parametrize(
    "seed, trial",
    [
        pytest.param(5, 710, id="a guard that oscillates about as often as it is sampled"),
        pytest.param(5, 126, id="a reset onto its own guard, inside two others"),
        pytest.param(5, 756, id="the same, after other events"),
        pytest.param(7, 1105, id="a narrow pulse"),
        pytest.param(1, 2028, id="a guard on edge that is positive for a short time"),
        pytest.param(1, 1623, id="a pulse that deceives the error estimate"),
        pytest.param(0, 2010, id="a guard on edge that oscillates within the points of a step"),
        pytest.param(1, 3821, id="a guard that is met again just after its reset"),
        pytest.param(0, 7621, id="a guard that oscillates between the samples of a closed form"),
        pytest.param(0, 9288, id="the same, faster"),
        pytest.param(0, 11579, id="a step that ends on a guard on edge"),
    ],
)
def test_systems_that_disagreed_once(seed, trial):
    assert compare(seed, trial).verdict in ("agrees", "ended early")


def test_where_events_accumulate_only_a_tolerance_says_how_many_there_are():
    assert compare(0, 746).verdict == "sensitive"


@pytest.mark.parametrize(
    "change",
    [
        lambda ours, scale: ours._replace(times=ours.times + 1e-3 * scale),
        lambda ours, _: ours._replace(state=ours.state + 0.5),
        lambda ours, _: ours._replace(edges=ours.edges[:-1], times=ours.times[:-1]),
        lambda ours, _: ours._replace(edges=(*ours.edges[:-1], ours.edges[-1] + 1)),
    ],
    ids=["late", "apart", "an event too few", "another event"],
)
def test_what_is_wrong_is_seen(change, monkeypatch):
    right = first_solved()
    wrong = change(right, draw(0, FIRST).duration)
    monkeypatch.setattr(scipy_comparison, "simulate_ours", lambda _: wrong)
    assert compare(0, FIRST).verdict == "disagrees"


@cache
def first_solved():
    right = solve(draw(0, FIRST), FINE)
    assert 0 < len(right.edges) < 20
    return right


def test_scipy_agrees_with_scipy():
    for trial in range(12):
        problem = draw(0, trial)
        by_another = solve(problem, Accuracy("RK45", problem.rtol, 1e-2 * problem.rtol))
        expected = ("agrees", "sensitive") if by_another.status == "ok" else ("ended early",)
        assert judge(problem, by_another)[0] in expected
