"""Messages that check the shapes of their arrays and their status words when they are made."""

from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FLOAT64 = np.dtype("<f8")
KNOT_OFFSETS = {"N": 0, "N+1": 1}


class Shape:
    """Shape of an array field: integers, or "N" and "N+1" where a size varies with the message."""

    def __init__(self, *sizes: int | str) -> None:
        self.sizes = sizes

    def at(self, knots: int) -> tuple[int, ...]:
        """The shape for `N = knots`."""
        return tuple(s if isinstance(s, int) else knots + KNOT_OFFSETS[s] for s in self.sizes)

    def knots(self, shape: tuple[int, ...]) -> int:
        """The N of an array of this `shape`, 0 where it does not tell."""
        for size, actual in zip(self.sizes, shape, strict=False):
            if isinstance(size, str):
                return actual - KNOT_OFFSETS[size]
        return 0


class Layout(NamedTuple):
    """What is checked of one message type: arrays of fixed shape, of varying shape, and words."""

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
            _check_array(self, name, shape)
        if varying:
            name, first = varying[0]
            knots = first.knots(np.shape(getattr(self, name)))
            for name, varying_shape in varying:
                _check_array(self, name, varying_shape.at(knots))
        for name, accepted in words:
            if getattr(self, name) not in accepted:
                found = getattr(self, name)
                raise ValueError(f"{type(self).__name__}.{name}: {found!r} is not in {accepted}")

    def __eq__(self, other: object) -> bool:
        """Same type and same values; arrays by value, NaN equal to NaN."""
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _same_value(getattr(self, name), getattr(other, name))
            for name in self.__struct_fields__
        )

    __hash__ = None  # type: ignore[assignment]


def _same_value(a: Any, b: Any) -> bool:
    """Equality in which NaN equals NaN, for arrays and scalars alike."""
    if isinstance(a, (np.ndarray, float)):
        return np.array_equal(a, b, equal_nan=True)
    return bool(a == b)


@cache
def layout(kind: type[Message]) -> Layout:
    """What the annotations of `kind` ask of its fields; computed once a type."""
    fixed, varying, words = [], [], []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Literal:
            words.append((name, get_args(hint)))
        elif get_origin(hint) is Annotated and isinstance(get_args(hint)[1], Shape):
            shape = get_args(hint)[1]
            if any(isinstance(size, str) for size in shape.sizes):
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
