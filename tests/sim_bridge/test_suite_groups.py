"""Groups, seeds and products of a suite: written out in a known order, inherited key by key."""

import pytest

from sim_bridge.perturbations import BaseForce, BaseVelocity, MotorBlock, PhaseInstant
from sim_bridge.suites import SuiteError, parse_suite
from tests.refusals import refusal

BLOCK = "{kind: motor_block, at: 1, for: 1}"


def trials_of(trials):
    (group,) = parse_suite(f"reference: walk\nduration: 6\ntrials: {trials}\n")
    return group.trials


def test_product_varies_values_fastest_then_cycles_then_feet():
    product = trials_of(
        "{kind: base_velocity, at: {cycle: [0, 3], foot: [RL, FR], phase: swing, share: 0.5}, "
        "value: [[0, 1, 0], [0, -1, 0]]}"
    )
    assert product == tuple(
        BaseVelocity(PhaseInstant(foot, "swing", cycle, 0.5), (0.0, side, 0.0))
        for foot in ("RL", "FR") for cycle in (0, 3) for side in (1.0, -1.0)
    )  # fmt: skip


def test_of_several_kinds_each_takes_the_fields_that_it_has():
    product = trials_of(
        "{kind: [none, motor_block, base_force], at: [1, 2], for: 0.1, value: [0, 1, 0]}"
    )
    assert product == (
        None, MotorBlock(1.0, 0.1), MotorBlock(2.0, 0.1),
        BaseForce(1.0, (0.0, 1.0, 0.0), 0.1), BaseForce(2.0, (0.0, 1.0, 0.0), 0.1),
    )  # fmt: skip


def test_lists_in_a_group_multiply_out_into_groups_of_its_name():
    groups = parse_suite(
        "{reference: [walk, trot], duration: 6, command: {velocity_x: 0.2}, "
        f"trials: [{BLOCK}], groups: [{{name: a, simulation: {{friction: [0.4, 0.6]}}}}, "
        "{name: b, reference: stand, timing: {solve: [0.01, 0.02]}, duration: [3, 4]}]}"
    )
    found = [(g.name, g.reference, g.simulation.get("friction"), g.timing.get("solve"), g.duration)
             for g in groups]  # fmt: skip
    assert found == [
        ("a", "walk", 0.4, None, 6.0), ("a", "walk", 0.6, None, 6.0),
        ("a", "trot", 0.4, None, 6.0), ("a", "trot", 0.6, None, 6.0),
        ("b", "stand", None, 0.01, 3.0), ("b", "stand", None, 0.02, 3.0),
        ("b", "stand", None, 0.01, 4.0), ("b", "stand", None, 0.02, 4.0),
    ]  # fmt: skip
    assert all(group.command == {"velocity_x": 0.2} for group in groups)


def test_groups_inherit_and_merge_command_and_simulation():
    groups = parse_suite(
        "{reference: walk, duration: 6, command: {velocity_x: 0.2}, seeds: 2, "
        f"simulation: {{friction: 0.6, mass_scale: 0.9}}, trials: [{BLOCK}], "
        "groups: [{name: a}, {name: b, duration: 3, seeds: 1, simulation: {friction: 1.0}, "
        "reference: trot, reference_from: kinematic}]}"
    )
    assert [group.name for group in groups] == ["a", "b"]
    assert [group.duration for group in groups] == [6.0, 3.0]
    assert [group.seeds for group in groups] == [2, 1]
    assert groups[1].simulation == {"friction": 1.0, "mass_scale": 0.9}
    assert groups[0].simulation == {"friction": 0.6, "mass_scale": 0.9}
    assert groups[1].command == {"velocity_x": 0.2} and groups[1].reference == "trot"
    assert groups[0].trials == groups[1].trials
    assert (groups[0].reference_from, groups[1].reference_from) == (None, "kinematic")


@pytest.mark.parametrize(
    "text, said",
    [
        ("groups: []", "give a list of mappings, each with a name"),
        ("groups: [{duration: 1}]", "group 0: give a mapping with a name"),
        (f"trials: [{BLOCK}]\ngroups: [{{name: a}}, {{name: a}}]", "group 1: give a mapping"),
        ("groups: [{name: a, speed: 3}]", "group 'a': unknown key 'speed'; accepted: reference"),
        ("groups: [{name: a, duration: 1}]", "group 'a': the key trials is missing"),
        (f"name: a\ntrials: [{BLOCK}]", "unknown key 'name'; accepted: reference"),
        (f"seeds: 0\ntrials: [{BLOCK}]", "seeds is 0; give 1 or more"),
        (f"seeds: 2\nsimulation: {{seed: 1}}\ntrials: [{BLOCK}]", "seeds or simulation.seed"),
        (f"input_delay: 0.1\nsimulation: {{input_delay: 0}}\ntrials: [{BLOCK}]", "not both"),
        ("trials: 7", "give a list of events"),
        ("trials: {kind: motor_block, at: [], for: 1}", "event 0: a list in it is empty"),
        (f"seeds: 1000000000\ntrials: [{BLOCK}]", "1000000000 trials; give at most 100000"),
        (f"trials: {{kind: motor_block, at: {list(range(1000))}, for: 1, value: 0}}", "'value'"),
        (f"trials: {{kind: base_velocity, at: {list(range(1000))}, value: {[[0, 1, 0]] * 1000}}}",
         "event 0 stands for 1000000 trials; give at most 100000"),
        ("trials: {kind: [], at: 1}", "event 0: kind is an empty list"),
        ("trials: {kind: [base_velocity, base_force], at: 1, for: 1, value: [0, 1, 0]}",
         "event 0: the unit of value differs between base_velocity and base_force"),
        ("trials: {kind: [none, motor_block], at: 1, for: 1, value: [0, 1, 0]}",
         "event 0: unknown key 'value'; accepted: kind, at, for"),
        (f"trials: {{kind: base_force, at: {list(range(400))}, for: {list(range(400))}, "
         "value: [0, 1, 0]}", "event 0 stands for 160000 trials"),
        (f"simulation: {{friction: []}}\ntrials: [{BLOCK}]", "simulation.friction: the list"),
        (f"command: {{velocity_x: {list(range(400))}}}\ntrials: {{kind: motor_block, "
         f"at: {list(range(400))}, for: 1}}", "its lists stand for 160000 trials"),
        (f"trials: {'[' * 100_000}", "nested more than 40 levels deep"),
        ("trials: {kind: motor_block, at: [1, {foot: FR, leg: 1}], for: 1}",
         "event 0: at: unknown key 'leg'; accepted: foot, phase, cycle, share"),
        ("trials: {kind: motor_block, at: {foot: FR, phase: swing, cycle: 0, share: 1}, for: 1}",
         "trials[0].at.share is 1; give 0 to 0.999"),
    ],
)  # fmt: skip
def test_a_bad_group_gives_one_line(text, said):
    assert said in refusal(SuiteError, parse_suite, f"reference: walk\nduration: 6\n{text}\n")
