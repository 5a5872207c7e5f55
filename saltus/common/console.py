"""Output for the user: progress and logs on standard error, one JSON object on standard output."""

import math
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

COLOURS = {"OK": "green", "WARNING": "yellow", "STOPPED": "yellow", "FAILED": "bold red"}
_UNBOUNDED = 10_000  # columns, more than any table

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """Print one line of progress or log on standard error; one that cannot be shown is lost.

    A launch must not end because its log stands on a full disk or has no reader any more (for
    which rich raises SystemExit).
    """
    with suppress(OSError, SystemExit):
        stderr.print(message, markup=False)


def print_json(result: Mapping[str, Any] | msgspec.Struct) -> None:
    """Print ``result`` as exactly one JSON object on one line, the last of standard output.

    Numbers and arrays of numpy become lists and numbers; what is not finite, null.
    """
    text = msgspec.json.encode(result, enc_hook=lambda value: value.tolist())
    sys.stdout.write(text.decode() + "\n")
    sys.stdout.flush()


class Fact(NamedTuple):
    """A line of a summary: a short label, and what is to be said."""

    label: str
    text: str


def print_facts(facts: Sequence[Fact]) -> None:
    """Print labels and texts in two columns on standard output.

    On a terminal texts wrap within their column, and the verdict has a colour; elsewhere each fact
    is one line.
    """
    console = Console(highlight=False, soft_wrap=True)
    indent = max(map(len, (fact.label for fact in facts)), default=0) + 2
    room = max(console.width - indent, 20) if console.is_terminal else _UNBOUNDED
    for label, text in facts:
        lines = textwrap.wrap(text, room, break_long_words=False) or [""]
        console.print(Text(f"{label:<{indent}}", COLOURS.get(label, "")) + Text(lines[0]))
        for line in lines[1:]:
            console.print(Text(" " * indent + line))


def print_table(
    title: str, rows: list[dict[str, Any]], headings: Sequence[str] | None = None
) -> None:
    """Print ``rows`` (all with the same keys) as a table on standard output.

    The keys are the headings where there are no others. Where the table is too wide, headings and
    text wrap, but for the first column, of names.
    """
    keys = [key.replace("_", " ") for key in (rows[0] if rows else ())]
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD,
                  padding=(0, 1, 0, 0))  # fmt: skip
    for i, heading in enumerate(headings or keys):
        table.add_column(Text(heading), overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    Console(highlight=False, width=None if sys.stdout.isatty() else _UNBOUNDED).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(f"{item:g}" for item in value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


LINE_EVERY_S = 5.0


class RunProgress:
    """Shows how far a run has come; a context manager. Inside another one it shows nothing.

    A bar on a terminal, elsewhere a line now and then.
    """

    _shown = False  # whether one is being shown in this process

    def __init__(self, total: float, unit: str) -> None:
        """``total`` in ``unit``, such as 6.0 and ``s simulated``; inf for a run without end."""
        ends = total < math.inf
        self._of, self._mine = f"{f'/{total:.4g}' if ends else ''} {unit}", False
        self._last_line = time.monotonic()
        self._bar = Progress(
            BarColumn(), TextColumn("{task.completed:.4g}" + self._of),
            TextColumn("{task.description}", markup=False), *[TimeRemainingColumn()] * ends,
            console=stderr, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=total if ends else None)

    def show(self, done: float, what: str) -> None:
        """Say that ``done`` of the total is done, and ``what`` besides."""
        if not self._mine:
            return
        self._bar.update(self._task, completed=done, description=what)
        if not stderr.is_terminal and time.monotonic() - self._last_line > LINE_EVERY_S:
            self._last_line = time.monotonic()
            left = self._bar.tasks[0].time_remaining or 0.0  # none at first
            words = f", {left / 60:.0f} min left" if left > 90.0 else f", {left:.0f} s left"
            say(f"{done:.4g}{self._of}  {what}{words * bool(left)}")

    def __enter__(self) -> "RunProgress":
        self._mine = not RunProgress._shown
        if self._mine:
            RunProgress._shown = True
            if stderr.is_terminal:
                self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine:
            RunProgress._shown = False
            with suppress(OSError):  # the terminal has gone; the summary counts
                self._bar.stop()
