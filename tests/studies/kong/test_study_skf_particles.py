"""The study of particles, small; and its rows of made-up outcomes."""

import json

import numpy as np
import pytest

from studies.kong import skf_particles
from studies.kong.skf_particles import Outcome, outcomes
from studies.study import StudyOptions


def test_rows_and_figure(monkeypatch):
    small = skf_particles.FLOW._replace(sizes=(20, 50))
    monkeypatch.setattr(skf_particles, "FLOW", small)
    monkeypatch.setattr(skf_particles, "ASLIP", skf_particles.ASLIP._replace(sizes=(10,)))
    monkeypatch.setattr(skf_particles, "LONGER", (skf_particles.LONGER[0]._replace(sizes=(20,)),))
    result = skf_particles.run(StudyOptions(trials=2))
    assert json.loads(json.dumps(list(result.records))) == list(result.records)
    assert [(row["system"], row["filter"], row["particles"]) for row in result.records] == [
        *(("constant_flow", name, None) for name in ("skf", "jrkf", "bank")),
        ("constant_flow", "particles", 20),
        ("constant_flow", "particles", 50),
        *(("aslip", name, None) for name in ("skf", "jrkf", "bank")),
        ("aslip", "particles", 10),
        *(("constant_flow, dt 5 s", name, None) for name in ("skf", "jrkf", "bank")),
        ("constant_flow, dt 5 s", "particles", 20),
    ]
    for row in result.records:
        assert 0.0 < row["mse"] < 2.0 and row["seconds_per_trial"] > 0.0
    assert len(result.figures["figure_4_4"].axes) == 2


def test_seeds_repeat_and_more_particles_do_better():
    case = skf_particles.FLOW._replace(sizes=(10, 200))
    one, other = (list(outcomes(case, 4, 3)) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.errors, b.errors)
    assert one[-1].mse < one[-2].mse


def test_rows_say_which_is_better_and_what_it_costs():
    base = np.ones(20)
    skf = Outcome("skf", None, base, 1.0)
    bank = skf_particles.row("s", Outcome("bank", None, 0.9 * base, 2.0), skf)
    few = skf_particles.row("s", Outcome("particles", 10, 1.5 * base, 30.0), skf)
    assert bank["mse_over_skf"] == pytest.approx(0.9) and bank["seconds_over_skf"] == 2.0
    assert (bank["better"], few["better"]) == ("bank", "skf") and bank["p_value"] < 1e-4
    tie = skf_particles.row("s", skf, skf)
    assert tie["better"] == "tie" and tie["p_value"] == 1.0


@pytest.mark.slow
def test_the_salted_filter_beats_few_particles_and_the_reset_jacobian():
    case = skf_particles.FLOW._replace(sizes=(50,))
    skf, jrkf, bank, particles = outcomes(case, 200, 0)
    assert skf.mse < jrkf.mse and skf.mse < particles.mse
    assert bank.mse < 1.02 * skf.mse and skf.seconds < particles.seconds
