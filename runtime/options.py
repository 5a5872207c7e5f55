"""Options with units and ranges, declared beside the type and checked when they are made."""

import math
import re
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec


class Range(NamedTuple):
    """The unit of a number and the values that are accepted; of a tuple, those of each component.

    Written as ``Annotated[float, Range("m/s", 0.0, 5.0)]``.

    Attributes:
        unit: such as "m/s^2"; "-" for a number without one.
        least: smallest value.
        most: largest value.
        above: the least value itself is not accepted.
    """

    unit: str
    least: float = -math.inf
    most: float = math.inf
    above: bool = False

    def accepts(self, value: float) -> bool:
        """Whether `value` is in the range; NaN and infinity never are."""
        large = value > self.least if self.above else value >= self.least
        return bool(-math.inf < value < math.inf and large and value <= self.most)

    def __str__(self) -> str:
        """Such as "0 to 5 m/s", "above 0 s", "any number"."""
        unit = "" if self.unit == "-" else f" {self.unit}"
        low, high = f"{self.least:.10g}", f"{self.most:.10g}"
        if self.most == math.inf and self.least == -math.inf:
            return "any number" + (f" [{self.unit}]" if unit else "")
        if self.most == math.inf:
            return f"above {low}{unit}" if self.above else f"{low}{unit} or more"
        if self.least == -math.inf:
            return f"up to {high}{unit}"
        return f"above {low}, up to {high}{unit}" if self.above else f"{low} to {high}{unit}"


def positive(unit: str, most: float = math.inf) -> Range:
    """Numbers above 0."""
    return Range(unit, 0.0, most, above=True)


@cache
def ranges_of(kind: type[Any]) -> dict[str, Range]:
    """The ranges that the annotations of a Struct declare, by field."""
    ranges: dict[str, Range] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        for part in (hint, *get_args(hint)):  # also of Annotated[float, ...] | None
            extras = get_args(part)[1:] if get_origin(part) is Annotated else ()
            ranges.update((name, each) for each in extras if isinstance(each, Range))
    return ranges


def check_ranges(options: Any) -> None:
    """Check every field that has a range.

    Raises:
        ValueError: a number is out of its range, is NaN or infinite; the message names the field.
    """
    for name, accepted in ranges_of(type(options)).items():
        value = getattr(options, name)
        for each in value if isinstance(value, tuple) else (value,):
            number = isinstance(each, int | float) and not isinstance(each, bool)
            if number and not accepted.accepts(each):
                shown = f"{each:.10g}" if isinstance(each, float) else str(each)
                key = options.__struct_encode_fields__[options.__struct_fields__.index(name)]
                raise ValueError(f"{key} is {shown}; give {accepted}")


def refusal(error: msgspec.ValidationError, root: str = "") -> str:
    """The reason to refuse plain data, in one line with the whole dotted key.

    A message of a class of options begins with the key: "speed is 9; give 0 to 5 m/s" becomes
    "walk.speed is 9; give 0 to 5 m/s".

    Args:
        error: what msgspec raised.
        root: key of the data.
    """
    text, _, place = str(error).partition(" - at `$")
    text = re.sub("^Object missing required field `(.*)`$", r"the key \1 is missing", text)
    place = (root + place.rstrip("`")).lstrip(".")
    if not place:
        return text.replace("`", "")
    if not isinstance(error.__cause__, ValueError):
        return f"{text} - at {place}".replace("`", "")
    return f"{place}.{text}" if text.partition(" ")[2].startswith("is ") else f"{place}: {text}"


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of options that a launch file sets: ranges are checked when one is made."""

    def __post_init__(self) -> None:
        """Raise ValueError for a number out of its range, and what `check` raises."""
        check_ranges(self)
        self.check()

    def check(self) -> None:
        """Raise ValueError for values that do not go together; each is in its range."""
