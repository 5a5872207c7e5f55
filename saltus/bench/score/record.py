"""The record of the scoreboard, ``score.yaml``: read, compared with what is measured, written."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import subprocess
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from llvmlite import binding

from saltus.bench.score.figures import Figure, Value
from saltus.common.compiled_code import ROOT
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import write_file

FILE = ROOT / "score.yaml"
HEAD = """\
# The record of every headline figure. `saltus score` measures them again and says which became
# worse; `saltus score --record` writes what is better, `--accept "GROUP: FIGURE"` what was changed
# on purpose. better: lower, higher, equal or shown (printed, never judged). A figure may be worse
# by `tolerance`, a share of the value, or by `margin`, in its unit. goal: the best value known, and
# where it was measured.
"""

LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "mujoco", "osqp", "pin")
BETTER, SAME, WORSE, NEW, UNJUDGED = "better", "as before", "WORSE", "new", "not judged"


class Entry(NamedTuple):
    """The record of one figure; see `Figure` for what the fields have in common."""

    group: str
    figure: str
    unit: str
    better: str
    tolerance: float
    margin: float
    value: Value
    commit: str
    date: str
    goal: Value = None
    goal_from: str = ""
    environment: str = ""  # processor and libraries, of an exact value


class Judgement(NamedTuple):
    """A figure beside its record."""

    figure: Figure
    entry: Entry | None
    verdict: str

    def row(self) -> dict[str, Any]:
        """Keys of ``saltus score --json``."""
        figure, entry, verdict = self
        return {
            "group": figure.group, "figure": figure.name, "unit": figure.unit,
            "record": entry and entry.value, "goal": entry and entry.goal, "now": figure.value,
            "worse": verdict == WORSE, "verdict": verdict, "note": figure.note,
        }  # fmt: skip


Key = tuple[str, str]
Record = dict[Key, Entry]


def read_record(text: str | None = None) -> Record:
    """The record, by group and figure; empty where there is no file yet.

    Args:
        text: of an earlier record; None reads the file of this checkout.

    Raises:
        BadRequest: this is no checkout, or the file is no record.
    """
    if not (ROOT / "pyproject.toml").is_file():
        raise BadRequest("score: the record is in a checkout of the project; run it there")
    with refusing(f"{FILE}", yaml.YAMLError, TypeError, AttributeError):
        if text is None:
            text = FILE.read_text() if FILE.exists() else "figures: []"
        entries = [Entry(**row) for row in yaml.safe_load(text)["figures"]]
    return {(entry.group, entry.figure): entry for entry in entries}


def judge(figure: Figure, entry: Entry | None, environment: str) -> Judgement:
    """Compare a figure with its record."""
    return Judgement(figure, entry, _verdict(figure, entry, environment))


def _verdict(figure: Figure, entry: Entry | None, environment: str) -> str:
    now, before = figure.value, None if entry is None else entry.value
    if figure.better == "shown" or now is None:
        return UNJUDGED
    if entry is None or before is None:
        return NEW
    if figure.exact and entry.environment != environment:
        return UNJUDGED
    if isinstance(now, str) or isinstance(before, str):
        return SAME if now == before else WORSE
    change = float(now) - float(before)
    if figure.better == "higher":
        change = -change
    allowed = max(figure.margin, figure.tolerance * abs(float(before)))
    if math.isnan(change) or change > allowed or (figure.better == "equal" and change < -allowed):
        return WORSE
    return BETTER if change < -allowed else SAME


def unmeasured(record: Record, figures: Sequence[Figure]) -> list[Key]:
    """Judged figures of the record whose groups were measured, but not they."""
    groups, measured = (
        {each.group for each in figures},
        {(each.group, each.name) for each in figures},
    )
    return [
        key for key, entry in record.items()
        if key[0] in groups and key not in measured and entry.better != "shown"
    ]  # fmt: skip


def write_record(
    record: Record, judgements: Sequence[Judgement], environment: str, accepted: Collection[str]
) -> list[str]:
    """Write what is better or new, and what is accepted; names of the figures that were written.

    A figure of the same groups that is not measured any more leaves the record.

    Args:
        record: as it is.
        judgements: of what was measured.
        environment: processor and libraries.
        accepted: ``GROUP: FIGURE``, or a ``GROUP`` with all its figures, written however they are.

    Raises:
        BadRequest: the file cannot be written.
    """
    written, commit = [], current_commit()
    for key in unmeasured(record, [each.figure for each in judgements]):
        written.append("{}: {}".format(*key))
        del record[key]
    for figure, entry, verdict in judgements:
        name, value = f"{figure.group}: {figure.name}", figure.value
        forced = name in accepted or figure.group in accepted
        shown = figure.better == "shown"
        if not (forced or shown or verdict in (BETTER, NEW)) or value is None:
            continue
        if shown and entry is not None and entry.better != "shown":
            continue  # beside other load: the record is better
        goal = (None, "") if entry is None else (entry.goal, entry.goal_from)
        record[figure.group, figure.name] = Entry(
            figure.group, figure.name, figure.unit, figure.better, figure.tolerance, figure.margin,
            float(f"{value:.4g}") if isinstance(value, float) else value, commit,
            date.today().isoformat(), *goal, environment if figure.exact else "",
        )  # fmt: skip
        written.append(name)
    if written:
        _write(record)
    return written


def _write(record: Mapping[Key, Entry]) -> None:
    lines, optional = [HEAD, "figures:\n"], ("goal", "goal_from", "environment")
    for entry in record.values():
        row = {key: value for key, value in entry._asdict().items()
               if key not in optional or value not in (None, "")}  # fmt: skip
        text = yaml.safe_dump(row, default_flow_style=True, sort_keys=False, width=10_000)
        lines.append(f"- {text.strip()}\n")
    with refusing(f"{FILE} cannot be written"):
        write_file(FILE, "".join(lines).encode())


def environment() -> str:
    """The processor and the libraries that decide the last bits of a result.

    With BLAS kernels that are set (`saltus/__init__.py`), bits are those of the architecture.
    """
    kernels = os.environ.get("OPENBLAS_CORETYPE") or binding.get_host_cpu_name()
    parts = [platform.machine(), kernels, *(version(name) for name in LIBRARIES)]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


def current_commit() -> str:
    """The commit of the checkout, with a ``+`` where files differ from it; empty without git."""
    try:
        commit = git("rev-parse", "--short=8", "HEAD")
        return commit + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def git(*arguments: str) -> str:
    """Output of git in the checkout.

    Raises:
        OSError, subprocess.CalledProcessError: there is no git, or it fails.
    """
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


PAGE = ROOT / "docs" / "score.md"
_BARS = "▁▂▃▄▅▆▇█"
_HEAD = """\
# Scoreboard

The record of every headline figure. `saltus score` measures the figures again, prints them beside
this record and exits with status 1 if any became worse. `saltus score --record` writes this page
and `score.yaml`, which has the origin of each figure and goal, and the bits of each run. ↓: less is
better. ↑: more is better. Figures without an arrow must stay equal, or are not judged. Times of the
processor, plans and solves are in the unit of two fixed loops, measured in the same minute.
"""


def write_page(record: Record) -> Path:
    """Write the page from the record and its history in git.

    Raises:
        BadRequest: it cannot be written.
    """
    with refusing(f"{PAGE} cannot be written"):
        return write_file(PAGE, page(record, history()).encode())


def history() -> list[Record]:
    """The records of earlier commits, the oldest first; none without git."""
    try:
        commits = git("log", "--reverse", "--format=%H", "--", FILE.name).splitlines()
        return [read_record(git("show", f"{commit}:{FILE.name}")) for commit in commits]
    except (OSError, subprocess.CalledProcessError, BadRequest):
        return []


def page(record: Record, earlier: Sequence[Record]) -> str:
    """Markdown: a list for each group; figures whose names begin alike share a line."""
    groups: dict[str, dict[str, list[str]]] = {}
    for key, entry in record.items():
        if not isinstance(entry.value, str):
            values = [each[key].value for each in (*earlier, record) if key in each]
            colon = ": " in entry.figure
            end = entry.figure.rfind(", " if ", " in entry.figure else ": ") if colon else None
            head, own = entry.figure[:end], entry.figure[end:].lstrip(",: ") if colon else ""
            heads = groups.setdefault(entry.group, {})
            heads.setdefault(head, []).append(f"{own} {_figure(entry, values)}".strip())
    lines = [_HEAD]
    for group, heads in groups.items():
        lines.append(f"\n## {group.capitalize()}\n")
        lines += [f"- {head}: {'; '.join(figures)}" for head, figures in heads.items()]
    return "\n".join(lines) + "\n"


def _figure(entry: Entry, values: Sequence[Value]) -> str:
    goal = "" if entry.goal is None else f", goal {shown(entry.goal)}"
    direction = {"lower": "↓", "higher": "↑"}.get(entry.better, "")
    value = " ".join(filter(None, (shown(entry.value), entry.unit, direction)))
    return f"**{value}**{goal} {spark(values)}"


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
