"""Crocoddyl as the peer of `saltus bench planner`: its environment, and its process.

The process answers one line of JSON for each line of JSON.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saltus.common.console import say
from saltus.common.errors import BadRequest

REQUIREMENTS = Path(__file__).with_name("peers.txt")
SCRIPT = Path(__file__).with_name("crocoddyl_peer.py")
TIMEOUT_S = 120.0  # longest wait for one answer [s]


def peer_folder() -> Path:
    """Where `make peers` puts it: in the checkout, or in the working folder of an installation."""
    checkout = Path(__file__).parents[2]
    return (checkout if (checkout / "Makefile").is_file() else Path.cwd()) / ".venv-peers"


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
        try:
            subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            output = getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error)
            raise BadRequest(
                f"bench planner needs Crocoddyl in {folder}, which could not be made: "
                f"{output.strip().splitlines()[-1]}; "
                "run `make peers` where packages can be installed"
            ) from error
    stamp.touch()
    return python


class PeerProcess:
    """Starts the peer, waits until it is ready and asks it; a context manager.

    Attributes:
        ready: the peer's first line, such as its versions.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Start `command`.

        Raises:
            BadRequest: it does not start, or not in time.
        """
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        try:
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, env=environment,
            )  # fmt: skip
        except OSError as error:
            raise BadRequest(f"the peer does not start: {error}; run `make peers`") from error
        self.ready = self._answer()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and return the answer.

        Raises:
            BadRequest: the peer ended or did not answer in time.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says why
        return self._answer()

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """End the peer, which ends by itself with its standard input."""
        try:
            self._process.communicate(timeout=5.0)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.communicate()

    def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        readable, _, _ = select.select([stdout], [], [], TIMEOUT_S)
        line = stdout.readline() if readable else ""
        try:
            return json.loads(line)
        except ValueError:
            self._process.kill()
            _, errors = self._process.communicate()
            said = (errors.strip() or line.strip() or "nothing").splitlines()[-1]
            raise BadRequest(
                f"the peer gave no answer but: {said}; remake its environment with `make peers`"
            ) from None
