"""Damaged inputs: bytes that are flipped, cut, repeated and spliced, and plain data that is wrong.

Plain data is what MessagePack, JSON and YAML hold: a mutation there keeps the form, and changes a
number, a type or a key.
"""

import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

LONGEST = 2**16  # bytes of an input: what is repeated again and again stays small
MOST_STEPS = 4  # mutations of one input
WORDS = (
    0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1,
    2**63, 2**64 - 1,
)  # fmt: skip
FLOATS = (0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e-3, 1.5)
EXTREMES = (
    *WORDS, -1, -(2**31), -(2**63), *FLOATS, True, False, None, "", "nan", "1e999", "x" * 300,
    "\x00", "é", [], {}, [[]], [None], {"": None}, [0] * 50, {"a": {"b": [1]}},
)  # fmt: skip
TOKENS = (
    b"&a ", b"*a", b"<<: *a", b"!!python/object:os.system ", b"!!binary ", b"!!set ", b"!a ", b"? ",
    b"---\n", b"...\n", b"%YAML 9.9\n", b"2001-01-01", b"0x7f", b"1e999", b".nan", b"~", b"- ",
    b": ", b"[", b"]", b"{", b"}", b'"', b"'", b"#", b"|\n", b"\t", b"\r", b"\x00", b"\xff\xfe",
    b"\xe2\x80\xa8", b"\\u0000", b"null", b"true", b"9" * 400, b"[" * 50, b"{a: " * 50,
)  # fmt: skip


class Format(NamedTuple):
    """How plain data becomes bytes, and back."""

    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], Any]


MESSAGE_PACK = Format(msgspec.msgpack.encode, msgspec.msgpack.decode)
JSON = Format(msgspec.json.encode, msgspec.json.decode)
YAML = Format(msgspec.yaml.encode, msgspec.yaml.decode)


class Mutator:
    """Makes inputs from seeds, the same ones from the same random numbers."""

    def __init__(
        self, seeds, random, form = None,
        seal = None,
    ):  # fmt: skip
        """Half of the inputs are made through a `form`, and half get their checksum by `seal`."""
        self._seeds, self._random = seeds, random
        self._form, self._seal = form, seal

    def next(self):
        """The next input."""
        random = self._random
        data = random.choice(self._seeds)
        if self._form is not None and random.random() < 0.5:
            data = self._reformed(data, self._form)
            if random.random() < 0.75:
                return data[:LONGEST]
        for _ in range(random.randint(1, MOST_STEPS)):
            data = random.choice(_STEPS)(random, bytearray(data), self._seeds)[:LONGEST]
        if self._seal is not None and len(data) >= 4 and random.random() < 0.5:
            return self._seal(bytearray(data))
        return bytes(data)

    def _reformed(self, seed, form):
        """The seed's plain data with something changed in it."""
        root = [form.unpack(seed)]  # a list around it, so that all of it has a place
        for _ in range(self._random.randint(1, MOST_STEPS)):
            change_node(self._random, root)
        try:
            return form.pack(root[0])
        except (OverflowError, TypeError, msgspec.MsgspecError, ValueError):
            return seed  # a number that the format does not have


def change_node(random, root):
    """Change one place below `root`: its value, its type, its key, or its number of items."""
    holder, key = random.choice(_places(root))
    value, kind = holder[key], random.randrange(6)
    if kind == 0 and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = random.choice((-value, value + 1, value * 1e6, float(value), str(value)))
    elif kind == 1 and isinstance(holder, dict):
        name = random.choice(("", "x", 1, f"{key}s", random.choice(list(holder))))
        holder[name] = holder.pop(key)
    elif kind == 2 and holder is not root:
        if isinstance(holder, dict) or random.random() < 0.5:
            holder.pop(key)
        else:
            holder.insert(key, value)
    elif kind == 3:
        other, place = random.choice(_places(root))
        holder[key] = _copied(other[place])
    elif kind == 4:
        holder[key] = random.choice(([value], {"value": value}, [value] * 3, str(value)))
    else:
        holder[key] = _copied(random.choice(EXTREMES))


def _copied(value):
    """The same data, shared with nobody: else a later change would make it hold itself."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _places(root):
    """Every place in plain data, as a container and a key of it."""
    places = []
    waiting = [root]
    while waiting and len(places) < 1000:
        holder = waiting.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in items:
            places.append((holder, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return places


def _flip(random, data, _):
    for _bit in range(random.randint(1, 8) if data else 0):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return data


def _overwrite(random, data, _):
    """A number of 1 to 8 bytes, in either order, or a float."""
    size = random.choice((1, 2, 4, 8))
    if size >= 4 and random.random() < 0.5:
        number = random.choice(FLOATS if size == 8 else FLOATS[:5])
        word = struct.pack(random.choice("<>") + ("d" if size == 8 else "f"), number)
    else:
        number = random.choice(WORDS) & (1 << 8 * size) - 1
        word = number.to_bytes(size, random.choice(("little", "big")))
    at = random.randrange(len(data) + 1)
    data[at : at + size] = word
    return data


def _cut(random, data, _):
    begin, end = _slice(random, data)
    if random.random() < 0.5:
        return data[:begin]
    del data[begin:end]
    return data


def _insert(random, data, _):
    at = random.randrange(len(data) + 1)
    data[at:at] = (
        random.choice(TOKENS) if random.random() < 0.5 else random.randbytes(random.randint(1, 32))
    )
    return data


def _repeat(random, data, _):
    begin, end = _slice(random, data)
    data[end:end] = data[begin:end] * random.choice((1, 2, 100))
    return data


def _repeat_line(random, data, _):
    """In YAML a key then stands twice."""
    lines = data.splitlines(keepends=True)
    if lines:
        at = random.randrange(len(lines))
        lines.insert(at, lines[at])
    return bytearray().join(lines)


def _splice(random, data, seeds):
    other = random.choice(seeds)
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _slice(random, data):
    begin = random.randrange(len(data) + 1)
    longest = random.choice((4, 32, 1024))
    return begin, min(len(data), begin + random.randint(1, longest))


_STEPS = (
    _flip, _flip, _overwrite, _cut, _insert, _repeat, _repeat_line, _splice,
)  # fmt: skip
