"""Client of a Go2's motion switcher: which built-in controller runs, and its release.

Requests are JSON in CDR on ``rt/api/motion_switcher/request``. Numbers and names of the calls:
unitree_sdk2_python @ 37116c52, motion_switcher_api.py.
"""

import json
import struct
import time
from typing import Any, Final

from hw_bridge.dds.topics import API, ENCAPSULATION, Participant

CHECK_MODE, RELEASE_MODE = 1001, 1003
SERVICE: Final = "rt/api/motion_switcher"
PATIENCE_S: Final = 1.0  # for an answer; the first one waits for the robot to be found
RELEASE_S: Final = 8.0  # for which a release is asked for again
_REQUEST: Final = struct.Struct("<qqqi?3xI")  # id, api_id, lease, priority, no reply, string length
_RESPONSE: Final = struct.Struct("<qqiI")  # id, api_id, code, string length


class MotionSwitcher:
    """Asks one call at a time."""

    def __init__(self, participant: Participant) -> None:
        """Nothing is asked yet."""
        self._requests = participant.writer(f"{SERVICE}/request", f"{API}.Request_")
        self._responses = participant.reader(f"{SERVICE}/response", f"{API}.Response_")
        self._id = time.monotonic_ns()

    def mode(self) -> str | None:
        """The built-in controller that runs, "" where none does; None: no answer."""
        answer = self._ask(CHECK_MODE)
        return None if answer is None else str(answer.get("name", ""))

    def release(self) -> bool:
        """Switch the built-in controller off; a robot that stands falls. Whether it is off."""
        end = time.monotonic() + RELEASE_S
        while time.monotonic() < end:
            self._ask(RELEASE_MODE)
            if self.mode() == "":
                return True
        return False

    def _ask(self, call: int) -> dict[str, Any] | None:
        """The answer's data; None without one."""
        self._id += 1
        end = time.monotonic() + PATIENCE_S
        while (now := time.monotonic()) < end:
            # A service that is not found yet misses a request, and answers one twice asked twice.
            self._requests.send(request_cdr(self._id, call))
            self._responses.wait(min(end - now, 0.2))
            for cdr in self._responses.take():
                identity, data = response_of(cdr)
                if identity == (self._id, call):
                    return data
        return None


def request_cdr(number: int, call: int, parameter: str = "") -> bytes:
    """A request as CDR."""
    text = parameter.encode() + b"\0"
    head = _REQUEST.pack(number, call, 0, 0, False, len(text))
    return ENCAPSULATION + head + text + bytes(-len(text) % 4) + bytes(4)


def response_of(cdr: bytes) -> tuple[tuple[int, int], dict[str, Any]]:
    """Identity (id, call) and data of a response; data that is no JSON object is empty."""
    try:
        number, call, _, length = _RESPONSE.unpack_from(cdr, 4)
        begin = 4 + _RESPONSE.size
        data = json.loads(cdr[begin : begin + length - 1] or b"{}")
    except (struct.error, ValueError):
        return (0, 0), {}
    return (number, call), data if isinstance(data, dict) else {}
