"""`saltus` in a process of its own, and waiting for what happens."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(*arguments, environment=None, **options):
    """Start a command; `options` are those of Popen."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "saltus.cli.main", *arguments], text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {}), **pipes | options,
    )  # fmt: skip


def python(*arguments, status=0, **options):
    """The end of a Python process of its own, and what it said."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True,
        **{"cwd": ROOT, "timeout": 600.0} | options,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done


def wait_until(condition, what="it", patience_s=300.0):
    """Until it holds; the test fails after a while."""
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)
