"""Asking an A1 for its state: the one frame that is ever sent from here carries no torque.

The robot answers to the address that speaks to it, so nothing can be read without sending. A
command without torque takes the motors from the robot's own controller: it has to lie or hang.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Final, NamedTuple

from hw_bridge.intake import BELIEVED, Intake
from hw_bridge.link import Datagram, Link
from hw_bridge.options import HardwareOptions
from hw_bridge.setpoints import no_torque
from hw_bridge.wire.frame import frame_fault
from hw_bridge.wire.layout import LOW_STATE_SIZE, command_header
from hw_bridge.wire.low_command import LowCommandEncoder
from hw_bridge.wire.low_state import LowState, decode_low_state
from runtime.histogram import LogHistogram
from saltus.a1.ticks import TickMeter

ASK_EVERY_S: Final = 0.002  # the vendor's examples' rate


class Reply(NamedTuple):
    """A whole frame from the robot's address, believed or not."""

    state: LowState
    arrival: float  # [s] monotonic


class Exchange:
    """Asks one robot and listens to it. Never raises.

    Attributes:
        intake: which frames are believed; `saltus launch` believes the same.
        ticks: measures the robot's tick over all whole frames.
        gaps_ms: between arrivals of whole frames [ms].
        questions: how often it has asked.
    """

    def __init__(self, options: HardwareOptions, link: Link) -> None:
        """Ask over `link`; nothing is sent yet."""
        self.intake = Intake(options.link.robot, options.tick_unit_s)
        self.ticks, self.gaps_ms = TickMeter(), LogHistogram(0.01)
        self.questions = 0
        self._robot, self._link = options.link.robot, link
        self._encoder = LowCommandEncoder()
        self._frame = self._encoder.encode(no_torque())
        self._arrivals: tuple[float, float] | None = None  # the first and the last [s]

    @property
    def refused(self) -> dict[str, int]:
        """Frames that are not believed, by reason."""
        return {name: n for name, n in self.intake.counts.items() if name not in BELIEVED}

    @property
    def frames(self) -> int:
        """Frames that are believed."""
        return sum(self.intake.counts[name] for name in BELIEVED)

    @property
    def rate_hz(self) -> float:
        """Of whole frames, from the first to the last [Hz]."""
        first, last = self._arrivals or (0.0, 0.0)
        return self.gaps_ms.count / (last - first) if last > first else 0.0

    def ask(self) -> None:
        """Send the frame without torque once, under the robot's own header once it is known."""
        self._link.send(self._frame)
        self.questions += 1

    def hear(self) -> list[Reply]:
        """Take in what has come; return the whole frames among it, whatever their ticks."""
        datagrams = self._link.receive()
        self.intake.take(datagrams)
        header = self.intake.header
        if header is not None and command_header(header) != self._encoder.header:
            self._encoder.header = command_header(header)
            self._frame = self._encoder.encode(no_torque())
        return [self._note(datagram) for datagram in datagrams if self._is_whole(datagram)]

    def _is_whole(self, datagram: Datagram) -> bool:
        return datagram.sender == self._robot and not frame_fault(datagram.data, LOW_STATE_SIZE)

    def _note(self, datagram: Datagram) -> Reply:
        state, arrival = decode_low_state(datagram.data), datagram.arrival
        self.ticks.take(state.tick, arrival)
        first, last = self._arrivals or (arrival, None)
        if last is not None:
            self.gaps_ms.add(1e3 * (arrival - last))
        self._arrivals = first, arrival
        return Reply(state, arrival)


def no_answer(options: HardwareOptions, refused: Mapping[str, int]) -> str:
    """One line for a person whose robot does not answer, with what to try."""
    address, port = options.link.robot
    if refused:
        return f"no good frame from {address} port {port}, only refused ones: {in_words(refused)}"
    if IPv4Address(address).is_loopback:
        remedy = "is an emulator running there? `saltus launch emulator` starts one"
    else:
        remedy = (
            "is the robot on for a minute, the cable in, and does `ping` reach it? A firewall may "
            f"drop UDP to port {options.link.local_port}"
        )
    return f"no answer from {address} port {port} in {options.connect_timeout_s:g} s: {remedy}"


def in_words(counts: Mapping[str, int]) -> str:
    """Counts by reason, the most frequent first; "none" of none."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count}" for name, count in ranked) or "none"
