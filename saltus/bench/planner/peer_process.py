"""A peer in a process of its own, which answers one line of JSON for each line of JSON."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Sequence
from typing import Any

from saltus.common.errors import BadRequest

TIMEOUT_S = 120.0  # longest wait for one answer [s]


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

    def close(self) -> None:
        """End the peer, which ends by itself with its standard input."""
        try:
            self._process.communicate(timeout=5.0)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        readable, _, _ = select.select([stdout], [], [], TIMEOUT_S)
        line = stdout.readline() if readable else ""
        try:
            return json.loads(line)
        except ValueError:
            raise BadRequest(self._failure(line)) from None

    def _failure(self, line: str) -> str:
        """One line on why there was no answer."""
        self._process.kill()
        _, errors = self._process.communicate()
        output = (errors.strip() or line.strip() or "nothing").splitlines()[-1]
        return f"the peer gave no answer but: {output}; remake its environment with `make peers`"
