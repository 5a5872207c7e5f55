"""Topics of a recorded run as files that other tools open: CSV, or numpy's ``.npz``."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from saltus.common.errors import BadRequest, refusing
from saltus.common.files import replacing
from saltus.recording.fields import columns_of
from saltus.recording.run import BY_NAME, Messages, Run


class Exported(msgspec.Struct):
    """What was written.

    Attributes:
        files: their paths.
        rows: number of messages by topic.
        left_out: fields that the format does not hold, such as ``plan/gains``.
        undecodable: number of messages that do not decode, by topic; of topics that have some.
    """

    files: list[str] = []
    rows: dict[str, int] = {}
    left_out: list[str] = []
    undecodable: dict[str, int] = {}

    def messages(self, run: Run, topics: Sequence[str]) -> Iterator[Messages]:
        """Read topic by topic, and count; all that the recording holds where none is named.

        Raises:
            BadRequest: the recording does not hold such a topic, or none at all.
        """
        if not (topics or run.topics):
            raise BadRequest(f"{run.file}: holds no messages: it is empty, or was cut off")
        for topic in dict.fromkeys(topics) or run.topics:
            messages = run.read(topic)
            self.rows[topic] = len(messages)
            if messages.undecodable:
                self.undecodable[topic] = messages.undecodable
            yield messages


def write_csv(run: Run, folder: Path, topics: Sequence[str] = ()) -> Exported:
    """Write one file a topic, one row a message; all are written before one replaces another.

    Columns are those of `Messages.table`.

    Args:
        run: an open recording.
        folder: of the files; made where there is none.
        topics: those that are wanted; empty for all.

    Raises:
        BadRequest: the recording does not hold such a topic, or a file cannot be written.
    """
    exported = Exported()
    with refusing(f"--csv {folder}: cannot be written"), ExitStack() as files:
        for messages in exported.messages(run, topics):
            folder.mkdir(exist_ok=True)
            path = folder / f"{messages.topic}.csv"
            columns = columns_of(BY_NAME[messages.topic].message)
            exported.left_out += [f"{messages.topic}/{n}" for n, c in columns.items() if c.varies]
            _write_rows(messages.table(), files.enter_context(replacing(path)))
            exported.files.append(str(path))
    return exported


def write_npz(run: Run, path: Path, topics: Sequence[str] = ()) -> Exported:
    """Write one file with an array ``topic/field`` for each field, whole or not at all.

    The arrays of a field whose shape varies are joined along their first axis; ``topic/field_rows``
    says how many rows each message has of it.

    Args:
        run: an open recording.
        path: of the file.
        topics: those that are wanted; empty for all.

    Raises:
        BadRequest: the recording does not hold such a topic, or the file cannot be written.
    """
    exported = Exported([str(path)])
    with refusing(f"--npz {path}: cannot be written"), replacing(path) as part:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for messages in exported.messages(run, topics):
                for name in messages.fields:
                    values = getattr(messages, name)
                    key = f"{messages.topic}/{name}"
                    if isinstance(values, list):
                        _write_array(archive, f"{key}_rows", np.array([len(v) for v in values]))
                        values = _joined(values)
                    _write_array(archive, key, values)
    return exported


def _write_rows(table: dict[str, NDArray[Any]], path: Path) -> None:
    columns = [(each.astype(int) if each.dtype == bool else each) for each in table.values()]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)  # below, Python's numbers keep every digit
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def _joined(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Arrays one after the other; where they differ in width, NaN fills the narrower ones."""
    width = np.max([array.shape[1:] for array in arrays], axis=0)
    joined = np.full((sum(map(len, arrays)), *width), np.nan)
    row = 0
    for array in arrays:
        joined[(slice(row, row + len(array)), *map(slice, array.shape[1:]))] = array
        row += len(array)
    return joined
