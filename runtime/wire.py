"""The wire: MessagePack maps, arrays as `["<f8", shape, little-endian bytes]`, decoded strictly."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec
import numpy as np

from runtime.checked import FLOAT64, Array, Message, RowView

MessageT = TypeVar("MessageT", bound=Message)


LARGE = 2**16  # bytes, of an array that is worth a copy less


class DecodeError(ValueError):
    """The only error that decoding a frame raises, whatever the bytes."""


def _to_wire(value: Any) -> Any:
    """An array or a numpy scalar in types that MessagePack has."""
    if isinstance(value, np.ndarray):
        return "<f8", value.shape, np.ascontiguousarray(value).data
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a message cannot carry a {type(value).__name__}")


def _from_wire(_: type, value: Any) -> Array:
    """An array that owns aligned, writable memory, so compiled code sees one array type only."""
    return _view(value).copy()


def _view_of_large(_: type, value: Any) -> Array:
    """The same, but a large array is read-only and not copied once more."""
    array = _view(value)
    return array if array.nbytes >= LARGE else array.copy()


def _view(value: Any) -> Array:
    """A read-only array on the bytes that came."""
    dtype, shape, data = value
    if dtype != "<f8":
        raise ValueError(f"expected dtype '<f8', got {dtype!r}")
    array = np.ndarray(shape, FLOAT64, data)
    if list(array.shape) != shape or array.nbytes != len(data):
        raise ValueError(f"{len(data)} bytes do not fill shape {shape}")
    return array


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_to_wire)


Hook = Callable[[type, Any], Any]


@cache
def _decoder(kind: type[MessageT], hook: Hook) -> msgspec.msgpack.Decoder[MessageT]:
    return msgspec.msgpack.Decoder(kind, dec_hook=hook)


def encode(message: Message) -> bytes:
    """The MessagePack frame of `message`."""
    return _ENCODER.encode(message.message() if isinstance(message, RowView) else message)


def decode(kind: type[MessageT], frame: bytes) -> MessageT:
    """The message of type `kind` in `frame`.

    Raises DecodeError, and nothing else, for bytes that are not exactly one: cut short, with
    unknown or missing fields, or with arrays of another dtype or shape.
    """
    return _decode(kind, frame, _from_wire)


def decode_viewing(kind: type[MessageT], frame: bytes) -> MessageT:
    """The same as `decode`, but large arrays are read-only: for callers that copy them."""
    return _decode(kind, frame, _view_of_large)


def _decode(kind: type[MessageT], frame: bytes, hook: Hook) -> MessageT:
    try:
        return _decoder(kind, hook).decode(frame)
    except Exception as error:  # a frame comes from outside: no byte string may end a control loop
        name = getattr(kind, "__name__", "message")  # a union of messages has none
        raise DecodeError(f"not a {name}: {error}") from error
