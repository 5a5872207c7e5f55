"""Messages that check the shapes of their arrays and their status words when they are made."""

from collections.abc import Mapping
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ARRAY, FLOAT64 = np.ndarray, np.dtype("<f8")


class Shape:
    """Shape of an array field: integers, or words like "N" and "N+1" where a size varies.

    One letter stands for one number within a message.
    """

    def __init__(self, *sizes: int | str) -> None:
        self.sizes = sizes
        self._parts = tuple((s, 0) if isinstance(s, int) else _letter(s) for s in sizes)

    @property
    def varies(self) -> bool:
        """Whether a size is a letter's."""
        return any(isinstance(size, str) for size in self.sizes)

    def at(self, numbers: Mapping[str, int]) -> tuple[int, ...]:
        """The shape when each letter is its number, 0 where it has none."""
        return tuple(
            part if isinstance(part, int) else numbers.get(part, 0) + offset
            for part, offset in self._parts
        )

    def learn(self, shape: tuple[int, ...], numbers: dict[str, int]) -> None:
        """Add the numbers of letters that an array of this `shape` is the first to tell."""
        for (part, offset), actual in zip(self._parts, shape, strict=False):
            if isinstance(part, str):
                numbers.setdefault(part, actual - offset)


def _letter(size: str) -> tuple[str, int]:
    """Letter and offset of a word such as "N+1"."""
    letter, _, offset = size.partition("+")
    return letter, int(offset or 0)


class Layout(NamedTuple):
    """Checked fields of one message type: arrays of fixed shape, of varying shape, and words."""

    fixed: tuple[tuple[str, tuple[int, ...]], ...]
    varying: tuple[tuple[str, Shape], ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]


class Message(
    msgspec.Struct, frozen=True, eq=False, kw_only=True, forbid_unknown_fields=True, gc=False
):
    """Base of all messages: array shapes and status words are checked when one is made.

    Raises ValueError, naming the field, for an array that is not float64 of the declared shape or a
    status that is not in its list. NaN is allowed: judging values is the safety gate's job.
    """

    def __post_init__(self) -> None:
        fixed, varying, words = layout(type(self))
        for name, shape in fixed:
            value = getattr(self, name)  # looked at here first: four messages a tick are made
            if type(value) is not ARRAY or value.shape != shape or value.dtype != FLOAT64:
                _check_array(self, name, shape)
        numbers: dict[str, int] = {}
        for name, varying_shape in varying:
            varying_shape.learn(np.shape(getattr(self, name)), numbers)
            _check_array(self, name, varying_shape.at(numbers))
        for name, accepted in words:
            if getattr(self, name) not in accepted:
                found = getattr(self, name)
                raise ValueError(f"{type(self).__name__}.{name}: {found!r} is not in {accepted}")

    @property
    def row(self) -> Array:
        """Its numbers in the layout of `runtime.rows`; of a view those that it shows."""
        from runtime.rows import layout_of

        whole = layout_of(type(self))
        row = np.empty(whole.width)
        whole.write(self, row)
        return row

    def __eq__(self, other: object) -> bool:
        """Same type and same values; arrays by value, NaN equal to NaN."""
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _same_value(getattr(self, name), getattr(other, name))
            for name in self.__struct_fields__
        )

    __hash__ = None  # type: ignore[assignment]


class RowView(msgspec.Struct, eq=False, gc=False):
    """A row of float64 that reads as its message: fields are decoded where they are asked for.

    Attributes:
        row: whose numbers they are; arrays are views of it.
    """

    row: Array
    kind: ClassVar[type[Message]]

    def message(self) -> Message:
        """The message. Raises ValueError, IndexError or OverflowError for a row that is none."""
        return self.kind(**{name: getattr(self, name) for name in self.kind.__struct_fields__})

    def __eq__(self, other: object) -> bool:
        """Whether the messages are equal; NaN equals NaN."""
        return self.message() == (other.message() if isinstance(other, RowView) else other)

    __hash__ = None  # type: ignore[assignment]


def _same_value(a: Any, b: Any) -> bool:
    """Equality in which NaN equals NaN, for arrays and scalars alike."""
    if isinstance(a, (np.ndarray, float)):
        return np.array_equal(a, b, equal_nan=True)
    return bool(a == b)


@cache
def layout(kind: type[Message]) -> Layout:
    """Checks of the fields of `kind`, from its annotations; computed once a type."""
    fixed, varying, words = [], [], []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Literal:
            words.append((name, get_args(hint)))
        elif get_origin(hint) is Annotated and isinstance(get_args(hint)[1], Shape):
            shape = get_args(hint)[1]
            if shape.varies:
                varying.append((name, shape))
            else:
                fixed.append((name, shape.sizes))
    return Layout(tuple(fixed), tuple(varying), tuple(words))


def _check_array(message: Message, name: str, shape: tuple[int, ...]) -> None:
    value = getattr(message, name)
    if type(value) is np.ndarray and value.shape == shape and value.dtype == FLOAT64:
        return
    is_array = isinstance(value, np.ndarray)
    found = f"{value.dtype} {value.shape}" if is_array else type(value).__name__
    raise ValueError(
        f"{type(message).__name__}.{name}: expected a float64 array of shape {shape}, got {found}; "
        "convert it with np.asarray(..., dtype=float)"
    )
