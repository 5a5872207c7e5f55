"""The study of particles, small; and what its lines say of made-up outcomes."""

import json

import numpy as np
import pytest

from studies.kong import skf_particles
from studies.kong.skf_particles import Outcome, outcomes
from studies.study import StudyOptions


def test_rows_figure_and_notes(monkeypatch):
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
    ]
    for row in result.records:
        assert 0.0 < row["mse"] < 2.0 and row["seconds_per_trial"] > 0.0
    assert any("dt 5 s" in note for note in result.notes)
    assert len(result.figures["figure_4_4"].axes) == 2


def test_seeds_repeat_and_more_particles_do_better():
    case = skf_particles.FLOW._replace(sizes=(10, 200))
    one, other = (list(outcomes(case, 4, 3)) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.errors, b.errors)
    assert one[-1].mse < one[-2].mse


def made_up(name, particles, errors, seconds):
    return Outcome("s", name, particles, np.array(errors), seconds)


def test_lines_say_who_is_better_and_what_equal_error_costs():
    base = np.ones(20)
    every = [
        made_up("skf", None, base, 1.0),
        made_up("jrkf", None, 2 * base, 1.0),
        made_up("bank", None, 0.9 * base, 2.0),
        made_up("particles", 10, 1.5 * base, 30.0),
        made_up("particles", 99, 0.5 * base, 300.0),
    ]
    bank, few, many, equal = skf_particles.compared(every)
    assert "20 trials" in bank and "bank: MSE -10%, 2 times the time, better" in bank
    assert "10 particles: MSE +50%, 30 times the time, worse" in few and "99" in many
    assert "99, in 300 times" in equal
    assert "more than in this study" in skf_particles.compared(every[:4] + [every[3]])[-1]
    tie = skf_particles.compared([every[0], every[1], made_up("bank", None, base, 1.0)])
    assert "no difference (p = 1)" in tie[0]
    assert len(tie) == 1


@pytest.mark.slow
def test_the_salted_filter_beats_few_particles_and_the_reset_jacobian():
    case = skf_particles.FLOW._replace(sizes=(50,))
    skf, jrkf, bank, particles = outcomes(case, 200, 0)
    assert skf.mse < jrkf.mse and skf.mse < particles.mse
    assert bank.mse < 1.02 * skf.mse and skf.seconds < particles.seconds
