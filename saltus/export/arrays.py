"""Topics of a recorded run as CSV files, which other tools open."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from saltus.common.errors import BadRequest, refusing
from saltus.common.files import replacing
from saltus.recording.fields import columns_of
from saltus.recording.run import BY_NAME, Run


class Exported(NamedTuple):
    """Written files.

    Attributes:
        files: their paths.
        rows: number of messages by topic.
        left_out: fields whose shape varies, such as ``plan/gains``.
        undecodable: number of messages that do not decode, by topic; of topics that have some.
    """

    files: list[str]
    rows: dict[str, int]
    left_out: list[str]
    undecodable: dict[str, int]


def write_csv(run: Run, folder: Path, topics: Sequence[str] = ()) -> Exported:
    """Write one file a topic, one row a message; all are written before one replaces another.

    Columns are those of `Messages.table`.

    Args:
        run: an open recording.
        folder: of the files; made where there is none.
        topics: those that are wanted; empty for all.

    Raises:
        BadRequest: the recording does not hold such a topic, or none at all, or a file cannot be
            written.
    """
    if not (topics or run.topics):
        raise BadRequest(f"{run.file}: holds no messages: it is empty, or was cut off")
    exported = Exported([], {}, [], {})
    with refusing(f"--csv {folder}: cannot be written"), ExitStack() as files:
        for topic in dict.fromkeys(topics) or run.topics:
            messages, path = run.read(topic), folder / f"{topic}.csv"
            folder.mkdir(exist_ok=True)
            columns = columns_of(BY_NAME[topic].message)
            exported.left_out.extend(f"{topic}/{n}" for n, c in columns.items() if c.varies)
            _write_rows(messages.table(), files.enter_context(replacing(path)))
            exported.files.append(str(path))
            exported.rows[topic] = len(messages)
            if messages.undecodable:
                exported.undecodable[topic] = messages.undecodable
    return exported


def _write_rows(table: dict[str, NDArray[Any]], path: Path) -> None:
    columns = [(each.astype(int) if each.dtype == bool else each) for each in table.values()]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)  # below, Python's numbers keep every digit
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
