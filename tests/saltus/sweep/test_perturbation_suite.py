"""Suites: phases become seconds, trials become configurations, rows become success by magnitude."""

import json

import pytest
import yaml

from controller.gaits import WALK
from saltus.common.errors import BadRequest
from saltus.common.files import find_file
from saltus.sweep.trials import make_trials, select
from sim_bridge.suites import parse_suite, read_suite
from tests.refusals import refusal
from tests.tables import table


def trials_of(text, *settings):
    return make_trials(parse_suite(text), "hilqr", "paused", "suite", settings)


def test_trial_has_its_event_alone_and_the_suites_delay():
    trials = trials_of(
        "{reference: stand, duration: 2.0, input_delay: 0.01, trials: ["
        "{kind: base_velocity, at: 0.5, value: [0, 1, 0]}, {kind: motor_block, at: 0.8, for: 0.1}]}"
    )
    assert [len(trial.config.perturbations) for trial in trials] == [1, 1]
    assert trials[0].config.simulation.input_delay == 0.01
    assert trials[1].labels["kind"] == "motor_block" and trials[1].labels["value"] is None


GROUPS = """
{reference: stand, duration: 2.0, simulation: {friction: 0.5}, seeds: 2, groups: [
  {name: a, trials: [{kind: motor_block, at: [0.5, 0.8], for: 0.1}]},
  {name: b, duration: 3.0, seeds: 1, trials: {kind: motor_block, at: 0.4, for: 0.1}}]}
"""


def test_trials_are_numbered_through_groups_and_seeds():
    trials = trials_of(GROUPS)
    found = [
        [t.key[1], t.group, t.labels["at"], t.config.simulation.seed, t.config.duration]
        for t in trials
    ]
    assert found == yaml.safe_load("""
        - [0, a, 0.5, 0, 2]
        - [1, a, 0.5, 1, 2]
        - [2, a, 0.8, 0, 2]
        - [3, a, 0.8, 1, 2]
        - [4, b, 0.4, 0, 3]
    """)
    assert all(trial.config.simulation.friction == 0.5 for trial in trials)
    assert [t.key[1] for t in select(trials, ("a",), (1, 4), None, "suite")] == [1]
    assert [t.key[1] for t in select(trials, ("b", "a"), (), None, "suite")] == [0, 1, 2, 3, 4]
    assert [t.key[1] for t in select(trials, (), (), 1, "suite")] == [0, 2, 4]


def test_settings_win_over_the_suite():
    settings = "simulation.friction=0.9", "hilqr.knots=20", "duration=4", "estimator=invariant"
    trials = trials_of(GROUPS, *settings)
    assert {t.config.simulation.friction for t in trials} == {0.9}
    assert {t.config.hilqr.knots for t in trials} == {20}
    assert {t.config.duration for t in trials} == {4.0}
    assert {t.config.estimator for t in trials} == {"invariant"}
    assert [t.config.simulation.seed for t in trials] == [0, 1, 0, 1, 0]


def test_pushes_of_table_6_1_come_in_the_middle_of_each_foots_swing():
    trials = make_trials(read_suite(find_file("config", "table-6.1")), "hilqr", "paused", "6.1")
    assert {tuple(t.labels["value"]) for t in trials} == {(0.0, 1.0, 0.0), (0.0, 1.5, 0.0)}
    for trial in trials:
        swings = WALK.contacts(trial.labels["at"]) == 0
        early, late = (WALK.contacts(trial.labels["at"] + d) == 0 for d in (-0.085, 0.085))
        assert swings.sum() == 1 and (swings == early).all() and (swings == late).all()


@pytest.mark.parametrize("text, says", table("""
    {trials: [{kind: motor_block, at: 1.5, for: 0.1}]} \
        => suite: trial 0: at is 1.5 s, and the trial ends at 1 s
    {trials: [{kind: motor_block, at: {foot: FR, phase: swing, cycle: 0}, for: 0.1}]} \
        => suite: trial 0:
    {reference: moonwalk} => walk
    {simulation: {frictoin: 1}} => friction
    {reference: walk, command: {speed: 1}} => velocity_x
"""))  # fmt: skip
def test_trial_that_cannot_be_run_is_refused(text, says):
    usual = {"reference": "stand", "duration": 1.0, "trials": [{"kind": "none"}]}
    text = json.dumps(usual | yaml.safe_load(text))
    assert says in refusal(BadRequest, trials_of, text)
