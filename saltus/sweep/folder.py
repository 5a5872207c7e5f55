"""The folder of a sweep: what it is of, a line for every finished trial, and traces."""

import fcntl
import os
from pathlib import Path

import msgspec

from saltus.common.errors import BadRequest, refusing
from saltus.common.files import write_file
from saltus.launch.trace import save_trace, trace_path
from saltus.sweep.budget import Fit
from saltus.sweep.running import Finished
from saltus.sweep.trials import Row

# What two runs must agree on to make one sweep, and what a folder has otherwise.
IDENTITY = {
    "suite_text": "another suite", "mode": "another mode", "settings": "other settings (--set)",
    "code": "another version of the code", "budgets_ms": "other budgets (--budget)",
}  # fmt: skip


class SweepDescription(msgspec.Struct):
    """Request of a sweep: ``sweep.json``.

    Attributes:
        suite, suite_text: the suite's name and text.
        mode, settings, budgets_ms: as in `saltus.sweep.sweep.SweepRequest`.
        code: version of the sources that decide its rows.
        trials: numbers of the trials asked for, by planner.
        commands: which were typed, but for the folder.
        plugins: digests of the files of planners and estimators, by name.
        fits: what each planner does within each budget, as far as it is known.
    """

    suite: str = ""
    suite_text: str = ""
    mode: str = ""
    code: str = ""
    settings: list[str] = []
    budgets_ms: list[float] = []
    trials: dict[str, list[int]] = {}
    commands: list[str] = []
    plugins: dict[str, str] = {}
    fits: dict[str, dict[str, Fit]] = {}


class SweepFolder:
    """Keeps what is finished, so that a sweep that was cut off goes on where it stopped.

    One process works on a folder at a time. Planners may join later: each has its own trials.

    Attributes:
        path: the folder; it exists.
        rows: rows of the finished trials by planner and number.
        about: the sweep, earlier requests included.
    """

    def __init__(self, path: Path, about: SweepDescription) -> None:
        """Make the folder, or open one that holds part of the same sweep.

        Raises:
            BadRequest: it holds another sweep or something else, is in use, or cannot be made.
        """
        self.path, self.about = path, about
        with refusing(f"--output {path}"):
            path.mkdir(parents=True, exist_ok=True)
            goes_on = (path / "sweep.json").exists()
            if not goes_on and any(file.stat().st_size for file in path.iterdir()):
                raise BadRequest(
                    f"--output {path}: holds files of something else; give an empty folder, or one "
                    "of this sweep"
                )
            self._file = (path / "rows.jsonl").open("ab", buffering=0)
            self._lock()  # first, so that one which is refused has changed nothing
            if goes_on:
                self._go_on()
            self._write()
        self.rows = {(row["planner"], row["trial"]): row for row in self._whole_rows()}

    def add(self, finished: Finished) -> None:
        """Keep a finished trial: its trace, then its row.

        Raises:
            OSError: there is no room for both; the rows before are as they were.
        """
        row = finished.row
        if finished.trace is not None:
            save_trace(finished.trace, trace_path(self.path, row["planner"], row["trial"]))
        self._append(msgspec.json.encode(row) + b"\n")
        self.rows[row["planner"], row["trial"]] = row

    def _append(self, line: bytes) -> None:
        end = os.fstat(self._file.fileno()).st_size
        try:
            while line:  # a disk that fills up takes a part first, and then says so
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError:
            os.ftruncate(self._file.fileno(), end)
            raise

    def keep_fits(self) -> None:
        """Write what each planner does within each budget.

        Raises:
            BadRequest: the disk refuses.
        """
        with refusing(f"--output {self.path}"):
            self._write()

    def close(self) -> None:
        """Let another process have the folder."""
        self._file.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadRequest(
                f"--output {self.path}: another `saltus perturb` is writing there"
            ) from error

    def _go_on(self) -> None:
        """Add the sweep that the folder holds, which must be the same."""
        about, remedy = self.about, "give another folder"
        with refusing(f"--output {self.path}: sweep.json is damaged", ValueError, remedy=remedy):
            before = read_description(self.path)
        others = [name for key, name in IDENTITY.items()
                  if getattr(before, key) != getattr(about, key)]  # fmt: skip
        others += [f"another version of {name}" for name, digest in before.plugins.items()
                   if about.plugins.get(name, digest) != digest]  # fmt: skip
        if others:
            raise BadRequest(f"--output {self.path}: holds a sweep with {others[0]}; {remedy}")
        for name, numbers in before.trials.items():
            about.trials[name] = sorted({*numbers, *about.trials.get(name, ())})
        about.commands = [*dict.fromkeys((*before.commands, *about.commands))]
        about.plugins = before.plugins | about.plugins
        about.fits = before.fits

    def _write(self) -> None:
        text = msgspec.json.format(msgspec.json.encode(self.about))
        write_file(self.path / "sweep.json", text + b"\n")

    def _whole_rows(self) -> list[Row]:
        """The rows in the file; a last line that was cut off is taken away."""
        rows = read_rows(self.path)
        if rows and rows[-1] is None:
            lines = (self.path / "rows.jsonl").read_bytes().splitlines(keepends=True)
            os.ftruncate(self._file.fileno(), sum(map(len, lines[:-1])))
            rows.pop()
        if None in rows:  # that was no sweep cut off, and the rows after it took their time too
            raise BadRequest(
                f"--output {self.path}: line {rows.index(None) + 1} of rows.jsonl is damaged; "
                "delete the line, and its trial is run again"
            )
        return [row for row in rows if row is not None]


def read_description(folder: Path) -> SweepDescription:
    """The description of the sweep in a folder.

    Raises:
        OSError: there is none.
        ValueError: it is damaged.
    """
    return msgspec.json.decode((folder / "sweep.json").read_bytes(), type=SweepDescription)


def read_rows(folder: Path) -> list[Row | None]:
    """The rows of a sweep in the order of its lines; None for a damaged line, or half of one.

    Raises:
        OSError: there are none.
    """
    return [_row(line) for line in (folder / "rows.jsonl").read_bytes().splitlines(keepends=True)]


def _row(line: bytes) -> Row | None:
    try:
        row = msgspec.json.decode(line, type=Row) if line.endswith(b"\n") else {}
    except ValueError:  # of JSON, of UTF-8
        return None
    return row if {"planner", "trial", "fell"} <= row.keys() else None
