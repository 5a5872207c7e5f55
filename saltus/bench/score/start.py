"""Start: processor time of commands, of the first compilation, and what an installation takes."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from saltus.bench.score.figures import Figure, pace
from saltus.bench.score.record import ROOT
from saltus.common.console import say
from saltus.common.errors import BadRequest

SALTUS = (sys.executable, "-m", "saltus.cli.main")
STAND = (*SALTUS, "launch", "stand", "--duration", "0.1", "--json")


def measure() -> Iterator[Figure]:
    """All figures of the group."""
    for name, command, repeats in (
        ("saltus --help", (*SALTUS, "--help"), 5),
        ("import of the library", (sys.executable, "-c", "import saltation.simulation"), 5),
        ("warm launch of 0.1 s", STAND, 3),
    ):
        say(f"start: {name}")
        _processor_s(command, {})  # warms the caches
        before = pace()
        least = min(_processor_s(command, {}) for _ in range(repeats))
        seconds = least / (0.5 * (before + pace()))
        # The times vary by more than a module takes.
        yield Figure(name, "s", seconds, "shown")
        yield Figure(f"{name}: modules", "", _modules(command), tolerance=0.02)
    say("start: first compilation")
    with tempfile.TemporaryDirectory() as folder:
        before = pace()
        seconds = _processor_s(STAND, {"NUMBA_CACHE_DIR": folder})
        seconds /= 0.5 * (before + pace())
        made = [file.stat().st_size for file in Path(folder).rglob("*.nbc")]
    # Beside other load the compiler takes up to twice the time. What it makes does not vary.
    yield Figure("first compilation", "s", seconds, "shown")
    yield Figure("first compilation: functions", "", len(made), tolerance=0.02)
    yield Figure("first compilation: machine code", "MB", 1e-6 * sum(made), tolerance=0.05)
    megabytes, packages = _installation()
    yield Figure("size of an installation", "MB", megabytes, tolerance=0.05)
    yield Figure("packages of an installation", "", packages, margin=0.5)


def _processor_s(command: Sequence[str], environment: dict[str, str]) -> float:
    """Processor time of a command with all its processes [s].

    Raises:
        BadRequest: it fails.
    """
    begin = _children_s()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        )  # fmt: skip
    if done.returncode != 0:
        raise BadRequest(f"score: {' '.join(command)} failed: {done.stderr.strip()[-300:]}")
    return _children_s() - begin


def _modules(command: Sequence[str]) -> int:
    """Number of modules that a Python command and the processes of its launch import."""
    told = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONPROFILEIMPORTTIME": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=told)
        logs = [log.read_text() for log in Path(folder).glob("runs/*/logs/*.log")]
    # The first line of each names the columns.
    return sum(text.count("import time:") - 1 for text in (done.stderr, *logs))


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _installation() -> tuple[float, int]:
    """Size [MB] and number of the packages that Saltus needs, without extras."""
    found: dict[str, int] = {}
    todo = ["saltus"]
    while todo:
        name, _, extra = todo.pop().partition("[")
        name = re.sub(r"[-_.]+", "-", name).lower()
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # for another system or Python
        files = package.files or []
        found[name] = sum(file.size or 0 for file in files)
        needs = [each for each in package.requires or []
                 if "extra ==" not in each or (extra and extra in each)]  # fmt: skip
        todo += [match[0] for each in needs if (match := re.match(r"[\w.-]+(\[\w+)?", each))]
    return sum(found.values()) / 1e6, len(found)
