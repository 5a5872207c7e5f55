"""Suites of perturbation tests: read a file in config, and turn it into trials."""

from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path
from reprlib import repr as short
from typing import Annotated, Any

import msgspec

from runtime.options import Options, Range, positive, refusal
from sim_bridge.perturbations import KINDS, Perturbation, PhaseInstant
from sim_bridge.plain_yaml import YamlError, read_yaml

UNDISTURBED = "none"  # the kind of a trial without an event
MOST_TRIALS = 100_000  # of a suite; a product of lists is soon more than anybody can wait for


class SuiteError(ValueError):
    """A suite or list of events that cannot be used; the message is one line that says why."""


def parse_trials(data: Any) -> tuple[Perturbation | None, ...]:
    """Turn the `trials` of a suite into events, its products written out.

    An entry `{kind: none}` is a trial without an event: None.

    In an entry every field may be a list: `value` of vectors, `at` of instants, whose fields
    `{foot, phase, cycle, share}` may be lists too. The entry then stands for every combination,
    values changing fastest, then `every`, `for`, the instants (share, cycle, phase, foot) and
    `kind`. Of several kinds each takes the fields that it has. One such entry may stand for the
    whole list.

    Raises:
        SuiteError: an entry is not an event, stands for none or for too many, or there is none.
    """
    entries = [data] if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise SuiteError("trials: give a list of events, or one event whose fields are lists")
    trials: list[Perturbation | None] = []
    for index, entry in enumerate(entries):
        where = f"event {index}"
        by_kind = _split_kinds(where, entry)
        for single in by_kind:
            _check_event(where, single, (UNDISTURBED,))
        _check_count(where, by_kind, len(trials))
        events = [event for single in by_kind for event in write_out_event(single)]
        trials += [_event(event, f"trials[{index}]") for event in events]
    if not trials:
        raise SuiteError("trials is empty; give at least one event")
    return tuple(trials)


def convert(data: Any, kind: Any, where: str = "") -> Any:
    """Convert plain data.

    Text is read as a number where one is expected: YAML takes 1e-3, without a point, for text.

    Args:
        data: what was read.
        kind: the type to make of it.
        where: what the place of a mistake begins with.

    Raises:
        SuiteError: the data is not of this type.
    """
    try:
        return msgspec.convert(data, kind, strict=False)
    except msgspec.ValidationError as error:
        raise SuiteError(refusal(error, where)) from error


def keys_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The keys that a struct is written with."""
    return kind.__struct_encode_fields__


def check_keys(where: str, data: dict[Any, Any], accepted: tuple[str, ...]) -> None:
    """Raise SuiteError for a key that is not accepted; `where` begins the message."""
    unknown = [key for key in data if key not in accepted]
    if unknown:
        raise SuiteError(f"{where}unknown key {unknown[0]!r}; accepted: {', '.join(accepted)}")


def _event(event: dict[str, Any], where: str) -> Perturbation | None:
    return None if event["kind"] == UNDISTURBED else convert(event, Perturbation, where)


def _split_kinds(where: str, entry: Any) -> list[Any]:
    """An entry for each kind that it names, with the fields that this kind has.

    Raises:
        SuiteError: none of several kinds has a field, or `value` is in other units for each.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), list):
        return [entry]
    kinds = list(dict.fromkeys(str(kind) for kind in entry["kind"]))
    if not kinds:
        raise SuiteError(f"{where}: kind is an empty list, so it stands for no trial")
    check_keys(f"{where}: ", entry, tuple(dict.fromkeys(key for k in kinds for key in _fields(k))))
    valued = [kind for kind in kinds if kind in KINDS and "value" in _fields(kind)]
    if len(valued) > 1 and all(kind in (*KINDS, UNDISTURBED) for kind in kinds):
        raise SuiteError(
            f"{where}: the unit of value differs between {' and '.join(valued)}; give each kind an "
            "entry of its own"
        )
    return [
        {key: value for key, value in entry.items() if key in _fields(kind)} | {"kind": kind}
        for kind in kinds
    ]


def _fields(kind: str) -> tuple[str, ...]:
    """The keys of an event of this kind; all keys of all kinds where there is no such kind."""
    if kind == UNDISTURBED:
        return ("kind",)
    known = [KINDS[kind]] if kind in KINDS else list(KINDS.values())
    return ("kind", *(key for each in known for key in keys_of(each)))


def _check_event(where: str, event: Any, besides: tuple[str, ...] = ()) -> None:
    """Name the accepted kinds (some `besides` events) and keys, which the parser would not."""
    if not isinstance(event, dict):
        raise SuiteError(f"{where} is {short(event)}; give a mapping with a kind")
    kind = str(event.get("kind"))
    if kind not in (*KINDS, *besides):
        wrong = f"unknown kind {short(event['kind'])}" if "kind" in event else "no kind"
        raise SuiteError(f"{where}: {wrong}; accepted: {', '.join((*KINDS, *besides))}")
    check_keys(f"{where}: ", event, _fields(kind))
    for instant in listed(event.get("at")):
        if isinstance(instant, dict):
            check_keys(f"{where}: at: ", instant, keys_of(PhaseInstant))


def _check_count(where: str, by_kind: list[dict[str, Any]], before: int) -> None:
    """Refuse a product before it is written out; `before` trials are there already."""
    counts = [count_events(event) for event in by_kind]
    if not all(counts):
        raise SuiteError(f"{where}: a list in it is empty, so it stands for no trial")
    if before + sum(counts) > MOST_TRIALS:
        raise SuiteError(
            f"{where} stands for {sum(counts)} trials; give at most {MOST_TRIALS} in all"
        )


SECTIONS = ("command", "simulation", "timing")  # of a group: their keys may hold lists
_PLAIN = ("reference", "reference_from", "duration", "input_delay")  # keys of a group likewise
_SLOWEST_FIRST = ("at", "for", "every", "value")


def count_events(entry: dict[str, Any]) -> int:
    """Number of events of an entry of one kind, without writing them out."""
    instants = sum(
        prod(len(listed(choices)) for choices in at.values()) if isinstance(at, dict) else 1
        for at in listed(entry.get("at"))
    )
    return instants * prod(len(_choices(key, entry[key])) for key in entry if key != "at")


def write_out_event(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The single events that an entry of one kind stands for."""
    keys = [key for key in _SLOWEST_FIRST if key in entry]
    for chosen in product(*(_choices(key, entry[key]) for key in keys)):
        yield entry | dict(zip(keys, chosen, strict=True))


def group_lists(group: dict[str, Any]) -> dict[tuple[str, ...], list[Any]]:
    """The lists of a group that multiply out, by the keys that lead to them."""
    found: dict[tuple[str, ...], list[Any]] = {
        (key,): group[key] for key in _PLAIN if isinstance(group.get(key), list)
    }
    for section in SECTIONS:
        fields = group.get(section)
        if isinstance(fields, dict):
            found |= {(section, k): v for k, v in fields.items() if isinstance(v, list)}
    return found


def write_out_group(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The single groups that a group stands for, its last list changing fastest."""
    lists = group_lists(group)
    for chosen in product(*lists.values()):
        single = dict(group)
        for (key, *inner), value in zip(lists, chosen, strict=True):
            single[key] = single[key] | {inner[0]: value} if inner else value
        yield single


def listed(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def _choices(key: str, value: Any) -> list[Any]:
    """Values of a field: a vector alone is one value, an instant may be a product."""
    if key == "at":
        return [at for item in listed(value) for at in _instants(item)]
    if key == "value":
        several = isinstance(value, list) and all(isinstance(item, list) for item in value)
        return value if several else [value]
    return listed(value)


def _instants(at: Any) -> Iterator[Any]:
    if not isinstance(at, dict):
        yield at
        return
    keys = [key for key in PhaseInstant.__struct_fields__ if key in at]
    for chosen in product(*(listed(at[key]) for key in keys)):
        yield dict(zip(keys, chosen, strict=True))


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

    def check(self) -> None:
        """Raise ValueError for numbers out of range and for options given twice."""
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
