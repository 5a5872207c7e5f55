"""The messages of a recorded run, for all that shows or measures one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runtime.messages import DecodeError
from runtime.recording import is_whole, read_recording
from saltus.console import say
from saltus.errors import BadRequest


def messages_of_run(folder: Path) -> Iterator[tuple[str, Any]]:
    """(topic name, message) of a run folder, in recorded order.

    A recording that was cut off gives what it holds, and says so in one line.

    Raises:
        BadRequest: the folder holds no recording, or one that another version made.
    """
    file = folder / "run.mcap"
    try:
        whole = is_whole(file)
        yield from read_recording(file)
    except OSError as error:
        raise BadRequest(f"{folder}: holds no recorded run: {error.strerror or error}") from error
    except (DecodeError, ValueError) as error:
        raise BadRequest(f"{folder}: recorded by another version? {error}") from error
    if not whole:
        say(f"{file} was cut off; what it holds is taken")
