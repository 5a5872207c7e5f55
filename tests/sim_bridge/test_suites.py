"""Suites in the documented format, and one clear line for every mistake."""

import pytest

from sim_bridge.perturbations import BaseForce, BaseVelocity, MotorBlock, PhaseInstant
from sim_bridge.suites import SuiteError, parse_suite
from tests.refusals import refusal

DOCUMENTED = """
reference: walk
command: {velocity_x: 0.2}
duration: 6.0
input_delay: 0.0
trials:
  - {kind: base_velocity, at: 1.35, value: [0.0, 1.5, 0.0]}
  - {kind: base_velocity, at: {foot: FR, phase: swing, cycle: 2}, value: [0.0, 1.0, 0.0]}
  - {kind: base_force, at: 2.0, for: 0.1, value: [0.0, 80.0, 0.0]}
  - {kind: motor_block, at: 0.8, for: 0.15}
"""


def test_the_documented_suite_parses():
    (suite,) = parse_suite(DOCUMENTED)
    assert (suite.reference, suite.duration, suite.input_delay) == ("walk", 6.0, 0.0)
    assert suite.command == {"velocity_x": 0.2}
    assert suite.trials == (
        BaseVelocity(1.35, (0.0, 1.5, 0.0)),
        BaseVelocity(PhaseInstant("FR", "swing", 2), (0.0, 1.0, 0.0)),
        BaseForce(2.0, (0.0, 80.0, 0.0), 0.1),
        MotorBlock(0.8, 0.15),
    )


@pytest.mark.parametrize(
    "trial, said",
    [
        ("{kind: kick, at: 1}", "'kick'; accepted: base_velocity, base_force, motor_block"),
        ("{at: 1, for: 1}", "no kind; accepted: base_velocity"),
        ("{kind: base_force, at: 1, value: [0, 0, 0]}", "the key for is missing"),
        ("{kind: base_velocity, at: -1, value: [0, 0, 0]}", "trials[0].at is -1; give 0 to"),
        ("{kind: base_velocity, at: 1, value: [0, 0]}", "length 3, got 2 - at trials[0].value"),
        ("{kind: base_velocity, at: 1, value: [0, .inf, 0]}", "value is inf; give -20 to 20 m/s"),
        ("{kind: base_force, at: 1, for: 1, value: [0, 0, 2e+4]}", "give -10000 to 10000 N"),
        ("{kind: motor_block, at: 1, for: 0}", "trials[0].for is 0; give above 0, up to 86400 s"),
        ("{kind: motor_block, at: 1, for: 1, if: 2}", "'if'; accepted: kind, at, for"),
        ("{kind: motor_block, at: soon, for: 1}", "trials[0].at"),
        ("{kind: motor_block, at: {foot: XX, phase: swing, cycle: 0}, for: 1}", "FR, FL, RR, RL"),
        ("{kind: motor_block, at: {foot: FR, phase: fly, cycle: 0}, for: 1}", "swing, stance"),
        ("{kind: motor_block, at: {foot: FR, phase: swing, cycle: -1}, for: 1}", "cycle is -1;"),
        ("7", "event 0 is 7"),
        ("{kind: none, at: 1}", "event 0: unknown key 'at'; accepted: kind"),
        ("{kind: base_velocity, at: 1, value: [0, 1, 0], every: 0}", "every is 0; give above 0"),
        ("{kind: base_velocity, at: 1, value: [0, 1, 0], every: .inf}", "every is inf; give"),
        ("{kind: base_force, at: 1, for: 0.5, value: [0, 1, 0], every: 0.5}", "`for`, 0.5 s"),
    ],
)
def test_a_bad_trial_gives_one_line_that_names_what_is_accepted(trial, said):
    text = f"reference: walk\nduration: 6\ntrials:\n  - {trial}\n"
    assert said in refusal(SuiteError, parse_suite, text)


def test_trials_without_an_event_and_events_that_come_again():
    (suite,) = parse_suite(
        "{reference: stand, duration: 6, command: [{at: 1, velocity_x: 0.2}], trials: "
        "[{kind: none}, {kind: base_velocity, at: 5, every: 5, value: [[0, 1, 0], [1, 0, 0]]}]}"
    )
    assert suite.command == [{"at": 1, "velocity_x": 0.2}]
    assert suite.trials == (
        None, BaseVelocity(5.0, (0.0, 1.0, 0.0), 5.0), BaseVelocity(5.0, (1.0, 0.0, 0.0), 5.0),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text, said",
    [
        ("[]", "a suite is a mapping with the keys reference, duration, trials"),
        ("{", "not YAML"),
        ("reference: walk\nduration: 6\ntrials: []", "trials is empty"),
        ("reference: walk\ntrials: [{kind: motor_block, at: 1, for: 1}]", "duration is missing"),
        ("duration: 1\nspeed: 3\nreference: walk\ntrials: []", "unknown key 'speed'; accepted"),
    ],
)
def test_a_bad_suite_gives_one_line(text, said):
    assert said in refusal(SuiteError, parse_suite, text)
