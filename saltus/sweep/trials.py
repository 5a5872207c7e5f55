"""The trials of a suite: what each is called, and its configuration."""

import copy
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from saltus import assembly
from saltus.configuration import LaunchConfig, make_config, override_launch
from saltus.errors import BadRequest
from saltus.options import to_options
from saltus.sweep.random_command import RandomCommand
from sim_bridge.event_lists import UNDISTURBED
from sim_bridge.perturbations import MotorBlock, Perturbation
from sim_bridge.suites import Group

Row = dict[str, Any]

_OPTION_FOR = {"planner": "--planner", "mode": "--mode", "perturbations": "a suite of your own"}


class Trial(NamedTuple):
    """One run of a suite.

    Attributes:
        labels: what its row begins with: planner, trial, kind, at, value.
        group: name of its group, empty in a suite without groups.
        config: the launch it is.
    """

    labels: Row
    group: str
    config: LaunchConfig

    @property
    def key(self) -> tuple[str, int]:
        """Planner and number, which no other trial of a sweep has."""
        return self.labels["planner"], self.labels["trial"]


def make_trials(
    groups: Sequence[Group],
    planner: str,
    mode: str,
    source: str,
    assignments: Sequence[str] = (),
) -> list[Trial]:
    """The configuration of each trial, its gait phase resolved to seconds.

    Trials are numbered through all groups; the seeds of one event follow each other.

    Args:
        groups: the suite.
        planner: which planner.
        mode: ``paused`` or ``realtime``.
        source: what messages begin with: the file.
        assignments: ``KEY=VALUE`` of a launch file, which win over the suite.

    Raises:
        BadRequest: an unknown reference or key, or a phase that the reference does not have.
    """
    _check_assignments(assignments)
    trials: list[Trial] = []
    for group in groups:
        config, random = _config(group, planner, mode, source, assignments)
        for event in group.trials:
            index = len(trials)
            config = msgspec.structs.replace(config, perturbations=(event,) if event else ())
            for seeded in _seeds(config, group.seeds, random):
                labels = _labels(event, seeded, planner, index, source)
                trials.append(Trial(labels | {"trial": len(trials)}, group.name, seeded))
    return trials


def select(
    trials: list[Trial], groups: Collection[str], numbers: Collection[int], source: str
) -> list[Trial]:
    """The trials of the named groups that have one of the numbers; empty stands for all of them.

    Raises:
        BadRequest: a group or number that is none of the trials'; those that are get named.
    """
    names = list(dict.fromkeys(trial.group for trial in trials if trial.group))
    for name in groups:
        if name not in names:
            known = f"its groups: {', '.join(names)}" if names else "it has no groups"
            raise BadRequest(f"--group {name!r}: not in {source}; {known}")
    for number in numbers:
        if not 0 <= number < len(trials):
            raise BadRequest(f"--trial {number}: {source} has trials 0 to {len(trials) - 1}")
    chosen = [trial for trial in trials if not groups or trial.group in groups]
    return [trial for trial in chosen if not numbers or trial.labels["trial"] in numbers]


def event_kind(event: Perturbation | None) -> str:
    """The `kind` that suites call an event by."""
    return UNDISTURBED if event is None else str(type(event).__struct_config__.tag)


def _check_assignments(assignments: Sequence[str]) -> None:
    for assignment in assignments:
        section = assignment.partition("=")[0].strip().partition(".")[0]
        if section in _OPTION_FOR:
            raise BadRequest(f"--set {assignment}: of a sweep, set by {_OPTION_FOR[section]}")


def _config(
    group: Group, planner: str, mode: str, source: str, assignments: Sequence[str]
) -> tuple[LaunchConfig, RandomCommand | None]:
    """The launch of a group's trials, but for its events and seeds; what draws its commands."""
    simulation = copy.deepcopy(group.simulation)
    if group.input_delay > 0.0:
        simulation["input_delay"] = group.input_delay
    mapping: dict[str, Any] = {
        "mode": mode, "duration": group.duration, "planner": planner,
        "reference": group.reference, "command": copy.deepcopy(group.command),
        "simulation": simulation, "timing": dict(group.timing),
    }  # fmt: skip
    if group.reference_from is not None:
        mapping["reference_from"] = group.reference_from
    override_launch(mapping, assignments)
    random = _random_command(mapping, source)
    return make_config(mapping, source), random


def _random_command(mapping: dict[str, Any], source: str) -> RandomCommand | None:
    """Take the random command out of a mapping, where it has one.

    Raises:
        BadRequest: it is none that can be drawn from.
    """
    command = mapping["command"]
    if not isinstance(command, dict) or "random" not in command:
        return None
    if len(command) > 1 or not isinstance(command["random"], dict):
        keys = ", ".join(RandomCommand.__struct_fields__)
        raise BadRequest(f"{source}: command.random stands alone, with the keys {keys}")
    random = to_options(command["random"], RandomCommand, f"{source}: command.random")
    mapping["command"] = msgspec.to_builtins(random.script(0, random.start + 1e-3))
    return random


def _seeds(
    config: LaunchConfig, seeds: int, random: RandomCommand | None
) -> Iterator[LaunchConfig]:
    """The launch of each seed: of the sensors' noise, and of commands that are drawn."""
    for seed in range(seeds):
        simulation = config.simulation
        if seeds > 1:
            simulation = msgspec.structs.replace(simulation, seed=seed)
        command = config.command
        if random is not None:
            command = random.script(simulation.seed, config.duration)
        yield msgspec.structs.replace(config, simulation=simulation, command=command)


def _labels(
    event: Perturbation | None, config: LaunchConfig, planner: str, index: int, source: str
) -> Row:
    try:
        at = next(iter(assembly.event_times(config)), None)
    except BadRequest as error:
        raise BadRequest(f"{source}: trial {index}: {error}") from error
    if at is not None and at >= config.duration:
        raise BadRequest(f"{source}: trial {index} is at {at:g} s, after the end of the run")
    return {
        "planner": planner, "trial": index, "kind": event_kind(event), "at": at,
        "value": None if event is None or isinstance(event, MotorBlock) else list(event.value),
    }  # fmt: skip
