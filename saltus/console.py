"""What the user sees: progress and logs on standard error, one JSON object on standard output."""

import json
import sys
from contextlib import suppress
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

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


def print_lines(lines: list[str]) -> None:
    """Print plain text on standard output."""
    for line in lines:
        print(line, flush=True)


def print_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print ``rows`` (all with the same keys) as a table on standard output.

    The first column, of names, keeps its width; text in others wraps where the table is too wide.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, key in enumerate(rows[0] if rows else []):
        table.add_column(key.replace("_", " "), overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    Console(highlight=False).print(table)


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
