"""Suites of driven robots: scripts, commands drawn at random, and trials without a push."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltus.common.errors import BadRequest
from saltus.common.files import find_file
from saltus.launch.assembly import event_times
from saltus.sweep.trials import RandomCommand, make_trials
from sim_bridge.perturbations import BaseVelocity
from sim_bridge.suites import parse_suite, read_suite
from tests.refusals import refusal
from tests.tables import table

RANDOM = "{random: {velocity_x: 1.0, velocity_y: 0.3, yaw_rate: 1.0, hold: [1, 4]}}"


def trials_of(keys, planner="hilqr", *settings):
    text = f"reference: stand\nduration: 30\ntrials: [{{kind: none}}]\n{keys}\n"
    return make_trials(parse_suite(text), planner, "paused", "suite", settings)


def script_of(trial):
    assert isinstance(trial.config.command, tuple)
    return trial.config.command


def test_random_commands_keep_to_their_bounds_and_times():
    random = RandomCommand("trot", 1.0, 0.3, 0.0, (1.0, 4.0), 0.5)
    steps = [step for seed in range(200) for step in random.script(seed, 30.0)]
    drawn = np.array([[step.velocity_x, step.velocity_y, step.yaw_rate] for step in steps])
    assert np.abs(drawn).max(axis=0) == approx([1.0, 0.3, 0.0], rel=0.01)
    assert_allclose(drawn.mean(axis=0), 0.0, atol=0.05)
    assert_allclose(drawn.std(axis=0), np.array([1.0, 0.3, 0.0]) / 3**0.5, rtol=0.05)
    for seed in range(20):
        times = np.array([step.at for step in random.script(seed, 30.0)])
        holds = np.diff(times)
        assert times[0] == 0.5 and 26.0 <= times[-1] < 30.0
        assert holds.min() >= 1.0 and holds.max() <= 4.0
        longer = random.script(seed, 40.0)  # the same, and more
        assert longer[: len(times)] == random.script(seed, 30.0) and len(longer) > len(times)


def test_a_seed_chooses_script_and_noise_the_same_for_each_planner():
    ours, theirs = (trials_of(f"seeds: 3\ncommand: {RANDOM}", p) for p in ("hilqr", "convex_mpc"))
    assert [trial.config.simulation.seed for trial in ours] == [0, 1, 2]
    assert [script_of(t) for t in ours] == [script_of(t) for t in theirs]
    assert len({script_of(trial) for trial in ours}) == 3
    (alone,) = trials_of(f"command: {RANDOM}\nsimulation: {{seed: 2}}")
    assert script_of(alone) == script_of(ours[2])
    bounded = trials_of(f"seeds: 3\ncommand: {RANDOM}", "hilqr", "command.random.velocity_x=0.1")
    assert max(abs(s.velocity_x or 0.0) for t in bounded for s in script_of(t)) <= 0.1


def test_the_drive_suite_is_what_the_readme_says():
    trials = make_trials(read_suite(find_file("config", "drive")), "hilqr", "paused", "drive")
    sizes = Counter(trial.group for trial in trials)
    assert sizes["random commands"] == sizes["random commands, pushed"] == 20
    assert set(sizes.values()) == {2, 16, 20}
    free, pushed = ([t for t in trials if t.group == name] for name in list(sizes)[-2:])
    assert [script_of(trial) for trial in free] == [script_of(trial) for trial in pushed]
    assert event_times(pushed[0].config) == [5.0, 10.0, 15.0, 20.0, 25.0]
    assert pushed[0].config.perturbations == (BaseVelocity(5.0, (0.0, 1.0, 0.0), 5.0),)


@pytest.mark.parametrize("command, words", table("""
    {random: {gait: gallop}} => command.random: gait is 'gallop'; accepted: stand
    {random: {speed: 1}} => command.random: unknown key 'speed'; accepted: gait, velocity_x
    {random: {velocity_x: -1}} => command.random: velocity_x is -1; give 0 to 5 m/s
    {random: {yaw_rate: .nan}} => yaw_rate is nan; give 0 to 10 rad/s
    {random: {hold: [4, 1]}} => hold is [4.0, 1.0]
    {random: {hold: [0, 1]}} => hold is
    {random: 3} => command.random stands alone, with the keys gait
    {random: {}, velocity_x: 1} => command.random stands alone
    [{at: 1.0}, {at: 1.0}] => a step at 1 s follows one at 1 s
    [{at: 1.0, speed: 2}] => unknown key
"""))  # fmt: skip
def test_a_command_that_cannot_be_followed_is_one_line(command, words):
    assert words in refusal(BadRequest, trials_of, f"command: {command}")


def test_a_push_names_a_foots_phase_of_a_script():
    at = "{foot: FL, phase: swing, cycle: [1, 4], share: 0.5}"
    first, later = trials_of(
        "command: [{at: 0.5, gait: trot, velocity_x: 0.3}]\n"
        f"groups: [{{name: a, trials: {{kind: base_velocity, at: {at}, value: [0, 1, 0]}}}}]"
    )
    # A trot of 0.44 s begins at 0.5 s; FL lifts off half a stride later, for 0.4 of one.
    expected = 0.5 + 0.44 * (1.5 + 0.5 * 0.4)
    assert first.labels["at"] == approx(expected, abs=0.002)
    assert later.labels["at"] - first.labels["at"] == approx(3 * 0.44, abs=0.002)
    with pytest.raises(BadRequest):
        trials_of(
            "command: [{at: 0.5, gait: trot, velocity_x: 0.3}]\n"
            "groups: [{name: a, trials: {kind: motor_block, for: 1, at: "
            "{foot: FL, phase: swing, cycle: 999}}}]"
        )
