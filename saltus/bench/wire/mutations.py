"""Damaged frames, and what the decoders do with them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

from hw_bridge.setpoints import Setpoints
from hw_bridge.wire.frame import WireError
from hw_bridge.wire.layout import LOW_COMMAND_SIZE, LOW_STATE, LOW_STATE_SIZE
from hw_bridge.wire.low_command import LowCommandEncoder, decode_low_command
from hw_bridge.wire.low_state import decode_low_state
from saltus.bench.wire.peer import peer_crc, whole

DECODERS: dict[int, Callable[[bytes], Any]] = {
    LOW_COMMAND_SIZE: decode_low_command,
    LOW_STATE_SIZE: decode_low_state,
}
KINDS = ("flipped", "truncated", "extended", "random", "spliced", "resealed")
"""What is done to a frame; a resealed one holds random bytes and the checksum they need."""


class Judged(NamedTuple):
    """What became of frames, each given to both decoders.

    Attributes:
        frames: how many there were.
        accepted: decodings that returned.
        raised: decodings that ended in anything but a WireError, warnings included.
        accepted_broken: accepted, but by the peer's checksum not whole.
        refused_whole: refused, but by the peer's checksum whole.
    """

    frames: int
    accepted: int
    raised: int
    accepted_broken: int
    refused_whole: int


def sound_frames(seed: int, count: int = 16) -> list[bytes]:
    """`count` frames of either kind with random numbers such as a robot's."""
    random = np.random.default_rng(seed)
    encoder = LowCommandEncoder()
    commands = [encoder.encode(Setpoints(*random.normal(0.0, 5.0, (5, 12)))) for _ in range(count)]
    return commands + [_sound_state(random) for _ in range(count)]


def mutated(frames: list[bytes], kind: str, random: Random) -> bytes:
    """One of the frames, or bytes of two, damaged in one of KINDS."""
    frame = bytearray(random.choice(frames))
    if kind == "flipped":
        for _ in range(random.randint(1, 8)):
            bit = random.randrange(8 * len(frame))
            frame[bit // 8] ^= 1 << bit % 8
    elif kind == "truncated":
        del frame[random.randrange(len(frame)) :]
    elif kind == "extended":
        frame += random.randbytes(random.randint(1, 64))
    elif kind == "random":
        return random.randbytes(random.choice((*DECODERS, random.randrange(1600))))
    elif kind == "spliced":
        at = random.randrange(len(frame))
        return bytes(frame[:at]) + random.choice(frames)[at:]
    else:
        return _resealed(frame, random)
    return bytes(frame)


def judge(frames: list[bytes]) -> Judged:
    """Give every frame to both decoders."""
    counts: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for frame in frames:
            for size, decode in DECODERS.items():
                counts[_outcome(frame, size, decode)] += 1
    accepted = counts["accepted"] + counts["accepted_broken"]
    return Judged(
        len(frames), accepted, counts["raised"], counts["accepted_broken"], counts["refused_whole"]
    )


def _outcome(frame: bytes, size: int, decode: Callable[[bytes], Any]) -> str:
    try:
        decode(frame)
    except WireError:
        return "refused_whole" if whole(frame, size) else "refused"
    except Exception:  # whatever it is, it is what is counted here
        return "raised"
    return "accepted" if whole(frame, size) else "accepted_broken"


def _sound_state(random: np.random.Generator) -> bytes:
    """Random numbers in every field, whatever they mean."""
    record = np.frombuffer(bytearray(random.bytes(LOW_STATE_SIZE)), LOW_STATE)
    record["motors"]["q"] = random.normal(0.0, 1.0, (1, 20))
    return _sealed(record.tobytes())


def _resealed(frame: bytearray, random: Random) -> bytes:
    begin = random.randrange(len(frame))
    end = random.randint(begin, len(frame))
    frame[begin:end] = random.randbytes(end - begin)
    return _sealed(bytes(frame))


def _sealed(frame: bytes) -> bytes:
    return frame[:-4] + peer_crc(frame).to_bytes(4, "little")
