"""``docs/score.md``: the record as a page, with the history of each figure."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from saltus.common.errors import BadRequest
from saltus.common.files import write_file
from saltus.score.figures import Value
from saltus.score.record import FILE, ROOT, Entry, Record, git, read_record

PAGE = ROOT / "docs" / "score.md"
_BARS = "▁▂▃▄▅▆▇█"
_HEAD = """\
# Scoreboard

The record of every headline figure. `saltus score` measures the figures again, prints them beside
this record and exits with status 1 if any became worse. `saltus score --record` writes this page
and `score.yaml`. ↓: less is better. ↑: more is better. Figures without an arrow must stay equal, or
are not judged. Processor times are divided by the time of two fixed loops in the same minute, so
that their unit is that of one computer.
"""


def write_page(record: Record) -> Path:
    """Write the page from the record and its history in git.

    Raises:
        BadRequest: it cannot be written.
    """
    try:
        return write_file(PAGE, page(record, history()).encode())
    except OSError as error:
        raise BadRequest(f"{PAGE} cannot be written: {error.strerror or error}") from error


def history() -> list[Record]:
    """The records of earlier commits, the oldest first; none without git."""
    try:
        commits = git("log", "--reverse", "--format=%H", "--", FILE.name).splitlines()
        return [read_record(git("show", f"{commit}:{FILE.name}")) for commit in commits]
    except (OSError, subprocess.CalledProcessError, BadRequest):
        return []


def page(record: Record, earlier: Sequence[Record]) -> str:
    """Markdown: a table for each group."""
    lines = [_HEAD]
    for group in dict.fromkeys(entry.group for entry in record.values()):
        lines += [f"\n## {group.capitalize()}\n", "| figure | record | goal | history | recorded |",
                  "|---|---|---|---|---|"]  # fmt: skip
        for key, entry in record.items():
            if entry.group == group:
                values = [each[key].value for each in (*earlier, record) if key in each]
                lines.append(_line(entry, values))
    return "\n".join(lines) + "\n"


def _line(entry: Entry, values: Sequence[Value]) -> str:
    goal = "" if entry.goal is None else f"{shown(entry.goal)} ({entry.goal_from})"
    direction = {"lower": "↓", "higher": "↑"}.get(entry.better, "")
    value = f"{shown(entry.value)} {entry.unit} {direction}".strip()
    recorded = f"{entry.commit}, {entry.date}".strip(", ")
    return f"| {entry.figure} | {value} | {goal} | {spark(values)} | {recorded} |"


def shown(value: Value) -> str:
    """A value with four digits."""
    if value is None:
        return "not yet"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def spark(values: Sequence[Value]) -> str:
    """A small plot of the values that differ from the one before; empty for words."""
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    numbers = [x for i, x in enumerate(numbers) if i == 0 or x != numbers[i - 1]]
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    span = (high - low) or 1.0
    return "".join(_BARS[round((len(_BARS) - 1) * (x - low) / span)] for x in numbers)
