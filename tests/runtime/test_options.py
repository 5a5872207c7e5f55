"""Units and ranges of options: what is accepted, what is refused, and in which words."""

import math
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.options import Options, Range, positive, ranges_of, refusal
from tests import refusals

SPEED = Range("m/s", 0.0, 5.0)


class Walk(Options, frozen=True):
    """One option of each shape."""

    speed: Annotated[float, SPEED] = 1.0
    steps: Annotated[int, Range("-", 1, 100)] = 3
    reach: tuple[float, float] = (0.0, 0.0)
    weights: Annotated[tuple[float, float], Range("-", 0.0, above=True)] = (1.0, 2.0)
    limit: Annotated[float, Range("s", 0.0)] | None = None


class Push(Options, frozen=True):
    """An option whose key is no name in Python, and a check across fields."""

    length: Annotated[float, positive("s", 9.0)] = msgspec.field(name="for", default=1.0)
    every: float = 2.0

    def check(self):
        if self.every <= self.length:
            raise ValueError("give pushes that do not overlap")


class Launch(Options, frozen=True):
    """Options in sections."""

    walk: Walk = Walk()
    pushes: tuple[Push, ...] = ()
    duration: Annotated[float, Range("s", 0.0, 60.0)] = 6.0


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_accepted_exactly_inside_its_range(value):
    inside = math.isfinite(value) and 0.0 <= value <= 5.0
    assert SPEED.accepts(value) == inside
    if inside:
        assert Walk(speed=value).speed == value
    else:
        assert "give 0 to 5 m/s" in refusals.refusal(ValueError, Walk, speed=value)


def test_every_component_and_an_optional_number_are_checked():
    assert "weights is 0" in refusals.refusal(ValueError, Walk, weights=(1.0, 0.0))
    assert "limit is -1" in refusals.refusal(ValueError, Walk, limit=-1.0)
    assert Walk(limit=2.0).limit == 2.0
    assert set(ranges_of(Walk)) == {"speed", "steps", "weights", "limit"}


@pytest.mark.parametrize(
    "data, root, words",
    [
        ({"walk": {"steps": 0}}, "", "walk.steps is 0; give 1 to 100"),
        ({"walk": {"steps": 0}}, "suite", "suite.walk.steps is 0; give 1 to 100"),
        ({"pushes": [{}, {"for": 0}]}, "", "pushes[1].for is 0; give above 0, up to 9 s"),
        ({"pushes": [{"for": 3}]}, "", "pushes[0]: give pushes that do not overlap"),
        ({"duration": -1}, "", "duration is -1; give 0 to 60 s"),
        ({"duration": 10**400}, "", "Number out of range - at duration"),
        ({"walk": {"steps": "x"}}, "", "Expected int, got str - at walk.steps"),
        ({"speed": 1}, "", "Object contains unknown field speed"),
    ],
)
def test_a_refusal_has_the_whole_key(data, root, words):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(data, Launch)
    assert refusal(caught.value, root) == words
