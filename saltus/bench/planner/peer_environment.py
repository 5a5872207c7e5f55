"""The environment in which the peers of benchmarks live, apart from Saltus's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from saltus.common.console import say
from saltus.common.errors import BadRequest

REQUIREMENTS = Path(__file__).with_name("peers.txt")
NAME = ".venv-peers"


def peer_folder() -> Path:
    """Where `make peers` puts it: in the checkout, or in the working folder of an installation."""
    checkout = Path(__file__).parents[3]
    return (checkout if (checkout / "Makefile").is_file() else Path.cwd()) / NAME


def peer_python(folder: Path) -> Path:
    """The environment's interpreter; the environment is made when it is missing.

    Raises:
        BadRequest: it cannot be made.
    """
    python, stamp = folder / "bin" / "python", folder / "installed"
    if python.exists() and stamp.exists():
        return python
    say(f"installing the peer, Crocoddyl, into {folder} (a minute, once)")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [*install, "--requirement", str(REQUIREMENTS)],
        [str(python), "-c", "import crocoddyl, pinocchio"],
    ):
        _run(command, folder)
    stamp.touch()
    return python


def _run(command: list[str], folder: Path) -> None:
    """Run one step of the installation."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise _cannot(folder, str(error)) from error
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip().splitlines()
        raise _cannot(folder, output[-1] if output else f"exit status {done.returncode}")


def _cannot(folder: Path, reason: str) -> BadRequest:
    return BadRequest(
        f"bench planner needs Crocoddyl in {folder}, which could not be made: {reason}; "
        "run `make peers` where packages can be installed"
    )
