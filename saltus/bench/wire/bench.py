"""``saltus bench wire``: the time of a frame to and from the A1, and a million damaged ones.

The peer does the same work with Python's own `struct` and `zlib`; the two take turns, and must
agree on every frame before they are timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

from hw_bridge.setpoints import Setpoints
from hw_bridge.wire.layout import LOW_COMMAND_SIZE, LOW_STATE_SIZE
from hw_bridge.wire.low_command import LowCommandEncoder, decode_low_command
from hw_bridge.wire.low_state import LowState, decode_low_state, encode_low_state
from saltus.bench.contest import US, Contest, Contestant
from saltus.bench.result import BenchResult
from saltus.bench.wire import peer
from saltus.bench.wire.mutations import KINDS, Judged, judge, mutated, sound_frames
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.progress import RunProgress
from saltus.studies.engine import Criterion

BOUND_US = 30.0  # median, of encoding a command and of decoding a state
CALLS, FRAMES, SEED = 20_000, 1_000_000, 1
FAULTS = ("raised", "accepted_broken", "refused_whole")  # of mutated frames: must all be 0
CHUNK = 2_000  # mutated frames between two lines of progress


class Codec(NamedTuple):
    """A codec's call, for frame or setpoints k; `codec` is the key `way` of its row."""

    what: str
    codec: str
    call: Callable[[int], Any]
    bound_us: float | None = None


def run(calls: int = CALLS, frames: int = FRAMES) -> BenchResult:
    """Time `calls` calls of each codec, then decode `frames` mutated frames.

    The ratio is the slower one of our medians that have a bound, over it.

    Raises:
        BadRequest: ours and the peer's differ.
    """
    commands, states = setpoints(SEED), sound_frames(SEED)
    states = [frame for frame in states if len(frame) == LOW_STATE_SIZE]
    agree(commands, states)
    rows = measure(_codecs(commands, states), calls)
    bounded = [row for row in rows if row["bound_us"] is not None]
    judged = judge_mutated(frames)
    rows += [_row(kind, **_judged(each)) for kind, each in judged.items()]
    total = Judged(*np.sum(list(judged.values()), axis=0).tolist())
    rows.append(_row("mutated_frames", **_judged(total)))
    criteria = [
        *(Criterion(f"{row['what']}, median [us]", row["p50_us"], "<=", row["bound_us"])
          for row in bounded),
        Criterion("mutated frames treated wrongly", _faults(rows[-1]), "<=", 0),
    ]  # fmt: skip
    ratio = max(row["p50_us"] for row in bounded) / BOUND_US
    table = [_short(row) for row in rows]
    return BenchResult(rows, ratio, _note(), table=table, criteria=criteria)


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
    same = all(ours.encode(each) == peer.encode(each) for each in commands)
    if not (same and all(_equal(decode_low_state(f), peer.decode(f)) for f in states)):
        raise BadRequest("codec and peer disagree; `pytest tests/hw_bridge/wire` says where")


def measure(codecs: list[Codec], calls: int) -> list[dict[str, Any]]:
    """Rows of the codecs, which take turns call by call."""
    say(f"timing {calls} frames")
    contest = Contest([Contestant(f"{one.what}, {one.codec}", one.call) for one in codecs])
    times = contest.measure(calls)
    return [
        _row(one.what, way=one.codec, frames=calls, bound_us=one.bound_us,
             **times.quantiles(contestant.name, US, p50_us=50.0, p99_us=99.0))
        for one, contestant in zip(codecs, contest.contestants, strict=True)
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


def _codecs(commands: list[Setpoints], states: list[bytes]) -> list[Codec]:
    ours, n, m = LowCommandEncoder(), len(commands), len(states)
    frames = [ours.encode(each) for each in commands]
    decoded = [decode_low_state(frame) for frame in states]
    return [
        Codec("encode_command", "ours", lambda k: ours.encode(commands[k % n]), BOUND_US),
        Codec("encode_command", "struct", lambda k: peer.encode(commands[k % n])),
        Codec("decode_state", "ours", lambda k: decode_low_state(states[k % m]), BOUND_US),
        Codec("decode_state", "struct", lambda k: peer.decode(states[k % m])),
        Codec("decode_command", "ours", lambda k: decode_low_command(frames[k % n])),
        Codec("encode_state", "ours", lambda k: encode_low_state(decoded[k % m])),
    ]


def _row(what: str, **known: Any) -> dict[str, Any]:
    keys = ("way", "frames", "p50_us", "p99_us", "bound_us", *Judged._fields[1:])
    return {"what": what, **{key: known.get(key) for key in keys}}


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people: what must be 0 in one column."""
    kept = {key: value for key, value in row.items() if key not in FAULTS}
    return {**kept, "wrong": _faults(row)}


def _faults(row: dict[str, Any]) -> int | None:
    faults = [row[key] for key in FAULTS]
    return None if None in faults else sum(faults)


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
