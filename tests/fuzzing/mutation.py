"""Damaged inputs: bytes that are flipped, cut, repeated and spliced, and plain data that is wrong.

Plain data is what MessagePack, JSON and YAML hold: a mutation there keeps the form, and changes a
number, a type or a key.
"""

import copy
import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

LONGEST = 2**16  # bytes of an input: what is repeated again and again stays small
MOST_STEPS = 4  # mutations of one input

WORDS = (0, 1, *(2**bits - less for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64) for less in (0, 1)))
FLOATS = (0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e-3, 1.5)
EXTREMES = (
    *WORDS, *(-word for word in WORDS), *FLOATS, True, False, None, "", "nan", "1e999", "x" * 300,
    "\x00", "é", [], {}, [[]], [None], {"": None}, [0] * 50, {"a": {"b": [1]}},
)  # fmt: skip
TOKENS = (
    *"[]{}\"'#~?:-&*!|\t\r\x00", "&a *a", "<<: *a", "!!python/object:os.system ", "!!binary ",
    "!!set ", "---\n", "...\n", "%YAML 9.9\n", "2001-01-01", "0x7f", "1e999", ".nan", "\u2028",
    "\\u0000", "null", "true", "9" * 400, "[" * 50, "{a: " * 50,
)  # fmt: skip


class Format(NamedTuple):
    """How plain data becomes bytes, and back."""

    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], Any]


MESSAGE_PACK = Format(msgspec.msgpack.encode, msgspec.msgpack.decode)
JSON = Format(msgspec.json.encode, msgspec.json.decode)
YAML = Format(msgspec.yaml.encode, msgspec.yaml.decode)


def mutated(seeds, random, form=None, seal=None):
    """Inputs without end, the same ones from the same random numbers.

    Half of them are made through a `form`, and half get their checksum by `seal`.
    """
    while True:
        data = random.choice(seeds)
        if form is not None and random.random() < 0.5:
            data = _reformed(random, data, form)
            if random.random() < 0.75:
                yield data[:LONGEST]
                continue
        for _ in range(random.randint(1, MOST_STEPS)):
            data = bytes(random.choice(_STEPS)(random, bytearray(data), seeds)[:LONGEST])
        sealed = seal is not None and len(data) >= 4 and random.random() < 0.5
        yield seal(bytearray(data)) if sealed else data


def _reformed(random, seed, form):
    """The seed's plain data with something changed in it."""
    root = [form.unpack(seed)]  # a list around it, so that all of it has a place
    for _ in range(random.randint(1, MOST_STEPS)):
        change_node(random, root)
    try:
        return form.pack(root[0])
    except (OverflowError, TypeError, msgspec.MsgspecError, ValueError):
        return seed  # a number that the format does not have


def change_node(random, root):
    """Change one place below `root`: its value, its type, its key, or its number of items."""
    places = _places(root)
    (holder, key), (other, place) = random.choice(places), random.choice(places)
    value = holder[key]
    values = [[value], {"value": value}, [value] * 3, str(value), other[place]]
    if isinstance(value, int | float):
        values += [-value, value + 1, value * 1e6]
    kind = random.randrange(4)
    if kind == 0 and holder is not root:
        if isinstance(holder, dict):
            holder[random.choice(("", "x", 1, f"{key}s", *holder))] = holder.pop(key)
        else:
            holder.insert(key, value)
    elif kind == 1 and holder is not root:
        holder.pop(key)
    else:  # shared with nobody: else a later change would make it hold itself
        holder[key] = copy.deepcopy(random.choice(values if kind == 2 else EXTREMES))


def _places(root):
    """Every place in plain data, as a container and a key of it."""
    places, waiting = [], [root]
    while waiting and len(places) < 1000:
        holder = waiting.pop()
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
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
    size, order = random.choice((1, 2, 4, 8)), random.randrange(2)
    word = (random.choice(WORDS) & (1 << 8 * size) - 1).to_bytes(size, ("little", "big")[order])
    if size == 8 and random.random() < 0.5:
        word = struct.pack("<>"[order] + "d", random.choice(FLOATS))
    at = random.randrange(len(data) + 1)
    data[at : at + size] = word
    return data


def _cut(random, data, _):
    begin, end = _slice(random, data)
    return data[:begin] + (data[end:] if random.random() < 0.5 else b"")


def _insert(random, data, _):
    at = random.randrange(len(data) + 1)
    token = random.choice(TOKENS).encode() if random.random() < 0.5 else random.randbytes(8)
    return data[:at] + token + data[at:]


def _repeat(random, data, _):
    begin, end = _slice(random, data)
    return data[:end] + data[begin:end] * random.choice((1, 2, 100)) + data[end:]


def _repeat_line(random, data, _):
    """In YAML a key then stands twice."""
    lines = data.splitlines(keepends=True) or [data]
    at = random.randrange(len(lines))
    return bytearray().join([*lines[:at], lines[at], *lines[at:]])


def _splice(random, data, seeds):
    other = random.choice(seeds)
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _slice(random, data):
    begin = random.randrange(len(data) + 1)
    return begin, begin + random.randint(1, random.choice((4, 32, 1024)))


_STEPS = (_flip, _flip, _overwrite, _cut, _insert, _repeat, _repeat_line, _splice)
