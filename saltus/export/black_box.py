"""Contents of a robot's black box, and its frames as CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.exceptions import McapError
from mcap.reader import make_reader
from numpy.typing import NDArray

from hw_bridge.black_box.pipe import WAYS
from hw_bridge.black_box.ring import RUN_TEXT, SUFFIX, RobotFrame, RunText, segments
from hw_bridge.wire.layout import WIRES, Wire
from robots.conventions import JOINT_NAMES
from runtime.messages import decode
from runtime.recording import Gap, RecordedFrame, is_whole, read_frames
from saltus.common.console import say
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import read_table
from saltus.recording.reading import damage_of, readable

STAMPS = ("time [s]", "monotonic [s]")
COLUMNS = read_table(__file__, "black_box.yaml")

Records = NDArray[np.void]


class Segment(NamedTuple):
    """A file of the ring.

    Attributes:
        file: its path.
        begin: log time of its first message [s], wall clock.
        end: log time of its last message [s].
        counts: number of messages by topic.
    """

    file: Path
    begin: float
    end: float
    counts: dict[str, int]

    def row(self) -> dict[str, Any]:
        """A row of the table."""
        begin = datetime.fromtimestamp(self.begin).astimezone().isoformat(timespec="seconds")
        row = {"file": str(self.file), "begin": begin, "seconds": round(self.end - self.begin, 3)}
        return row | {way: self.counts.get(way, 0) for way in WAYS}


def segments_of(path: Path) -> list[Segment]:
    """The files of a black box that hold something, the oldest first.

    Args:
        path: of the ring, of a run's folder with a ring in it, or of one file.

    Raises:
        BadRequest: there is no black box, or it cannot be read.
    """
    files = [path] if path.suffix == SUFFIX else segments(path) or segments(path / "black_box")
    with readable(path):
        found = [segment for file in files if (segment := _look_at(file))]
    if not found:
        raise BadRequest(f"{path}: holds no black box; a launch on an A1 makes runs/black_box")
    return found


def write_csv(found: Sequence[Segment], folder: Path, last_s: float) -> dict[str, int]:
    """Write ``from_robot.csv``, ``by_tracker.csv``, ``by_watchdog.csv`` and the texts of the runs.

    Args:
        found: of `segments_of`.
        folder: of the files; made here.
        last_s: how much of the end to write [s].

    Returns:
        Number of rows, or of characters of a text, by file.

    Raises:
        BadRequest: the folder is there already, or a file cannot be read or written.
    """
    since_ns = round(1e9 * (max(segment.end for segment in found) - last_s))
    with refusing(f"--csv {folder}: cannot be made"):
        folder.mkdir(parents=True)
    rows = Counter[str]()
    for segment in found:
        if 1e9 * segment.end >= since_ns:
            with readable(segment.file):
                _append(segment.file, since_ns, folder, rows)
    return dict(rows)


def _append(file: Path, since_ns: int, folder: Path, rows: Counter[str]) -> None:
    """Append what a file of the ring holds from a time on [ns] to the files, and count it."""
    found: dict[str, list[tuple[int, RobotFrame]]] = {way: [] for way in WAYS}
    for frame in _frames(file):
        if frame.log_time_ns < since_ns:
            continue
        if frame.topic == RUN_TEXT.name:
            piece = decode(RunText, frame.data)
            name = piece.file.replace("/", "_")  # no name leads out of the folder
            with (folder / name).open("a") as text:
                text.write(piece.text)
            rows[name] += len(piece.text)
        elif frame.topic in found:
            found[frame.topic].append((frame.log_time_ns, decode(RobotFrame, frame.data)))
    for way, messages in found.items():
        for wire in WIRES.values():
            layout = wire.state if way == "from_robot" else wire.command
            whole = [each for each in messages if len(each[1].data) == layout.itemsize]
            if not whole:
                continue
            records = np.frombuffer(b"".join(message.data for _, message in whole), layout)
            stamps = [[1e-9 * at for at, _ in whole], [message.time for _, message in whole]]
            table = dict(zip(STAMPS, stamps, strict=True)) | dict(_columns(wire, records))
            name = f"{way}.csv"
            with (folder / name).open("a", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                if not rows[name]:
                    writer.writerow(table)
                writer.writerows(zip(*table.values(), strict=True))
            rows[name] += len(whole)


def _columns(wire: Wire, records: Records) -> Iterator[tuple[str, list[Any]]]:
    """Heading and column of every quantity in states or commands."""
    joints = COLUMNS["commanded"]
    if records.dtype == wire.state:
        joints = COLUMNS["measured"]
        for field, unit, parts in COLUMNS["robot"]:
            values = records[field].reshape(len(records), -1).T
            for part, column in zip(parts, values, strict=True):
                name = "_".join(filter(None, (field.removesuffix("_wxyz"), part)))
                yield _heading(name, unit), column.tolist()
    for number, joint in enumerate(JOINT_NAMES):
        for field, unit, scale in joints:
            column = records["motors"][field][:, number]
            counts = 0.0 if scale is None else float(wire.scales[scale])
            values = column / counts if counts else column
            yield _heading(f"{joint.removesuffix('_joint')}_{field}", unit), values.tolist()


def _heading(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _frames(file: Path) -> Iterator[RecordedFrame]:
    """Frames of a file that may be cut off or damaged, as after a loss of power."""
    gaps: list[Gap] = []
    try:
        yield from read_frames(file, gaps)
    except ValueError as error:
        say(str(error))
    if gaps:
        say(f"{file} {damage_of(file, gaps)}; what it holds is taken")


def _look_at(file: Path) -> Segment | None:
    """Contents of a file; None of an empty one."""
    summary = None
    if is_whole(file):
        with file.open("rb") as stream, suppress(McapError):  # then it is damaged
            summary = make_reader(stream).get_summary()
    if summary and (counts := summary.statistics) and counts.message_count:
        named = {
            summary.channels[key].topic: count
            for key, count in counts.channel_message_counts.items()
        }
        begin, end = counts.message_start_time, counts.message_end_time
        return Segment(file, 1e-9 * begin, 1e-9 * end, named)
    frames = [(frame.topic, frame.log_time_ns) for frame in _frames(file)]
    if not frames:
        return None
    times = [time_ns for _, time_ns in frames]
    return Segment(file, 1e-9 * min(times), 1e-9 * max(times), dict(Counter(t for t, _ in frames)))
