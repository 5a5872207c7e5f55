"""``saltus bench wire``: the time of a frame to and from the A1, and a million damaged ones.

The peer does the same work with Python's own `struct` and `zlib`; the two take turns, and must
agree on every frame before their times are told.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hw_bridge.setpoints import Setpoints
from hw_bridge.wire.layout import LOW_COMMAND_SIZE, LOW_STATE_SIZE
from hw_bridge.wire.low_command import LowCommandEncoder, decode_low_command
from hw_bridge.wire.low_state import LowState, decode_low_state, encode_low_state
from saltus.bench import wire_peer
from saltus.bench.result import BenchResult
from saltus.bench.wire_mutations import KINDS, Judged, judge, mutated, sound_frames
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.progress import RunProgress

BOUND_US = 30.0  # median, of encoding a command and of decoding a state
CALLS, FRAMES, SEED = 20_000, 1_000_000, 1
FAULTS = ("raised", "accepted_broken", "refused_whole")  # of mutated frames: must all be 0
CHUNK = 2_000  # mutated frames between two looks at the progress


class Contestant(NamedTuple):
    """A codec's call, for frame or setpoints k."""

    what: str
    way: str
    call: Callable[[int], Any]
    bound_us: float | None = None


def run(calls: int = CALLS, frames: int = FRAMES) -> BenchResult:
    """Time `calls` calls of each codec, then decode `frames` mutated frames.

    Raises:
        BadRequest: ours and the peer's differ.
    """
    commands, states = setpoints(SEED), sound_frames(SEED)
    states = [frame for frame in states if len(frame) == LOW_STATE_SIZE]
    agree(commands, states)
    rows = measure(_contestants(commands, states), calls)
    slowest = max(row["p50_us"] for row in rows if row["bound_us"] is not None)
    judged = judge_mutated(frames)
    rows += [_row(kind, **_judged(each)) for kind, each in judged.items()]
    total = Judged(*np.sum(list(judged.values()), axis=0).tolist())
    rows.append(_row("mutated_frames", **_judged(total)))
    return BenchResult(rows, slowest / BOUND_US, _note(), table=[_short(row) for row in rows])


def setpoints(seed: int, count: int = 64) -> list[Setpoints]:
    """Setpoints that a float32 holds exactly, so that codecs agree to the bit."""
    numbers = np.random.default_rng(seed).normal(0.0, 20.0, (count, 5, 12))
    return [Setpoints(*each) for each in numbers.astype(np.float32).astype(np.float64)]


def agree(commands: list[Setpoints], states: list[bytes]) -> None:
    """Pass if ours and the peer's give the same bytes and the same numbers.

    Raises:
        BadRequest: they do not; then their times cannot be compared.
    """
    ours = LowCommandEncoder()
    same = all(ours.encode(each) == wire_peer.encode(each) for each in commands)
    if not (same and all(_equal(decode_low_state(f), wire_peer.decode(f)) for f in states)):
        raise BadRequest("codec and peer disagree; `pytest tests/hw_bridge/wire` says where")


def measure(contestants: list[Contestant], calls: int) -> list[dict[str, Any]]:
    """Rows of the contestants, which take turns call by call."""
    say(f"timing {calls} frames")
    seconds = np.empty((len(contestants), calls))
    for k in range(calls):
        for i, each in enumerate(contestants):
            begin = perf_counter()
            each.call(k)
            seconds[i, k] = perf_counter() - begin
    p50, p99 = 1e6 * np.percentile(seconds, [50.0, 99.0], axis=1)
    return [
        _row(each.what, way=each.way, frames=calls, p50_us=float(p50[i]), p99_us=float(p99[i]),
             bound_us=each.bound_us)
        for i, each in enumerate(contestants)
    ]  # fmt: skip


def judge_mutated(frames: int, seed: int = SEED) -> dict[str, Judged]:
    """Decode about `frames` mutated frames, as many of each kind."""
    sound, random = sound_frames(seed), Random(seed)
    totals = {kind: np.zeros(len(Judged._fields), np.int64) for kind in KINDS}
    each, done = -(-frames // len(KINDS)), 0
    with RunProgress(len(KINDS) * each, "mutated frames") as progress:
        for kind in KINDS:
            for begin in range(0, each, CHUNK):
                count = min(CHUNK, each - begin)
                totals[kind] += judge([mutated(sound, kind, random) for _ in range(count)])
                done += count
                progress.show(done, kind)
    return {kind: Judged(*total.tolist()) for kind, total in totals.items()}


def _contestants(commands: list[Setpoints], states: list[bytes]) -> list[Contestant]:
    ours, n, m = LowCommandEncoder(), len(commands), len(states)
    frames = [ours.encode(each) for each in commands]
    decoded = [decode_low_state(frame) for frame in states]
    return [
        Contestant("encode_command", "ours", lambda k: ours.encode(commands[k % n]), BOUND_US),
        Contestant("encode_command", "struct", lambda k: wire_peer.encode(commands[k % n])),
        Contestant("decode_state", "ours", lambda k: decode_low_state(states[k % m]), BOUND_US),
        Contestant("decode_state", "struct", lambda k: wire_peer.decode(states[k % m])),
        Contestant("decode_command", "ours", lambda k: decode_low_command(frames[k % n])),
        Contestant("encode_state", "ours", lambda k: encode_low_state(decoded[k % m])),
    ]


def _row(what: str, **known: Any) -> dict[str, Any]:
    keys = ("way", "frames", "p50_us", "p99_us", "bound_us", *Judged._fields[1:])
    return {"what": what, **{key: known.get(key) for key in keys}}


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people: what must be 0 in one column."""
    faults = [row[key] for key in FAULTS]
    kept = {key: value for key, value in row.items() if key not in FAULTS}
    return {**kept, "wrong": None if None in faults else sum(faults)}


def _judged(judged: Judged) -> dict[str, Any]:
    return {"way": "ours", **judged._asdict()}


def _equal(a: LowState, b: LowState) -> bool:
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") if isinstance(x, np.ndarray)
               else x == y for x, y in zip(a, b, strict=True))  # fmt: skip


def _note() -> str:
    return (
        "ratio: the slower median of ours that has a bound, over it; struct: Python's struct and"
        " zlib; decode_command and encode_state are the emulator's; each mutated frame goes to both"
        f" decoders, of {LOW_COMMAND_SIZE} and {LOW_STATE_SIZE} bytes; wrong, which must be 0:"
        " raised another error, accepted with a bad checksum, or refused with a good one;"
        f" {os.cpu_count()} cores"
    )
