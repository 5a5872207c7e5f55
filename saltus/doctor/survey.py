"""Asks a robot for its state: the one frame that is ever sent from here carries no torque.

The robot answers to the address that speaks to it, so nothing can be read without sending. A
command without torque takes the motors from the robot's own controller: it has to lie or hang.
"""

import time
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Any, Final, NamedTuple

import numpy as np

from hw_bridge.intake import BELIEVED, Intake, ticks_between
from hw_bridge.link import Datagram, Link
from hw_bridge.options import HardwareOptions
from hw_bridge.wire.frame import LowState, frame_fault, read_low_state
from hw_bridge.wire.layout import BRAKE, JOINTS, SERVO, Wire, command_header
from hw_bridge.wire.low_command import LowCommandEncoder, no_torque
from runtime.clock import RealTimeClock
from runtime.histogram import LogHistogram

LEAST_SPAN_S: Final = 0.2  # [s] of frames before their ticks say anything
UNITS_S: Final = (1e-3, 1e-6)  # [s] drivers read milliseconds, the vendor's header microseconds
LIKENESS: Final = 0.05  # by which a measurement may miss its unit
PATIENCE: Final = 50  # frames whose ticks do not go on, after which the measurement begins anew


class TickMeter:
    """Measures the tick's length: time passed over ticks passed, from the first frame on."""

    def __init__(self) -> None:
        """Nothing seen."""
        self._first: float | None = None  # arrival of the first frame [s]
        self._tick = self._ticks = self._behind = 0
        self._last = 0.0

    def take(self, tick: int, arrival: float) -> None:
        """See a frame's `tick` (u32) that arrived at `arrival` [s]."""
        ahead = ticks_between(self._tick, tick)
        if self._first is not None and ahead > 0:
            self._tick, self._last, self._behind = tick, arrival, 0
            self._ticks += ahead
            return
        self._behind += 1
        if self._first is None or self._behind > PATIENCE:  # the robot's clock may begin anew
            self._first = self._last = arrival
            self._tick, self._ticks, self._behind = tick, 0, 0

    @property
    def unit_s(self) -> float | None:
        """Length of the tick [s]; None before enough was seen, or while the tick stands still."""
        if self._first is None or not self._ticks or self._last - self._first < LEAST_SPAN_S:
            return None
        return (self._last - self._first) / self._ticks


def likely_unit(measured_s: float) -> float:
    """The unit that a measured length stands for [s]: 1 ms, 1 us, or to three digits itself."""
    for unit in UNITS_S:
        if abs(measured_s / unit - 1.0) < LIKENESS:
            return unit
    return float(f"{measured_s:.3g}")


def judge_unit(measured_s: float | None, configured_s: float) -> tuple[bool, str]:
    """Whether `hardware.tick_unit_s` fits what was measured [s], and the line that says so."""
    if measured_s is None:
        return False, "the tick stands still, or too few frames came to measure it"
    unit = likely_unit(measured_s)
    found = f"measured {1e6 * measured_s:.6g} us: {1e6 * unit:.6g} us"
    if abs(configured_s / unit - 1.0) < LIKENESS:
        return True, f"{found}, as hardware.tick_unit_s says"
    return False, (
        f"{found}, but hardware.tick_unit_s is {1e6 * configured_s:.6g} us, with which frames are "
        f"refused or dated wrongly: --set hardware.tick_unit_s={unit:g}"
    )


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

    def __init__(self, wire: Wire, options: HardwareOptions, link: Link) -> None:
        """Ask over `link`; nothing is sent yet."""
        self.intake, self._wire = Intake(wire, options.link.robot, options.tick_unit_s), wire
        self.ticks, self.gaps_ms = TickMeter(), LogHistogram(0.01)
        self.questions = 0
        self._robot, self._link = options.link.robot, link
        self._encoder = LowCommandEncoder(wire)
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
        """Rate of whole frames, from the first to the last [Hz]."""
        first, last = self._arrivals or (0.0, 0.0)
        return self.gaps_ms.count / (last - first) if last > first else 0.0

    def counts(self) -> dict[str, Any]:
        """Counts for JSON; null where nothing was seen."""
        header = self.intake.header
        return {
            "frames": self.frames, "refused": self.refused, "sent": self.questions,
            "header": None if header is None else header._asdict(),
            "tick_unit_s": self.ticks.unit_s,
        }  # fmt: skip

    def ask(self) -> None:
        """Send the frame without torque once, under the robot's own header once it is known."""
        self._link.send(self._frame)
        self.questions += 1

    def hear(self) -> list[Reply]:
        """Read all pending datagrams; return the whole frames among them, of any tick."""
        datagrams = self._link.receive()
        self.intake.take(datagrams)
        header = self.intake.header
        if header is not None and command_header(header) != self._encoder.header:
            self._encoder.header = command_header(header)
            self._frame = self._encoder.encode(no_torque())
        size = self._wire.state.itemsize
        return [self._note(each) for each in datagrams
                if each.sender == self._robot and not frame_fault(each.data, size)]  # fmt: skip

    def _note(self, datagram: Datagram) -> Reply:
        state, arrival = read_low_state(self._wire, datagram.data), datagram.arrival
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


FAST_S: Final = 2.0
SLOW_S: Final = 0.6
SLOWLY_S: Final = 0.01  # between questions; far from the silence that users report as too long
# One is well below the longest that is safe: a sleep ends late, and its real length counts.
SILENCES_S: Final = (0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.045, 0.05, 0.075, 0.1, 0.2, 0.5)
AFTER_SILENCE: Final = 10  # questions whose answers show whether the motors brake


class Phase(NamedTuple):
    """A time of asking at one rate.

    Attributes:
        questions: when they were asked (n) [s] monotonic.
        replies: whole frames from the robot, in order of arrival.
    """

    questions: list[float]
    replies: list[Reply]

    @property
    def questions_hz(self) -> float:
        """Questions a second."""
        return _rate(self.questions)

    @property
    def replies_hz(self) -> float:
        """Frames a second."""
        return _rate([one.arrival for one in self.replies])


class Silences(NamedTuple):
    """Effects of silences on motors that were in servo mode.

    Attributes:
        borne_s: the longest one after which none braked [s], as it really was.
        braked_s: the first one after which some did [s]; None if none did.
        were_tried: whether the motors were in servo mode at all.
    """

    borne_s: float
    braked_s: float | None
    were_tried: bool


class Survey(NamedTuple):
    """All that was found out.

    Attributes:
        fast, slow: the phases at 500 Hz and 100 Hz; without a frame if the robot did not answer.
        silences: how the robot took them.
        exchange: counts, header and tick over all phases.
        send_errors: frames that this machine could not send.
    """

    fast: Phase
    slow: Phase
    silences: Silences
    exchange: Exchange
    send_errors: int


def survey(wire: Wire, options: HardwareOptions, link: Link) -> Survey:
    """Ask the robot for some seconds; it has to lie or hang. Raises nothing for what it says."""
    exchange = Exchange(wire, options, link)
    fast, slow, silences = Phase([], []), Phase([], []), Silences(0.0, None, False)
    if _answers(exchange, options.connect_timeout_s):
        fast = _ask(exchange, ASK_EVERY_S, FAST_S)
        slow = _ask(exchange, SLOWLY_S, SLOW_S)
        silences = _fall_silent(exchange)
    return Survey(fast, slow, silences, exchange, getattr(link, "send_errors", 0))


def round_trips(phase: Phase) -> list[float]:
    """From each question to the first frame after it and before the next question [s]."""
    arrivals, trips, k = [one.arrival for one in phase.replies], [], 0
    for asked, following in zip(phase.questions, phase.questions[1:], strict=False):
        while k < len(arrivals) and arrivals[k] < asked:
            k += 1
        if k < len(arrivals) and arrivals[k] < following:
            trips.append(arrivals[k] - asked)
    return trips


def _rate(times: list[float]) -> float:
    return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0


def _answers(exchange: Exchange, patience_s: float) -> bool:
    """Whether a whole frame comes within so many seconds."""
    clock, end = RealTimeClock(ASK_EVERY_S), time.monotonic() + patience_s
    while time.monotonic() < end:
        clock.wait_tick()
        exchange.ask()
        if exchange.hear():
            return True
    return False


def _ask(exchange: Exchange, every_s: float, duration_s: float) -> Phase:
    """Ask every so many seconds for so long; frames count until the end of the last interval."""
    clock, phase = RealTimeClock(every_s), Phase([], [])
    end = time.monotonic() + duration_s
    while time.monotonic() < end:
        clock.wait_tick()
        heard = exchange.hear()
        if phase.questions:
            phase.replies.extend(heard)
        phase.questions.append(time.monotonic())
        exchange.ask()
    clock.wait_tick()
    phase.replies.extend(exchange.hear())
    return phase


def _fall_silent(exchange: Exchange) -> Silences:
    """Say nothing for longer and longer, and see whether motors in servo mode brake."""
    heard = _ask(exchange, ASK_EVERY_S, ASK_EVERY_S * AFTER_SILENCE).replies
    if not heard or (heard[-1].state.mode[:JOINTS] != SERVO).any():
        return Silences(0.0, None, False)
    borne_s = 0.0
    for silence_s in SILENCES_S:
        last = time.monotonic()
        exchange.ask()
        time.sleep(silence_s)
        meanwhile = exchange.hear()  # a stream flows on
        phase = _ask(exchange, ASK_EVERY_S, ASK_EVERY_S * AFTER_SILENCE)
        lasted_s = float(np.diff([last, *phase.questions]).max())  # or this machine's own pause
        if any(BRAKE in one.state.mode[:JOINTS] for one in (*meanwhile, *phase.replies)):
            return Silences(borne_s, lasted_s, True)
        borne_s = max(borne_s, lasted_s)
    return Silences(borne_s, None, True)
