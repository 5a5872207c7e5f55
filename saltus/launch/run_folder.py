"""The folder of a run: its configuration, logs, reports, recording and summary."""

import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from saltus.common.console import say
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import new_run_folder, read_json, write_file


class RunFolder:
    """Names of what a run leaves behind.

    Attributes:
        path: the folder; it exists.
    """

    def __init__(self, path: Path) -> None:
        """Make the folder, which `--record` names.

        Raises:
            BadRequest: it holds a run already, or cannot be made.
        """
        self.path = path
        if self.recording.exists():
            raise BadRequest(f"--record {path}: it holds a run already; name another folder")
        with refusing(f"--record {path}"):
            (path / "reports").mkdir(parents=True, exist_ok=True)

    @property
    def configuration(self) -> Path:
        """The launch file of the run, every default written out."""
        return self.path / "launch.yaml"

    @property
    def recording(self) -> Path:
        """Every topic, in MCAP."""
        return self.path / "run.mcap"

    def log(self, process: str) -> Path:
        """Path of the log of a process: its standard output and error."""
        return self.path / "logs" / f"{process}.log"

    def report(self, process: str) -> Path:
        """The counters of a process, written when it stops."""
        return self.path / "reports" / f"{process}.json"

    def read_report(self, process: str) -> dict[str, Any]:
        """The counters of a process; empty when it died before it wrote them."""
        return read_json(self.report(process)) or {}

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write ``summary.json``; a disk that has no room for it costs a line, not the launch."""
        text = msgspec.json.format(msgspec.json.encode(summary))
        try:
            write_file(self.path / "summary.json", text + b"\n")
        except OSError as error:
            say(f"summary.json could not be written: {error.strerror or error}")


def folder_for_logs(name: str) -> Path:
    """A new folder for a launch without a recording: below ``runs/``, or a temporary one."""
    path = new_run_folder(name)
    try:
        path.mkdir(parents=True)
    except OSError as error:
        path = Path(tempfile.mkdtemp(prefix=f"saltus-{name}-"))
        say(f"runs/ cannot be written ({error.strerror}): logs are in {path}")
    return path


def preparing() -> AbstractContextManager[None]:
    """Turn refusals of the system before the robot moves, such as a full disk, into one line."""
    return refusing(
        "the launch cannot be prepared", remedy=f"it writes to runs/ and {tempfile.gettempdir()}"
    )
