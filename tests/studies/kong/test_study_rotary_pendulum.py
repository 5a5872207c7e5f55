"""The study of the rotary cart pole: what it says of its rows, and one small case."""

import json
from dataclasses import replace

import numpy as np
import pytest

from controller.convergent.rotary.swing_up import SwingUpOptions
from studies.kong.rotary.figures import figures
from studies.kong.rotary.swing_ups import BASE, SWINGS, family, solve
from studies.kong.rotary_pendulum import run
from studies.study import StudyOptions


def test_success_while_swinging_is_of_the_later_waypoints(small):
    for entry in small.values():
        alpha, N = entry.swing.states[:, 1], len(entry.swing.times)
        late = [i for i in range(N) if np.any(np.abs(alpha[: i + 1]) > SWINGS)]
        share = np.mean([entry.perturbed.plus[i] + 0 for i in late])
        share = 0.5 * (share + np.mean([entry.perturbed.minus[i] + 0 for i in late]))
        assert entry.row["success_swinging"] == pytest.approx(share)
        assert entry.row["swing_time"] == pytest.approx((N - 1 - late[0]) / (N - 1))


def test_each_of_the_family_is_another_case():
    for case in family():
        fields = ("task", "gamma", "sigma", "weights", "pendulum")
        assert 1 <= sum(getattr(case, name) is not getattr(BASE, name) for name in fields) <= 2
    assert len({case.name for case in family()}) == len(family())


@pytest.fixture(scope="module")
def small():
    task = SwingUpOptions(duration=1.0, waypoints=41, torque_limit=0.1)
    return solve(replace(BASE, task=task), 2, 0)


def test_rows_are_plain_and_agree_with_what_was_simulated(small):
    assert list(small) == ["minimal_energy", "smooth", "convergent"]
    for name, entry in small.items():
        json.dumps(entry.row, allow_nan=False)
        assert entry.row["trajectory"] == name and entry.row["status"] == "ok"
        halves = entry.row["success_plus"] + entry.row["success_minus"]
        assert entry.row["success"] == pytest.approx(0.5 * halves)
        assert entry.row["max_torque"] <= 0.1 + 1e-6
    smooth, convergent = small["smooth"].row, small["convergent"].row
    assert convergent["average_divergence"] < smooth["average_divergence"]
    assert smooth["roughness"] < small["minimal_energy"].row["roughness"]


def test_all_figures_are_drawn(small):
    drawn = figures(small)
    assert set(drawn) == {*(f"figure-2.{i}" for i in range(4, 11)), "swing"}


def test_without_a_plan_the_row_says_why_and_the_others_are_drawn():
    task = SwingUpOptions(1.0, 21, torque_limit=0.002, max_iterations=30)
    solved = solve(replace(BASE, task=task), 1, 0)
    assert all(entry.row["success"] is None for entry in solved.values())
    assert "at waypoint" in solved["smooth"].row["message"]
    assert set(figures(solved)) == {"swing"}


@pytest.mark.slow
def test_the_convergent_swing_up_comes_back_more_often():
    result = run(StudyOptions(trials=5))
    success = {row["trajectory"]: row["success"] for row in result.records}
    assert success["convergent"] > success["smooth"]
    assert all(each.met for each in result.criteria)
    assert np.all([row["tracked"] > 0.5 for row in result.records])
