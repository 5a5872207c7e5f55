"""Lists of events from plain data: products written out, one clear line for each mistake."""

from collections.abc import Iterator
from itertools import product
from math import prod
from reprlib import repr as short
from typing import Any, TypeVar

import msgspec

from runtime.options import refusal
from sim_bridge.perturbations import KINDS, Perturbation, PhaseInstant

Parsed = TypeVar("Parsed")
UNDISTURBED = "none"  # the kind of a trial without an event
MOST_TRIALS = 100_000  # of a suite; a product of lists is soon more than anybody can wait for


class SuiteError(ValueError):
    """A suite or list of events that cannot be used; the message is one line that says why."""


def parse_events(data: Any) -> tuple[Perturbation, ...]:
    """Turn a list of plain mappings (from a launch file) into the events of one run.

    Raises:
        SuiteError: an entry is not an event.
    """
    if not isinstance(data, list):
        raise SuiteError("perturbations: give a list of events")
    for index, event in enumerate(data):
        _check_event(f"perturbations[{index}]", event)
    return convert(data, tuple[Perturbation, ...], "perturbations")


def parse_trials(data: Any) -> tuple[Perturbation | None, ...]:
    """Turn the `trials` of a suite into events, its products written out.

    An entry `{kind: none}` is a trial without an event: None.

    In an entry `at` may be a list of instants, each field of `{foot, phase, cycle, share}` a list,
    and `value` a list of vectors: the entry then stands for every combination, values changing
    fastest, then share, cycle, phase and foot, then the list of instants. One such entry may stand
    for the whole list.

    Raises:
        SuiteError: an entry is not an event, stands for none or for too many, or there is none.
    """
    entries = [data] if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise SuiteError("trials: give a list of events, or one event with lists of at and value")
    trials: list[Perturbation | None] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, dict) and entry.get("kind") == UNDISTURBED:
            check_keys(f"event {index}: ", entry, ("kind",))
            trials.append(None)
            continue
        _check_event(f"event {index}", entry, (UNDISTURBED,))
        _check_count(f"event {index}", entry, len(trials))
        trials += [convert(event, Perturbation, f"trials[{index}]") for event in _events(entry)]
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


def _check_event(where: str, event: Any, besides: tuple[str, ...] = ()) -> None:
    """Name the accepted kinds (some `besides` events) and keys, which the parser would not."""
    if not isinstance(event, dict):
        raise SuiteError(f"{where} is {short(event)}; give a mapping with a kind")
    if str(event.get("kind")) not in KINDS:
        wrong = f"unknown kind {short(event['kind'])}" if "kind" in event else "no kind"
        raise SuiteError(f"{where}: {wrong}; accepted: {', '.join((*KINDS, *besides))}")
    check_keys(f"{where}: ", event, ("kind", *keys_of(KINDS[event["kind"]])))
    for instant in _listed(event.get("at")):
        if isinstance(instant, dict):
            check_keys(f"{where}: at: ", instant, keys_of(PhaseInstant))


def _check_count(where: str, entry: dict[str, Any], before: int) -> None:
    """Refuse a product before it is written out; `before` trials are there already."""
    instants = sum(
        prod(len(_listed(choices)) for choices in at.values()) if isinstance(at, dict) else 1
        for at in _listed(entry.get("at"))
    )
    count = instants * len(_values(entry.get("value")))
    if count == 0:
        raise SuiteError(f"{where}: a list in it is empty, so it stands for no trial")
    if before + count > MOST_TRIALS:
        raise SuiteError(f"{where} stands for {count} trials; give at most {MOST_TRIALS} in all")


def _events(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The single events that an entry stands for."""
    instants = [at for listed in _listed(entry.get("at")) for at in _instants(listed)]
    choices = {"at": instants, "value": _values(entry.get("value"))}
    varied = [key for key in choices if key in entry]
    for chosen in product(*(choices[key] for key in varied)):
        yield entry | dict(zip(varied, chosen, strict=True))


def _instants(at: Any) -> Iterator[Any]:
    if not isinstance(at, dict):
        yield at
        return
    keys = [key for key in keys_of(PhaseInstant) if key in at]
    for chosen in product(*(_listed(at[key]) for key in keys)):
        yield dict(zip(keys, chosen, strict=True))


def _values(value: Any) -> list[Any]:
    """Vectors; a vector alone is one of them."""
    several = isinstance(value, list) and all(isinstance(item, list) for item in value)
    return value if several else [value]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
