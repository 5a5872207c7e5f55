"""The folder of a sweep: what it is of, a line for every finished trial, and traces."""

import fcntl
import os
from pathlib import Path
from typing import Any

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


class _Known(msgspec.Struct):
    """The types of ``sweep.json`` that a sweep which goes on reckons with."""

    trials: dict[str, list[int]]
    plugins: dict[str, str] = {}
    commands: list[str] = []
    fits: dict[str, dict[str, Fit]] = {}


class SweepFolder:
    """Keeps what is finished, so that a sweep that was cut off goes on where it stopped.

    One process works on a folder at a time. Planners may join later: each has its own trials.

    Attributes:
        path: the folder; it exists.
        rows: rows of the finished trials by planner and number.
        fits: what each planner does within each budget, as far as it is known.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        """Make the folder, or open one that holds part of the same sweep.

        Args:
            path: where.
            about: suite, suite_text, mode, code, settings, budgets, digests of plug-ins, and the
                numbers of the trials asked for, by planner; those of earlier requests stay.

        Raises:
            BadRequest: it holds another sweep or something else, is in use, or cannot be made.
        """
        self.path = path
        with refusing(f"--output {path}"):
            path.mkdir(parents=True, exist_ok=True)
            if not self._about.exists() and any(file.stat().st_size for file in path.iterdir()):
                raise BadRequest(
                    f"--output {path}: holds files of something else; give an empty folder, or one "
                    "of this sweep"
                )
            self._file = (path / "rows.jsonl").open("ab", buffering=0)
            self._lock()  # first, so that one which is refused has changed nothing
            self._write_about(about)
        self.rows = {(row["planner"], row["trial"]): row for row in self._whole_rows()}
        self.fits = self._read_about()[1].fits

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

    def keep_fits(self, fits: dict[str, dict[str, Fit]]) -> None:
        """Write what each planner does within each budget.

        Raises:
            BadRequest: the disk refuses.
        """
        about, _ = self._read_about()
        with refusing(f"--output {self.path}"):
            self._write(about | {"fits": msgspec.to_builtins(fits)})

    def close(self) -> None:
        """Let another process have the folder."""
        self._file.close()

    @property
    def _about(self) -> Path:
        return self.path / "sweep.json"

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadRequest(
                f"--output {self.path}: another `saltus perturb` is writing there"
            ) from error

    def _write_about(self, about: dict[str, Any]) -> None:
        if self._about.exists():
            before, known = self._read_about()
            for key, name in IDENTITY.items():
                if before.get(key, []) != about[key]:
                    raise BadRequest(
                        f"--output {self.path}: holds a sweep with {name}; give another folder"
                    )
            plugins = known.plugins
            for name, digest in plugins.items():
                if about["plugins"].get(name, digest) != digest:
                    raise BadRequest(f"--output {self.path}: holds a sweep with another version of "
                                     f"{name}; give another folder")  # fmt: skip
            about = about | {
                "trials": _union(known.trials, about["trials"]),
                "commands": [*dict.fromkeys((*known.commands, *about["commands"]))],
                "plugins": plugins | about["plugins"], "fits": before.get("fits", {}),
            }  # fmt: skip
        self._write(about)

    def _write(self, about: dict[str, Any]) -> None:
        write_file(self._about, msgspec.json.format(msgspec.json.encode(about)) + b"\n")

    def _read_about(self) -> tuple[dict[str, Any], _Known]:
        """All of ``sweep.json``, and what a sweep that goes on reckons with."""
        try:
            data = self._about.read_bytes()
            known = msgspec.json.decode(data, type=_Known)
            return msgspec.json.decode(data, type=dict[str, Any]), known
        except ValueError as error:  # of JSON, of a type, of UTF-8
            raise BadRequest(f"--output {self.path}: sweep.json is damaged ({error}); give "
                             "another folder") from error  # fmt: skip

    def _whole_rows(self) -> list[Row]:
        """The rows in the file; a last line that was cut off is taken away."""
        lines = (self.path / "rows.jsonl").read_bytes().splitlines(keepends=True)
        rows = [_row(line) for line in lines]
        if rows and rows[-1] is None:
            os.ftruncate(self._file.fileno(), sum(map(len, lines[:-1])))
            rows.pop()
        if None in rows:  # that was no sweep cut off, and the rows after it took their time too
            raise BadRequest(
                f"--output {self.path}: line {rows.index(None) + 1} of rows.jsonl is damaged; "
                "delete the line, and its trial is run again"
            )
        return [row for row in rows if row is not None]


def _union(one: dict[str, list[int]], other: dict[str, list[int]]) -> dict[str, list[int]]:
    """Numbers of trials by planner."""
    planners = dict.fromkeys((*one, *other))
    return {name: sorted({*one.get(name, ()), *other.get(name, ())}) for name in planners}


def _row(line: bytes) -> Row | None:
    """The row of a whole line, None for anything else."""
    try:
        row = msgspec.json.decode(line, type=Row) if line.endswith(b"\n") else {}
    except ValueError:  # of JSON, of UTF-8
        return None
    return row if {"planner", "trial"} <= row.keys() else None
