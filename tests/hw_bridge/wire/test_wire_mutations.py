"""Damaged frames: nothing but WireError, none accepted that is not whole, none refused that is."""

from random import Random

import pytest

from hw_bridge.wire.frame import FrameFault, WireError
from saltus.bench.wire import mutations as wire_mutations
from saltus.bench.wire.bench import agree, judge_mutated, run, setpoints
from saltus.bench.wire.mutations import KINDS, judge, mutated, sound_frames
from saltus.bench.wire.peer import whole
from saltus.common.errors import BadRequest


def check(frames, seed):
    found = judge_mutated(frames, seed)
    assert list(found) == list(KINDS)
    for kind, judged in found.items():
        assert judged[2:] == (0, 0, 0), kind
        assert judged.frames == -(-frames // len(KINDS))
    assert found["truncated"].accepted == found["extended"].accepted == 0
    assert found["resealed"].accepted == found["resealed"].frames
    assert found["flipped"].accepted < 0.01 * found["flipped"].frames


def test_twenty_thousand_damaged_frames():
    check(20_000, seed=7)


@pytest.mark.slow
def test_a_million_damaged_frames():
    check(1_000_000, seed=8)


def test_sound_frames_are_accepted():
    frames = sound_frames(3)
    assert judge(frames) == (len(frames), len(frames), 0, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutation_changes_frames(kind):
    random, sound = Random(1), sound_frames(3)
    changed = [mutated(sound, kind, random) for _ in range(200)]
    assert sum(frame not in sound for frame in changed) > 150


def raises(error):
    def decode(frame):
        raise error

    return decode


@pytest.mark.parametrize(
    ("decode", "expected"),
    [
        (lambda frame: None, (6, 6, 0, 4, 0)),
        (raises(IndexError()), (6, 0, 6, 0, 0)),
        (raises(WireError(FrameFault.CRC)), (6, 0, 0, 0, 2)),
    ],
)
def test_the_judge_sees_each_fault(monkeypatch, decode, expected):
    monkeypatch.setattr(wire_mutations, "DECODERS", {610: decode})
    frames = [frame for frame in sound_frames(3) if len(frame) == 610][:2]
    broken = [frame[:-1] + bytes([frame[-1] ^ 1]) for frame in frames]
    assert judge([*frames, *broken, b"", bytes(610)]) == expected
    assert all(whole(frame, 610) for frame in frames)


def test_the_benchmark_has_a_row_for_each_codec_and_kind():
    result = run(calls=20, frames=60)
    assert [row["what"] for row in result.rows[6:]] == [*KINDS, "mutated_frames"]
    assert all(row.keys() == result.rows[0].keys() for row in result.rows)
    assert result.rows[-1]["frames"] == 60
    assert result.table[-1]["wrong"] == 0
    timed = [row["p50_us"] for row in result.rows if row["bound_us"]]
    assert result.ratio == max(timed) / 30.0


def test_codecs_that_differ_are_not_compared(monkeypatch):
    commands = setpoints(1, 2)
    agree(commands, [])
    monkeypatch.setattr("saltus.bench.wire.peer._count", round)  # not truncated
    with pytest.raises(BadRequest, match="disagree"):
        agree(commands, [])
