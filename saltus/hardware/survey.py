"""Asks a robot for some seconds, without torque, to find out how it talks.

Three phases: asked at 500 Hz; asked more slowly, so that an answer to each question and a stream
that flows by itself differ; and after ever longer silences, until the robot brakes its motors.
"""

import time
from typing import Final, NamedTuple

import numpy as np

from hw_bridge.link import Link
from hw_bridge.options import HardwareOptions
from hw_bridge.wire.layout import BRAKE, JOINTS, SERVO, Wire
from runtime.clock import RealTimeClock
from saltus.hardware.exchange import ASK_EVERY_S, Exchange, Reply

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
    """What silences did to motors that were in servo mode.

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
    if not _all_serve(_ask(exchange, ASK_EVERY_S, ASK_EVERY_S * AFTER_SILENCE).replies):
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


def _all_serve(heard: list[Reply]) -> bool:
    return bool(heard) and bool((heard[-1].state.mode[:JOINTS] == SERVO).all())
