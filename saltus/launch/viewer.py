"""The view of a launch as a process beside it, whose end disturbs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from saltus.common.console import say
from saltus.common.interrupt import INTERRUPTED
from saltus.configuration.launch import LaunchConfig

GRACE_S = 2.0  # in which it may close its pages


@contextmanager
def viewer(config: LaunchConfig) -> Iterator[None]:
    """Show this process's launch in the browser; what the view says is said here."""
    command = [sys.executable, "-m", "saltus.cli.main", "view", "--process", str(os.getpid())]
    command += ["--address", config.view.address]
    if config.view.port is not None:
        command += ["--port", str(config.view.port)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    lines = threading.Thread(target=_say_lines, args=(process,), daemon=True)
    lines.start()
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        lines.join(GRACE_S)


def _say_lines(process: subprocess.Popen[str]) -> None:
    """Pass on what the view says, and one line where it ends before the launch does."""
    assert process.stderr is not None
    for line in process.stderr:
        say(line.rstrip())
    status = process.wait()
    if status not in (0, -15, INTERRUPTED):
        say(f"view: ended with status {status}; the launch goes on; `saltus view` opens it again")
