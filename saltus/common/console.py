"""What the user sees: progress and logs on standard error, one JSON object on standard output."""

import json
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

COLOURS = {"OK": "green", "WARNING": "yellow", "STOPPED": "yellow", "FAILED": "bold red"}
_UNBOUNDED = 10_000  # columns, more than any table

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """Print one line of progress or log on standard error; one that cannot be shown is lost.

    A launch must not end because its log stands on a full disk or nobody reads it any more (for
    which rich raises SystemExit).
    """
    with suppress(OSError, SystemExit):
        stderr.print(message, markup=False)


def print_json(result: dict[str, Any]) -> None:
    """Print ``result`` as exactly one JSON object on one line, the last of standard output."""
    sys.stdout.write(json.dumps(_plain(result), allow_nan=False) + "\n")
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


def print_lines(lines: list[str]) -> None:
    """Print plain text on standard output."""
    for line in lines:
        print(line, flush=True)


def print_table(
    title: str, rows: list[dict[str, Any]], headings: Sequence[str] | None = None
) -> None:
    """Print ``rows`` (all with the same keys) as a table on standard output.

    The keys are the headings where there are no others. Where the table is too wide, headings
    break between words, then columns stand closer, then text wraps, but for the first column, of
    names.
    """
    console = Console(highlight=False)
    tables = _layouts(title, rows, headings)
    console.print(next((table for table in tables if _fits(table, console)), tables[-1]))


def fits(title: str, rows: list[dict[str, Any]]) -> bool:
    """Whether `print_table` can show these rows without breaking a cell."""
    return any(_fits(table, Console()) for table in _layouts(title, rows))


def _layouts(
    title: str, rows: list[dict[str, Any]], headings: Sequence[str] | None = None
) -> list[Table]:
    """The table, the widest form first."""
    cells = [[_cell(value) for value in row.values()] for row in rows]
    keys = [key.replace("_", " ") for key in (rows[0] if rows else ())]
    wide = keys if headings is None else list(headings)
    narrow = [_narrow(heading, [row[i] for row in cells]) for i, heading in enumerate(wide)]
    return [
        _table(title, names, cells, room)
        for names, room in ((wide, 1), (narrow, 1), (narrow, 0))
    ]  # fmt: skip


def _fits(table: Table, console: Console) -> bool:
    unbounded = console.options.update(max_width=_UNBOUNDED)
    return Measurement.get(console, unbounded, table).maximum <= console.width


def _table(title: str, headings: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> Table:
    """A table whose words are no markup: what stands in square brackets stays."""
    table = Table(
        title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, room, 0, 0)
    )
    for i, heading in enumerate(headings):
        table.add_column(Text(heading), overflow="fold", no_wrap=i == 0)
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _narrow(heading: str, column: Sequence[str]) -> str:
    """The heading in lines no longer than its longest word, or what stands under it."""
    words = heading.split() or [""]
    return textwrap.fill(heading, max(map(len, [*words, *column])))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(f"{item:g}" for item in value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """JSON has no NaN and knows no numpy scalar: both become what a script can read."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
