"""The study of the rotary cart pole: what it says of its rows, and one small case."""

import json
from dataclasses import replace

import numpy as np
import pytest

from controller.convergent.rotary.swing_up import SwingUpOptions
from studies.kong.rotary_pendulum.cases import BASE, SWINGS, SwingRow, family, solve
from studies.kong.rotary_pendulum.figures import figures
from studies.kong.rotary_pendulum.study import (
    choices,
    failures,
    family_notes,
    run,
    swing_note,
    verdict,
)
from studies.study import StudyOptions, record


def rows(case, smooth, convergent):
    return [
        SwingRow("smooth", case, "ok", 1, 1.0, "", success=smooth),
        SwingRow("convergent", case, "ok", 1, 1.0, "why", success=convergent),
    ]


def test_the_verdict_is_read_off_the_rows():
    assert "yes, 80.0% against 70.0%" in verdict(rows("base", 0.7, 0.8))
    assert "no, 70.0%" in verdict(rows("base", 0.7, 0.7))
    assert "(convergent: why)" in verdict(rows("base", 0.7, None))


def test_the_family_names_the_cases_where_it_does_not_hold():
    found = rows("base", 0.7, 0.8) + rows("4 s", 0.7, 0.65) + rows("R 100", None, 0.5)
    note, other = family_notes(found)
    assert "1 of 3 cases, by 10.0% to 10.0%" in note
    assert "4 s (65.0% against 70.0%)" in note and "R 100 (a plan is missing)" in note
    assert "above minimal_energy in 0 of 3 cases; exceptions: base (a plan is missing)" in other


def test_where_the_difference_is_from_is_read_off_the_rows(small):
    found = [replace(entry.row, case=BASE.name) for entry in small.values()]
    faster = [
        replace(row, swing_time=time, success_swinging=share)
        for row, time, share in zip(found, (1.0, 1.0, 0.5), (0.4, 0.4, 0.3), strict=True)
    ]
    (note,) = swing_note(faster)
    assert "smooth 40.0% in 1.00 s, convergent 30.0% in 0.50 s" in note
    assert "is shorter and not more robust" in note
    assert swing_note([replace(row, success=None) for row in found]) == []


def test_plans_that_are_missing_or_coarse_are_named(small):
    row = small["smooth"].row
    assert failures([replace(row, interval_error=0.0)]) == []
    assert "no plan (why)" in failures([replace(row, status="infeasible", message="why")])[0]
    assert "0.5" in failures([replace(row, interval_error=0.5)])[0]


def test_success_while_swinging_is_of_the_later_waypoints(small):
    for entry in small.values():
        alpha, N = entry.swing.states[:, 1], len(entry.swing.times)
        late = [i for i in range(N) if np.any(np.abs(alpha[: i + 1]) > SWINGS)]
        share = np.mean([entry.perturbed.plus[i] + 0 for i in late])
        share = 0.5 * (share + np.mean([entry.perturbed.minus[i] + 0 for i in late]))
        assert entry.row.success_swinging == pytest.approx(share)
        assert entry.row.swing_time == pytest.approx((N - 1 - late[0]) / (N - 1))


def test_each_of_the_family_is_another_case():
    for case in family():
        fields = ("task", "gamma", "sigma", "weights", "pendulum")
        assert 1 <= sum(getattr(case, name) is not getattr(BASE, name) for name in fields) <= 2
    assert len({case.name for case in family()}) == len(family())


@pytest.fixture(scope="module")
def small():
    task = SwingUpOptions(duration=1.0, waypoints=41, torque_limit=0.1)
    return solve(replace(BASE, task=task), 2, 0, lambda _: None)


def test_rows_are_plain_and_agree_with_what_was_simulated(small):
    assert list(small) == ["minimal_energy", "smooth", "convergent"]
    for name, entry in small.items():
        json.dumps(record(entry.row), allow_nan=False)
        assert entry.row.trajectory == name and entry.row.status == "ok"
        halves = entry.row.success_plus + entry.row.success_minus
        assert entry.row.success == pytest.approx(0.5 * halves)
        assert entry.row.max_torque <= 0.1 + 1e-6
    smooth, convergent = small["smooth"].row, small["convergent"].row
    assert convergent.average_divergence < smooth.average_divergence
    assert smooth.roughness < small["minimal_energy"].row.roughness


def test_all_figures_are_drawn(small):
    drawn = figures(small)
    assert set(drawn) == {*(f"figure-2.{i}" for i in range(4, 11)), "swing"}
    assert all("\n" not in note for note in choices(small))


def test_without_a_plan_the_row_says_why_and_the_others_are_drawn():
    task = SwingUpOptions(1.0, 21, torque_limit=0.002, max_iterations=30)
    solved = solve(replace(BASE, task=task), 1, 0, lambda _: None)
    assert all(entry.row.success is None for entry in solved.values())
    assert "at waypoint" in solved["smooth"].row.message
    assert set(figures(solved)) == {"swing"}


@pytest.mark.slow
def test_the_convergent_swing_up_comes_back_more_often():
    result = run(StudyOptions(trials=5))
    success = {row["trajectory"]: row["success"] for row in result.records}
    assert success["convergent"] > success["smooth"]
    assert "yes" in result.notes[0]
    assert np.all([row["tracked"] > 0.5 for row in result.records])
