"""``--read-only``: what the A1 says, without a torque."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Final

from rich.live import Live

from hw_bridge.link import Link
from hw_bridge.options import HardwareOptions
from hw_bridge.wire.layout import Wire, wire_of
from runtime.clock import RealTimeClock
from runtime.signals import StopFlag
from saltus.common.console import print_json, print_lines, say, stderr
from saltus.configuration.launch import LaunchConfig
from saltus.hardware.exchange import ASK_EVERY_S, Exchange, no_answer
from saltus.hardware.panel import Glance, as_lines, as_summary, one_line, panel
from saltus.launch.black_box_link import black_box_link
from saltus.launch.hardware import LIMP, hardware_options

LIVE_EVERY_S: Final = 0.2  # on a terminal
LINE_EVERY_S: Final = 1.0  # elsewhere
POLL_S: Final = 0.02
SWITCH_S: Final = 0.0005  # after which drawing gives way to asking
RATE_OVER_S: Final = 1.1  # longer than from one line to the next
SILENT_S: Final = 1.0  # age of the last frame at which the robot has fallen silent


class Watch:
    """Asks the robot at 500 Hz beside the thread that shows what it says."""

    def __init__(self, wire: Wire, options: HardwareOptions, link: Link) -> None:
        """Ready to ask; nothing is sent yet."""
        self._options, self._exchange, self._lock = options, Exchange(wire, options, link), Lock()
        self._begin = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque()  # time [s], frames

    def ask(self, over: Callable[[], bool]) -> None:
        """Ask and listen until it is over."""
        clock = RealTimeClock(ASK_EVERY_S)
        while not over():
            clock.wait_tick()
            with self._lock:
                self._exchange.ask()
                self._exchange.hear()

    def glance(self) -> Glance:
        """What is known now."""
        with self._lock:
            exchange, now = self._exchange, time.monotonic()
            rate_now_hz = self._rate_now(now, exchange.frames)
            return Glance(
                robot=self._options.link.robot, seconds=now - self._begin,
                questions=exchange.questions, frames=exchange.frames, refused=exchange.refused,
                rate_hz=exchange.rate_hz, rate_now_hz=rate_now_hz,
                gap_ms=exchange.gaps_ms.quantiles(),
                header=exchange.intake.header, tick_unit_s=exchange.ticks.unit_s,
                tick_unit_configured_s=self._options.tick_unit_s,
                sample=exchange.intake.last, now=now,
            )  # fmt: skip

    def _rate_now(self, now: float, frames: int) -> float:
        """Frames a second since the oldest glance that is younger than RATE_OVER_S [Hz]."""
        while self._recent and now - self._recent[0][0] > RATE_OVER_S:
            self._recent.popleft()
        self._recent.append((now, frames))
        then, before = self._recent[0]
        return (frames - before) / (now - then) if now > then else 0.0


def view(config: LaunchConfig, json: bool) -> int:
    """Show what the A1 says until Ctrl-C or the end of the duration; no torque is ever sent.

    Returns:
        The exit status: 1 when no good frame came, or the robot fell silent before the end.

    Raises:
        BadRequest: the address or port cannot be had.
    """
    options = hardware_options(config)
    with black_box_link(config) as link:
        say(LIMP.format(*options.link.robot))
        watch = Watch(wire_of(config.robot_model), options, link)
        with StopFlag() as stop, _asking(watch) as asking:
            _follow(watch, options, config.duration, lambda: stop() or asking.done())
    last = watch.glance()
    if last.sample is None:
        if not stop():
            say(no_answer(options, last.refused))
        return 1
    if json:
        print_json(as_summary(last))
    else:
        print_lines(as_lines(last))
    if (age := last.age_s) > SILENT_S:
        say(f"no state came from the robot in the last {age:.1f} s")
        return 1
    return 0


def _follow(
    watch: Watch, options: HardwareOptions, duration: float, stop: Callable[[], bool]
) -> None:
    """Show the robot for `duration` [s] from its first good frame on; not at all without one."""
    deadline = time.monotonic() + options.connect_timeout_s
    while watch.glance().sample is None:
        if stop() or time.monotonic() > deadline:
            return
        time.sleep(POLL_S)
    end = time.monotonic() + duration
    with _shown() as (show, every_s):
        while not stop() and (left := end - time.monotonic()) > 0.0:
            show(watch.glance())
            _rest(min(every_s, left), stop)


@contextmanager
def _asking(watch: Watch) -> Iterator[Future[None]]:
    """Have the robot asked in a thread meanwhile; its error, if any, is raised at the end."""
    over, before = [False], sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(watch.ask, lambda: over[0])
            try:
                yield future
            finally:
                over[0] = True
            future.result()
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _shown() -> Iterator[tuple[Callable[[Glance], None], float]]:
    """How to show a glance on standard error, and how often [s]."""
    if not stderr.is_terminal:
        yield (lambda glance: say(one_line(glance))), LINE_EVERY_S
        return
    with Live(console=stderr, auto_refresh=False, transient=True) as live:
        yield (lambda glance: live.update(panel(glance), refresh=True)), LIVE_EVERY_S


def _rest(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not stop() and (left := end - time.monotonic()) > 0.0:
        time.sleep(min(POLL_S, left))
