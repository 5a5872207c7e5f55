"""Start: what commands import, and what the first compilation makes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from saltus.bench.score.figures import Figure
from saltus.bench.score.record import ROOT
from saltus.common.console import say
from saltus.common.errors import BadRequest

SALTUS = (sys.executable, "-m", "saltus.cli.main")
STAND = (*SALTUS, "launch", "stand", "--duration", "0.1", "--json")


def measure() -> Iterator[Figure]:
    """All figures of the group."""
    for name, command in (
        ("saltus --help", (*SALTUS, "--help")),
        ("import of the library", (sys.executable, "-c", "import saltation.simulation")),
        ("warm launch of 0.1 s", STAND),
    ):
        say(f"start: {name}")
        yield Figure(f"{name}: modules", "", _modules(command), tolerance=0.02)
    say("start: first compilation")
    with tempfile.TemporaryDirectory() as folder:
        _run(STAND, NUMBA_CACHE_DIR=folder)
        made = [file.stat().st_size for file in Path(folder).rglob("*.nbc")]
    yield Figure("first compilation: functions", "", len(made), tolerance=0.02)
    yield Figure("first compilation: machine code", "MB", 1e-6 * sum(made), tolerance=0.05)


def _run(command: Sequence[str], **environment: str) -> list[str]:
    """Run a command; what it and the processes of its launch wrote on standard error.

    Raises:
        BadRequest: it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        )  # fmt: skip
        if done.returncode != 0:
            raise BadRequest(f"score: {' '.join(command)} failed: {done.stderr.strip()[-300:]}")
        return [done.stderr, *(log.read_text() for log in Path(folder).glob("runs/*/logs/*.log"))]


def _modules(command: Sequence[str]) -> int:
    """Number of modules that a Python command and the processes of its launch import."""
    logs = _run(command, PYTHONPROFILEIMPORTTIME="1")
    # The first line of each names the columns.
    return sum(text.count("import time:") - 1 for text in logs)
