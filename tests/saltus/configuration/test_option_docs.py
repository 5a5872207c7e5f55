"""Every key of a launch file has a description, and a number a range with a unit."""

import dataclasses
import math
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest

from runtime.options import Options, Range, ranges_of
from saltus.configuration.keys import descriptions
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.options import fields_of
from saltus.sweep.trials import RandomCommand

OWN_FIELDS = (msgspec.structs.fields, dataclasses.fields)


def classes(kind: Any) -> Iterator[Any]:
    """Every class of options in a type, itself included."""
    if fields_of(kind):
        yield kind
    for part in (*fields_of(kind).values(), *typing.get_args(kind)):
        yield from classes(part)


def is_numeric(hint: Any) -> bool:
    """A number, a tuple of them, or either among other things; a mapping of names is none."""
    if typing.get_origin(hint) is dict:
        return False
    return hint in (int, float) or any(map(is_numeric, typing.get_args(hint)))


# The same order in every process of pytest-xdist: no two classes have one name in one module.
KINDS = sorted(
    {*classes(LaunchConfig), RandomCommand}, key=lambda kind: (kind.__module__, kind.__qualname__)
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_option_has_a_unit_a_range_and_a_description(kind: Any) -> None:
    names = [field.name for field in OWN_FIELDS[dataclasses.is_dataclass(kind)](kind)]
    for name, (key, hint) in zip(names, fields_of(kind).items(), strict=True):
        assert descriptions(kind).get(key), f"{key} has no description"
        if is_numeric(hint):
            accepted = ranges_of(kind).get(name)
            assert accepted, f"{key} has no range"
            assert accepted.unit and "[" not in accepted.unit, f"{key} has no unit"
            assert -math.inf < accepted.least < accepted.most < math.inf, f"{key} has no ends"


def test_the_walk_reaches_every_part_of_a_launch() -> None:
    parts = {"CostOptions", "SaltedOptions", "GaitLimits", "ScriptStep", "PhaseInstant", "Heat"}
    assert parts <= {kind.__name__ for kind in KINDS}
    assert sum(len(fields_of(kind)) for kind in KINDS) > 400


class Base(Options, frozen=True):
    """Some options.

    Attributes:
        speed: greatest speed: forward
            and back.
        length: `for` in a file.

    And in another section:

    Attributes:
        reach: of a leg.
    """

    speed: Annotated[float, Range("m/s", 0.0, 5.0)] = 1.0
    length: Annotated[float, Range("s", 0.0)] = msgspec.field(name="for", default=1.0)
    reach: float = 0.0


class Derived(Base, frozen=True):
    """More of them.

    Attributes:
        reach: of an arm.
        colour, size: two in one line describe neither.
    """

    colour: str = "red"
    size: float = 0.0


@dataclass
class Noise:
    """Options of a filter."""

    force: float = 1.0
    """Of a foot's sensor,
    its zero included."""
    torque: float = 2.0
    tilt: float = 3.0
    """Of the attitude."""


def test_descriptions_are_read_from_sections_and_from_strings() -> None:
    assert descriptions(Base) == {
        "speed": "greatest speed: forward and back.",
        "for": "`for` in a file.",
        "reach": "of a leg.",
    }
    assert descriptions(Derived) == descriptions(Base) | {"reach": "of an arm."}
    assert descriptions(Noise) == {
        "force": "Of a foot's sensor, its zero included.",
        "tilt": "Of the attitude.",
    }
