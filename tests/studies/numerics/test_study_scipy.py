"""The comparison with SciPy: 200 random systems, that it sees what is wrong, and its reference."""

import json
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from studies.numerics import scipy as scipy_comparison
from studies.numerics import scipy_problems as scipy_family
from studies.numerics.scipy import Accuracy, compare, judge, solve
from studies.numerics.scipy_problems import WAYS, draw, structures
from studies.study import StudyOptions

FINE = Accuracy("DOP853", 1e-12, 1e-14)
FIRST = 1  # a trial with some events


def test_random_systems_end_as_scipy_has_them():
    result = scipy_comparison.run(StudyOptions(trials=100, seed=1))
    assert json.loads(json.dumps(list(result.rows))) == list(result.rows)
    rows = {row["way"]: row for row in result.rows}
    assert tuple(rows) == (*WAYS, "all") and sum(rows[way]["trials"] for way in WAYS) == 100
    assert rows["all"]["seeds"] == [] and all(each.met for each in result.criteria)
    assert 0.0 < rows["all"]["worst"] <= 1.0


@pytest.mark.parametrize(
    "seed, trial",
    [
        pytest.param(5, 710, id="a guard that oscillates about as often as it is sampled"),
        pytest.param(5, 126, id="a reset onto its own guard, inside two others"),
        pytest.param(5, 756, id="the same, after other events"),
        pytest.param(7, 1105, id="a narrow pulse"),
    ],
)
def test_systems_that_disagreed_once(seed, trial):
    assert compare(seed, trial).verdict in ("agrees", "ended early")


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


def test_closed_forms_are_those_of_the_flows():
    checked = set()
    for trial in range(200):
        problem = draw(7, trial)
        for m, n in enumerate(structures()[problem.structure].dims):
            p = m * scipy_family.MODE_SIZE
            closed = scipy_family.DECAY, scipy_family.BALLISTIC, scipy_family.OSCILLATOR
            if problem.u[p] not in closed or problem.u[[p + 9, p + 12]].any():  # forced
                continue
            x, h = problem.scales[m] * np.linspace(-1.0, 1.0, n), 0.2 * problem.duration
            flow = solve_ivp(
                lambda t, y: scipy_family.field(t, y, problem.u, m), (0.0, h), x,  # noqa: B023
                method="DOP853", rtol=1e-12, atol=1e-14,
            )  # fmt: skip
            end = scipy_family.solution(0.0, x, problem.u, h, m)
            apart = np.abs(end - flow.y[:, -1]) / (problem.scales[m] + np.abs(end))
            assert apart.max() < 1e-8
            checked.add((int(problem.u[m * scipy_family.MODE_SIZE]), n))
    assert len(checked) >= 10


def flight(guard, t=0.0):
    """A ballistic flight over a duration of 1 s in the plane, from (0, 0.63, 4.914, 0.005)."""
    structure = next(
        i for i, each in enumerate(structures()) if each.dims[0] == 4 and each.edges[0] == (0, 0)
    )
    problem = draw(0, 0)
    u = np.zeros(scipy_family.SIZE)
    u[0], u[6], u[11] = scipy_family.BALLISTIC, -9.81, 1.0
    first = scipy_family.FIRST_GUARD
    for k in range(scipy_family.GUARDS):  # far below, but for the first
        u[first + 8 * k : first + 8 * k + 7] = scipy_family.LINEAR, 1, 0, -100.0, 0.0, 0.0, 1.0
    u[first : first + 7] = guard
    u[scipy_family.FIRST_RESET : scipy_family.FIRST_RESET + 3] = scipy_family.BOUNCE, 1.0, 3
    return problem._replace(
        structure=structure, u=u, x=np.array([0.0, 0.63, 4.914, 0.005]), t=t, duration=0.4,
        pulses=(), scales=(np.ones(4),) * 3,
    )  # fmt: skip


def test_the_reference_finds_a_dip_that_scipy_steps_over():
    """SciPy compares signs at the ends of its steps; here one is as long as the flight."""
    over_hills = (scipy_family.WAVE, 1, 0, 0.0, 0.3, 5.0, 1.0)
    long = solve(flight(over_hills), Accuracy("DOP853", 1e-3, 1e-3, steps=1))
    short = solve(flight(over_hills), FINE)
    assert short.times[0] == pytest.approx(0.2894, abs=1e-4)
    assert long.times[0] == pytest.approx(short.times[0], abs=1e-6)
