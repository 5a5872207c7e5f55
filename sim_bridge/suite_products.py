"""Products in suites: what events and groups stand for whose fields are lists."""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from sim_bridge.perturbations import PhaseInstant

SECTIONS = ("command", "simulation", "timing")  # of a group: their keys may hold lists
_PLAIN = ("reference", "reference_from", "duration", "input_delay")  # keys of a group likewise
_SLOWEST_FIRST = ("at", "for", "every", "value")


def count_events(entry: dict[str, Any]) -> int:
    """How many events an entry of one kind stands for, without writing them out."""
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
    """What a field stands for: a vector alone is one value, an instant may be a product."""
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
