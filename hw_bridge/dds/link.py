"""A Go2 behind the interface of `hw_bridge.link`, and its emulator's end of the cable.

Requests to its motion switcher are JSON in CDR on ``rt/api/motion_switcher/request``. Numbers and
names of the calls: unitree_sdk2_python @ 37116c52, motion_switcher_api.py.
"""

import json
import logging
import struct
import time
from typing import Any, Final

from hw_bridge.dds.topics import (
    API,
    ENCAPSULATION,
    GO,
    Participant,
    Place,
    command_of_cdr,
    command_to_cdr,
    state_of_cdr,
    state_to_cdr,
)
from hw_bridge.link import Datagram
from hw_bridge.options import LinkOptions
from hw_bridge.wire.frame import crc, read_low_state, seal
from hw_bridge.wire.layout import WIRES

LOG = logging.getLogger(__name__)
COMMANDS, STATES = "rt/lowcmd", "rt/lowstate"
ANOTHER_S: Final = 1.0  # for which the topic of commands has to be silent before the first one
FOLDED: Final = -2.1  # angle of a knee, between standing and lying (robots/go2/robot.yaml) [rad]
_WIRE = WIRES["unitree-go2"]
_TICK: Final = slice(1100, 1104)
_CRC: Final = slice(-4, None)
assert _WIRE.state.fields is not None and _WIRE.state.fields["tick"][1] == _TICK.start


class DdsLink:
    """Commands and states of a Go2 over DDS; see `hw_bridge.link.Link`.

    Attributes:
        robot: address and port that states count as coming from.
        send_errors: commands that DDS did not take.
        mismatched: states whose checksum did not fit, or that had none.
    """

    def __init__(self, options: LinkOptions) -> None:
        """Join the robot's domain, and find out whether something else commands the robot.

        Raises:
            ValueError: cyclonedds or the interface is missing, or another program or the robot's
                own controller commands it.
        """
        self.robot = options.robot
        self.place = Place(options.domain, options.local[0])
        self.send_errors = self.mismatched = 0
        self._participant = Participant(self.place)
        others = self._participant.reader(COMMANDS, f"{GO}.LowCmd_")
        self._states = self._participant.reader(STATES, f"{GO}.LowState_")
        refusal = self._built_in(options.take_over == "release")
        if not refusal and others.wait(ANOTHER_S) and others.take():
            refusal = (
                f"another program writes {COMMANDS} in domain {options.domain}: only one may drive "
                "the robot at a time"
            )
        if refusal:
            self.close()
            raise ValueError(f"link: {refusal}")
        self._commands = self._participant.writer(COMMANDS, f"{GO}.LowCmd_")
        self._begin, self._is_sealed = time.monotonic(), False

    def _built_in(self, may_release: bool) -> str:
        """The reason why the robot's own controller blocks driving, or ""."""
        switcher = MotionSwitcher(self._participant)
        mode = switcher.mode()
        if mode is None:
            LOG.info("link: no motion switcher answers, so no built-in controller is looked for")
        if not mode:
            return ""
        if not may_release:
            return (
                f"the robot's own controller {mode!r} runs: lay the robot down, then switch it off "
                "in the app, or --set hardware.link.take_over=release (docs/hardware-go1-go2.md)"
            )
        if refusal := self._posture():
            return f"the robot's own controller {mode!r} is not released: {refusal}"
        LOG.info("link: releasing the robot's own controller %r", mode)
        return "" if switcher.release() else f"the robot's own controller {mode!r} does not end"

    def _posture(self) -> str:
        """The reason why a released robot might fall, or "": it lies on its feet."""
        states = self._states.take() if self._states.wait(ANOTHER_S) else []
        frames = [state_of_cdr(cdr) for cdr in states if len(cdr) == _WIRE.state.itemsize]
        if not frames:
            return "no state says whether it lies"
        knee = float(read_low_state(_WIRE, frames[-1]).q[2:12:3].max())
        if knee <= FOLDED:  # written so that NaN is refused
            return ""
        return f"a knee is at {knee:.1f} rad; lay it down first"

    def send(self, frame: bytes) -> bool:
        """Send a command; False, and counted, when DDS does not take it."""
        is_sent = self._commands.send(command_to_cdr(frame))
        self.send_errors += not is_sent
        return is_sent

    def wait(self, timeout_s: float) -> bool:
        """Wait until a state is there, at most for `timeout_s` [s]; whether there is one."""
        return self._states.wait(timeout_s)

    def receive(self) -> list[Datagram]:
        """Read the pending states, in order of arrival."""
        now = time.monotonic()
        return [Datagram(self._whole(state_of_cdr(cdr), now), self.robot, now)
                for cdr in self._states.take() if len(cdr) == _WIRE.state.itemsize]  # fmt: skip

    def _whole(self, frame: bytes, now: float) -> bytes:
        """The frame, sealed until a first one was: DDS has a checksum of its own.

        The vendor's covers padding, which a robot need not keep at zero, and simulators write
        none. A simulator's tick may stand still too: then it is the time of this machine.
        """
        if int.from_bytes(frame[_CRC], "little") == crc(frame):
            self._is_sealed = True
            return frame
        self.mismatched += 1
        if self._is_sealed:
            return frame
        if self.mismatched == 1:
            LOG.warning("link: the robot's checksum does not fit its states: not looked at")
        whole = bytearray(frame)
        if not any(frame[_TICK]):
            whole[_TICK] = round(1e3 * (now - self._begin)).to_bytes(4, "little")
        return seal(whole)

    def close(self) -> None:
        """Leave the domain; safe to call twice. Afterwards nothing is sent or received."""
        self._participant.close()


class DdsRobot:
    """The emulated Go2's end; see `hw_bridge.emulator.network.robot_end`.

    Attributes:
        address: that commands count as coming from.
        send_errors: states that DDS did not take.
    """

    def __init__(self, place: Place) -> None:
        """Join the domain.

        Raises:
            ValueError: cyclonedds or the interface is missing.
        """
        self.address, self.send_errors = (place.address, place.domain), 0
        self._participant = Participant(place)
        self._commands = self._participant.reader(COMMANDS, f"{GO}.LowCmd_")
        self._states = self._participant.writer(STATES, f"{GO}.LowState_")

    def receive(self) -> list[Datagram]:
        """Read the pending commands."""
        now = time.monotonic()
        return [Datagram(command_of_cdr(cdr), self.address, now) for cdr in self._commands.take()
                if len(cdr) == _WIRE.command.itemsize]  # fmt: skip

    def send(self, frame: bytes, to: tuple[str, int]) -> None:
        """Send one state, or count that it could not be sent."""
        self.send_errors += not self._states.send(state_to_cdr(frame))

    def close(self) -> None:
        """Leave the domain; safe to call twice."""
        self._participant.close()


CHECK_MODE, RELEASE_MODE = 1001, 1003
SERVICE: Final = "rt/api/motion_switcher"
PATIENCE_S: Final = 1.0  # for an answer; the first one waits for the robot to be found
RELEASE_S: Final = 8.0  # for which a release is asked for again
_REQUEST: Final = struct.Struct("<qqqi?3xI")  # id, api_id, lease, priority, no reply, string length
_RESPONSE: Final = struct.Struct("<qqiI")  # id, api_id, code, string length


class MotionSwitcher:
    """Client of the motion switcher: which built-in controller runs, and its release."""

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
            head = _REQUEST.pack(self._id, call, 0, 0, False, 1)  # and an empty text
            self._requests.send(ENCAPSULATION + head + bytes(8))
            self._responses.wait(min(end - now, 0.2))
            for cdr in self._responses.take():
                identity, data = response_of(cdr)
                if identity == (self._id, call):
                    return data
        return None


def response_of(cdr: bytes) -> tuple[tuple[int, int], dict[str, Any]]:
    """Identity (id, call) and data of a response; data that is no JSON object is empty."""
    try:
        number, call, _, length = _RESPONSE.unpack_from(cdr, 4)
        begin = 4 + _RESPONSE.size
        data = json.loads(cdr[begin : begin + length - 1] or b"{}")
    except (struct.error, ValueError):
        return (0, 0), {}
    return (number, call), data if isinstance(data, dict) else {}
