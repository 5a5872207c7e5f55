"""Every key of a launch file has a description, and a number a range with a unit."""

import math
import typing

import pytest

from runtime.options import ranges_of
from saltus.configuration.keys import descriptions
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.options import fields_of
from saltus.sweep.trials import RandomCommand


def classes(kind):
    """Every class of options in a type, itself included."""
    if fields_of(kind):
        yield kind
    for part in (*fields_of(kind).values(), *typing.get_args(kind)):
        yield from classes(part)


def is_numeric(hint):
    """A number, a tuple of them, or either among other things; a mapping of names is none."""
    if typing.get_origin(hint) is dict:
        return False
    return hint in (int, float) or any(map(is_numeric, typing.get_args(hint)))


# The same order in every process of pytest-xdist: no two classes have one name in one module.
KINDS = sorted(
    {*classes(LaunchConfig), RandomCommand}, key=lambda kind: (kind.__module__, kind.__qualname__)
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_option_has_a_unit_a_range_and_a_description(kind):
    for name, (key, hint) in zip(kind.__struct_fields__, fields_of(kind).items(), strict=True):
        assert descriptions(kind).get(key), f"{key} has no description"
        if is_numeric(hint):
            accepted = ranges_of(kind).get(name)
            assert accepted, f"{key} has no range"
            assert accepted.unit and "[" not in accepted.unit, f"{key} has no unit"
            assert -math.inf < accepted.least < accepted.most < math.inf, f"{key} has no ends"
