"""``saltus replay RUN``: what the stack makes of a run's readings, beside what was recorded."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

from saltus.common.code_version import code_version
from saltus.common.console import Fact
from saltus.common.progress import RunProgress
from saltus.launch.first_compilation import ensure_compiled
from saltus.replay.difference import Comparison, Difference, Tally
from saltus.replay.feed import Tape, replay_in_lock_step, replay_in_real_time

NAMES = {"state_estimate": "estimates", "plan": "plans", "motor_command": "motor commands"}


class Replay(NamedTuple):
    """A run that was replayed.

    Attributes:
        lock_step: bits can be expected; else each core was fed alone.
        identical: all that was recorded came out again, to the last bit.
        first: the first difference; None where there is none.
        tallies: by topic.
        notes: what may be the reason of a difference, and what could not be compared.
    """

    lock_step: bool
    identical: bool
    first: Difference | None
    tallies: dict[str, Tally]
    notes: list[str]


def replay(path: Path) -> Replay:
    """Replay a run folder, or its recording.

    Raises:
        BadRequest: it cannot be read, lacks a topic, or this version cannot launch it.
    """
    tape = Tape(path)
    config = tape.config
    ensure_compiled(config)
    for name in ("controller", "estimator"):  # what they logged stands in the run's own logs
        logging.getLogger(name).addHandler(logging.NullHandler())
    lock_step = config.mode == "paused"
    comparison = Comparison(config.recording, lock_step)
    with RunProgress(config.duration, "s recorded") as progress:
        run = replay_in_lock_step if lock_step else replay_in_real_time
        end = run(tape, comparison, progress)
    identical = comparison.identical and not end
    notes = [*_causes(tape), *([end] if end else [])]
    return Replay(lock_step, identical, comparison.first, comparison.tallies, notes)


def _causes(tape: Tape) -> list[str]:
    """Why a replay may differ that changed nothing else."""
    notes, run = [], tape.run
    recorded = (run.summary or {}).get("code", "")
    if recorded and recorded != code_version():
        notes.append(f"recorded by {recorded}; this is {code_version()}")
    if tape.config.mode != "paused":
        notes.append("recorded in real time: who had which message when is not known to the tick")
    elif tape.tunings:
        notes.append("somebody tuned the planner meanwhile, which is not replayed")
    if run.cause:
        notes.append(f"the recording is not complete: {run.cause}")
    return notes


def as_json(result: Replay) -> dict[str, Any]:
    """What `saltus replay --json` prints."""
    return {
        "identical": result.identical,
        "first_difference": None if result.first is None else result.first._asdict(),
        "lock_step": result.lock_step,
        "topics": {name: _counts(tally) for name, tally in result.tallies.items()},
        "notes": result.notes,
    }


def _counts(tally: Tally) -> dict[str, Any]:
    spreads = {name: spread for name, spread in tally.spreads.items() if spread.largest > 0.0}
    return {
        "compared": tally.compared, "different": tally.different,
        "only_recorded": tally.only_recorded, "only_replayed": tally.only_replayed,
        "fields": {
            name: {"largest": spread.largest, "rms": spread.rms, "unit": tally.unit(name)}
            for name, spread in spreads.items()
        },
        "other_fields": {name: count for name, count in tally.others.items() if count},
    }  # fmt: skip


def facts(result: Replay) -> list[Fact]:
    """The result in words."""
    return [
        _headline(result),
        *(Fact(NAMES[name], _words(tally)) for name, tally in result.tallies.items()),
        *(Fact("note", note) for note in result.notes),
    ]


def spread_rows(result: Replay) -> list[dict[str, Any]]:
    """A row for each field that differs."""
    rows = []
    for name, tally in result.tallies.items():
        rows += [
            {"topic": name, "field": field, "largest": f"{spread.largest:.3g}",
             "RMS": f"{spread.rms:.3g}", "unit": tally.unit(field)}
            for field, spread in tally.spreads.items() if spread.largest > 0.0
        ]  # fmt: skip
        rows += [
            {"topic": name, "field": field, "largest": "", "RMS": "", "unit": f"{count} messages"}
            for field, count in tally.others.items() if count
        ]  # fmt: skip
    return rows


def _headline(result: Replay) -> Fact:
    if result.identical:
        return Fact("OK", "identical to the last bit")
    first = result.first
    if first is None:
        return Fact("FAILED", "not all could be compared; what was is identical to the last bit")
    size = "" if first.size is None else f" (difference {first.size:.3g})"
    words = (
        f"first difference: {first.topic} of tick {first.tick}, {first.field}: recorded "
        f"{first.recorded!r}, replayed {first.replayed!r}{size}"
    )
    return Fact("FAILED" if result.lock_step else "WARNING", words)


def _words(tally: Tally) -> str:
    words = f"{tally.compared} compared, {tally.different} differ"
    if tally.only_recorded:
        words += f"; {tally.only_recorded} recorded that were not replayed"
    if tally.only_replayed:
        words += f"; {tally.only_replayed} replayed that were not recorded"
    return words
