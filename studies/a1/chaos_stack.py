"""The launch of one trial: ``python -m studies.a1.chaos_stack FILE FOLDER STATE``.

It is a process of its own, so that it can come to harm as a whole. It prints two lines of JSON: the
ids of its processes by name once the robot is in STATE, and how the launch ended.
"""

import os
import sys
from pathlib import Path

import msgspec

from saltus.configuration.launch import make_config
from saltus.configuration.options import read_mapping
from saltus.launch.launcher import launch
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor


class Announcement:
    """Prints the ids of the processes, once."""

    def __init__(self, state: str) -> None:
        """Wait for the robot to be in `state`."""
        self._state, self._is_due = state, True

    def __call__(self, supervisor: Supervisor, listener: Listener) -> None:
        """Look; `launch` calls it as it polls."""
        status = listener.status
        if self._is_due and status is not None and status.state == self._state:
            self._is_due = False
            pids = {child.name: child.pid for child in supervisor.children}
            print_line({"pids": pids | {"launcher": os.getpid()}})


def print_line(record: object) -> None:
    """Print one line of JSON at once."""
    print(msgspec.json.encode(record).decode(), flush=True)


def main(arguments: list[str]) -> int:
    """Run the launch."""
    file, folder, state = arguments
    config = make_config(read_mapping(Path(file)), file)
    outcome = launch(config, Path(folder), Announcement(state))
    words = [outcome.summary["robot"].get("cause"), *(each.words for each in outcome.problems)]
    print_line({"ok": outcome.ok, "why": next(filter(None, words), "")})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
