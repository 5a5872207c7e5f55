"""Perturbation suites: groups of trials, read from YAML, with one clear line for each mistake."""

from math import prod
from pathlib import Path
from typing import Annotated, Any

import msgspec

from runtime.options import Options, Range, positive
from sim_bridge.event_lists import (
    MOST_TRIALS,
    SuiteError,
    check_keys,
    convert,
    keys_of,
    parse_events,
    parse_trials,
)
from sim_bridge.perturbations import Perturbation
from sim_bridge.plain_yaml import YamlError, read_yaml
from sim_bridge.suite_products import SECTIONS, group_lists, write_out_group

__all__ = ["Group", "SuiteError", "parse_events", "parse_suite", "read_suite"]


class Group(Options, frozen=True):
    """Trials that differ in their one perturbation and in their seed only.

    In a file, lists in its fields multiply out into groups of the same name, see `parse_suite`.

    Attributes:
        reference: what the robot is asked to do (stand, walk, trot, ...).
        duration: length of every trial, simulated.
        trials: one event per trial, None for a trial without.
        command: as a launch file has it, a velocity or the steps of a script; or one key, `random`,
            with the bounds of a script that is drawn for each trial.
        input_delay: time between command and motor.
        terrain: the ground, as a launch file has it: flat, or a list of parts.
        terrain_belief: what planner and estimator know of it; None leaves that to the launch.
        pass_distance: over the ground from the start, which a trial must end beyond to have passed;
            None where staying up is enough.
        pass_two_legs: the same for the time without a front foot on the ground.
        simulation: options of the simulated robot and its world.
        seeds: how often each event is tried, with simulation.seed 0, 1, ...; 1 leaves the seed.
        timing: latency model of lock step: `solve` and `estimate` [s].
        reference_from: where the reference of a gait comes from; None leaves that to the launch.
        name: how a reader finds it; empty for a suite without groups.
    """

    reference: str
    duration: Annotated[float, positive("s")]
    trials: tuple[Perturbation | None, ...]
    command: dict[str, Any] | list[dict[str, Any]] = {}
    input_delay: Annotated[float, Range("s", 0.0)] = 0.0
    terrain: str | list[dict[str, Any]] = "flat"
    terrain_belief: str | None = None
    pass_distance: Annotated[float, positive("m")] | None = None
    pass_two_legs: Annotated[float, positive("s")] | None = None
    simulation: dict[str, Any] = {}
    seeds: Annotated[int, Range("-", 1)] = 1
    timing: dict[str, Any] = {}
    reference_from: str | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for numbers out of range and for options given twice."""
        Options.__post_init__(self)
        if self.seeds > 1 and "seed" in self.simulation:
            raise ValueError("give seeds or simulation.seed, not both")
        if self.input_delay > 0.0 and "input_delay" in self.simulation:
            raise ValueError("give input_delay or simulation.input_delay, not both")


def read_suite(path: Path) -> tuple[Group, ...]:
    """Read a suite from a YAML file.

    Raises:
        SuiteError: the file cannot be read or is not a suite; one line that names the file.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path}: {error.strerror or error}") from error
    try:
        return parse_suite(text)
    except SuiteError as error:
        raise SuiteError(f"{path}: {error}") from error


def parse_suite(text: str | bytes) -> tuple[Group, ...]:
    """Parse a suite from YAML text: its groups, or its trials as one group without a name.

    A group takes every key that it does not set from the top of the suite; `command`,
    `simulation` and `timing` key by key, but a random command as a whole.

    Lists in `reference`, `reference_from`, `duration` and `input_delay`, and in the keys of
    `command`, `simulation` and `timing`, multiply out: the result has a group of the same name for
    each combination, later keys changing fastest. A list that is `command` itself is a script, and
    the lists of a random command are its bounds.

    Raises:
        SuiteError: the text is not YAML or not a suite.
    """
    accepted = (*keys_of(Group)[:-1], "groups")
    try:
        data = read_yaml(text)
    except YamlError as error:
        raise SuiteError(str(error)) from error
    if not isinstance(data, dict):
        raise SuiteError(f"a suite is a mapping with the keys {', '.join(accepted)}")
    check_keys("", data, accepted)
    if "groups" not in data:
        return _not_too_many(tuple(_written_out(data)))
    shared = {key: value for key, value in data.items() if key != "groups"}
    return _not_too_many(_groups(shared, data["groups"]))


def _not_too_many(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    trials = sum(len(group.trials) * group.seeds for group in groups)
    if trials > MOST_TRIALS:
        raise SuiteError(f"with its seeds {trials} trials; give at most {MOST_TRIALS} in all")
    return groups


def _groups(shared: dict[str, Any], entries: Any) -> tuple[Group, ...]:
    if not isinstance(entries, list) or not entries:
        raise SuiteError("groups: give a list of mappings, each with a name")
    groups: dict[str, list[Group]] = {}
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name or name in groups:
            raise SuiteError(f"group {index}: give a mapping with a name of its own")
        check_keys(f"group {name!r}: ", entry, keys_of(Group))
        try:
            groups[name] = _written_out(_merged(shared, entry))
        except SuiteError as error:
            raise SuiteError(f"group {name!r}: {error}") from error
    return tuple(group for several in groups.values() for group in several)


def _merged(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = shared | own
    for key in SECTIONS:
        both = shared.get(key), own.get(key)
        if all(isinstance(each, dict) and "random" not in each for each in both):
            merged[key] = shared[key] | own[key]
    return merged


def _written_out(data: dict[str, Any]) -> list[Group]:
    """The groups of plain keys, one for each combination of what their lists hold."""
    lists = group_lists(data)
    for path, values in lists.items():
        if not values:
            raise SuiteError(f"{'.'.join(path)}: the list is empty, so it stands for no trial")
    trials = parse_trials(data["trials"]) if "trials" in data else (None,)
    count = prod(map(len, lists.values())) * len(trials)
    if count > MOST_TRIALS:
        raise SuiteError(f"its lists stand for {count} trials; give at most {MOST_TRIALS} in all")
    return [_group(single, trials) for single in write_out_group(data)]


def _group(data: dict[str, Any], trials: tuple[Perturbation | None, ...]) -> Group:
    """One group of plain keys and its events."""
    if "trials" not in data:
        return convert(data, Group)  # refused, naming a key that is missing
    return msgspec.structs.replace(convert(data | {"trials": []}, Group), trials=trials)
