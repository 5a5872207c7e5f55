"""Lists of events from plain data: products written out, one clear line for each mistake."""

from reprlib import repr as short
from typing import Any

import msgspec

from runtime.options import refusal
from sim_bridge.perturbations import KINDS, Perturbation, PhaseInstant
from sim_bridge.suite_products import count_events, listed, write_out_event

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
