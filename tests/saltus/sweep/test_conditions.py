"""Which trials are repetitions of one condition, and how it is said in words."""

import msgspec
import numpy as np
import pytest
import yaml

from saltus.common.files import find_file
from saltus.configuration.planners import PLANNERS
from saltus.sweep.conditions import Conditions
from saltus.sweep.summary import summarise
from saltus.sweep.trials import make_trials
from sim_bridge.suites import parse_suite, read_suite

HEAD = "reference: walk\ncommand: {velocity_x: 0.2}\nduration: 4\n"


def rows_of(suite, planners=("hilqr",), *settings):
    groups = read_suite(find_file("config", suite)) if "\n" not in suite else parse_suite(suite)
    trials = [t for p in planners for t in make_trials(groups, p, "paused", "suite", settings)]
    measured = {"fell": False, "max_lateral_deviation_m": 0.1, "solve_ms_p50": 1.0}
    return [t.labels | measured | {"group": t.group, "seed": t.config.simulation.seed}
            for t in trials]  # fmt: skip


def words_of(suite, *settings):
    return [condition.words for condition in Conditions(rows_of(suite, ("hilqr",), *settings))]


@pytest.mark.parametrize("count", [2, 4, 16])
def test_a_named_group_joins_directions_and_instants(count):
    angles = 2.0 * np.pi * np.arange(count) / count
    values = [[float(np.cos(a)), float(np.sin(a)), 0.0] for a in angles]
    suite = HEAD + ("groups: [{name: g, seeds: 2, trials: {kind: base_velocity, at: [1, 2], "
                    f"value: {values}}}}}]")  # fmt: skip
    assert words_of(suite) == ["g"]
    (entry,) = summarise(rows_of(suite))
    assert entry["trials"] == 4 * len(values) and len(entry["values"]) == len(values)


def test_without_a_group_the_push_is_named_and_what_differs():
    one = HEAD + "trials: [{kind: base_force, at: 1, for: 0.1, value: [0, 10, 0]}, {kind: none}]"
    assert words_of(one) == ["base force 10 N along (0, 1, 0), for 0.1", "undisturbed"]


def test_groups_of_our_suites_are_one_condition_each_and_nothing_is_said_twice():
    rows = rows_of("robustness", PLANNERS)
    found = list(Conditions(rows))
    assert len(found) == 18 and len(summarise(rows)) == 18 * len(PLANNERS)
    assert {entry["trials"] for entry in summarise(rows)} == {16}
    assert all(condition.words == condition.group for condition in found)
    assert words_of("table-6.1") == ["1.0 m/s", "1.5 m/s"]
    assert words_of("table-6.2") == ["motor block"]
    driven = words_of("drive")
    assert driven[0] == "speed steps" and len(driven) == 10
    assert driven[-1] == "random commands, pushed"


def test_a_row_holds_the_whole_condition():
    suite = ("reference: stand\nduration: 9\nseeds: 2\n"
             "command: {random: {gait: trot, velocity_x: 0.5}}\n"
             "trials: [{kind: base_force, at: {foot: FL, phase: swing, cycle: 1}, for: 0.1, "
             "every: 3, value: [0, 10, 0]}]")  # fmt: skip
    first, second = rows_of(suite)
    expected = yaml.safe_load("""
        {kind: base_force, value: [0, 10, 0], for: 0.1, every: 3, reference: stand, duration: 9}
    """)
    assert {key: first[key] for key in expected} == expected
    assert first["instant"] == {"foot": "FL", "phase": "swing", "cycle": 1, "share": 0.0}
    assert isinstance(first["at"], float) and first["command"]["random"]["velocity_x"] == 0.5
    assert (first["seed"], second["seed"]) == (0, 1) and first["command"] == second["command"]
    assert first["simulation"] == {}
    assert msgspec.json.decode(msgspec.json.encode(first)) == first
    assert len(list(Conditions([first, second]))) == 1  # a seed is a repetition
    script = rows_of("reference: stand\nduration: 2\ntrials: [{kind: none}]\n"
                     "command: [{at: 0.5, gait: trot, velocity_x: 0.3}]")  # fmt: skip
    assert script[0]["command"] == [{"at": 0.5, "gait": "trot", "velocity_x": 0.3}]
