"""What is known of a robot that is only read: a table on a terminal, lines elsewhere, JSON."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
from rich import box
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hw_bridge.intake import Sample
from hw_bridge.link import Link
from hw_bridge.options import HardwareOptions
from hw_bridge.safety.watches import JOINT_LABELS
from hw_bridge.wire.layout import BRAKE, JOINTS, OVERHEATED, SERVO, Header, Wire, wire_of
from hw_bridge.wire.low_state import LowState
from hw_bridge.wire.remote import decode_remote
from runtime.clock import RealTimeClock
from runtime.histogram import Quantiles
from runtime.signals import StopFlag
from saltus.common.console import Fact, print_facts, print_json, say, stderr
from saltus.configuration.launch import LaunchConfig
from saltus.doctor.survey import ASK_EVERY_S, Exchange, in_words, judge_unit, no_answer
from saltus.launch.hardware import LIMP, black_box_link, hardware_options

MODES = {SERVO: "servo", BRAKE: "brake", OVERHEATED: "overheated"}


class Glance(NamedTuple):
    """Counts since the begin, and the newest believed frame.

    Attributes:
        robot: its address and port.
        seconds: since the begin [s].
        questions: frames without torque.
        frames: believed.
        refused: not believed, by reason.
        rate_hz: of whole frames, from the first to the last [Hz].
        rate_now_hz: of believed frames, over the last second or so [Hz].
        gap_ms: between whole frames [ms].
        header: of the robot; None before the first believed frame.
        tick_unit_s: as measured [s]; None before enough was seen.
        tick_unit_configured_s: as `hardware.tick_unit_s` says [s].
        sample: the newest believed frame; None before the first.
        now: [s] monotonic.
    """

    robot: tuple[str, int]
    seconds: float
    questions: int
    frames: int
    refused: dict[str, int]
    rate_hz: float
    rate_now_hz: float
    gap_ms: Quantiles
    header: Header | None
    tick_unit_s: float | None
    tick_unit_configured_s: float
    sample: Sample | None
    now: float

    @property
    def age_s(self) -> float:
        """Since the newest believed frame arrived [s]."""
        return math.inf if self.sample is None else self.now - self.sample.arrival


def mode_name(mode: int) -> str:
    """What a motor's mode is called; its number where it has no name."""
    return MODES.get(mode, f"0x{mode:02X}")


def head_of(remote: bytes) -> str:
    """The two head bytes of the remote's forty in hexadecimal: their meaning is not published."""
    return remote[:2].hex(" ")


def as_summary(glance: Glance) -> dict[str, Any]:
    """What ``--read-only --json`` prints."""
    return {
        "frames": glance.frames, "refused": glance.refused, "sent": glance.questions,
        "seconds": glance.seconds, "rate_hz": glance.rate_hz, "gap_ms": asdict(glance.gap_ms),
        "header": None if glance.header is None else glance.header._asdict(),
        "tick_unit_s": glance.tick_unit_s,
        "tick_unit_configured_s": glance.tick_unit_configured_s,
        "last": None if glance.sample is None else _last(glance.sample, glance.age_s),
    }  # fmt: skip


def _last(sample: Sample, age_s: float) -> dict[str, Any]:
    state = sample.state
    remote = decode_remote(state.remote)
    return {
        "age_s": age_s, "tick": state.tick, "quaternion_wxyz": state.quaternion_wxyz,
        "rpy": state.rpy, "gyroscope": state.gyroscope, "accelerometer": state.accelerometer,
        "imu_temperature": state.imu_temperature,
        "q": state.q[:JOINTS], "dq": state.dq[:JOINTS], "tau_est": state.tau_est[:JOINTS],
        "temperature": state.temperature[:JOINTS], "mode": state.mode[:JOINTS],
        "foot_force": state.foot_force, "foot_force_est": state.foot_force_est,
        "remote": remote._asdict() | {
            "buttons": sorted(remote.buttons), "head": head_of(state.remote),
        },
    }  # fmt: skip


def facts(glance: Glance) -> list[Fact]:
    """What is known, in lines for a person."""
    (address, port), gap = glance.robot, glance.gap_ms
    fit, tick = judge_unit(glance.tick_unit_s, glance.tick_unit_configured_s)
    found = [
        Fact("robot", f"{address} port {port}, no torque; {glance.rate_now_hz:.0f} Hz, "
             f"age {1e3 * glance.age_s:.1f} ms"),
        Fact("frames", f"{glance.frames} in {glance.seconds:.1f} s, {glance.rate_hz:.0f} a second; "
             f"gaps p50 {gap.p50:.1f}, p99 {gap.p99:.1f}, max {gap.max:.1f} ms"),
        Fact("refused", in_words(glance.refused)),
    ]  # fmt: skip
    if not fit and glance.tick_unit_s is not None:
        found.append(Fact("tick", tick))
    if glance.sample is None:
        return found
    state = glance.sample.state
    remote = decode_remote(state.remote)
    held = "+".join(sorted(remote.buttons)) or "no button"
    sticks = _numbers((remote.lx, remote.ly, remote.rx, remote.ry), "+.2f")
    return [
        *found,
        Fact("attitude", f"roll, pitch, yaw {_numbers(np.degrees(state.rpy), '+.1f')} deg; IMU "
             f"{state.imu_temperature} degC"),
        Fact("gyroscope", f"{_numbers(state.gyroscope, '+.3f')} rad/s"),
        Fact("acceleration", f"{_numbers(state.accelerometer, '+.2f')} m/s2"),
        Fact("remote", f"{held}, sticks {sticks}, head {head_of(state.remote)}"),
        Fact("motors", f"to {state.temperature[:JOINTS].max()} degC"),
        Fact("feet", _numbers(state.foot_force, "d")),
    ]  # fmt: skip


def panel(glance: Glance) -> Group:
    """A picture for a terminal of 80 columns and 24 lines."""
    lines = [f"{label:<13}{text}" for label, text in facts(glance)]
    if glance.sample is not None:
        lines = lines[:-2]  # the table has motors and feet
    table = [] if glance.sample is None else [_joints(glance.sample.state)]
    return Group(*(Text(line, no_wrap=False, overflow="fold") for line in lines), *table)


def _joints(state: LowState) -> Table:
    """A row a motor; each leg's first row has the counts of its foot too."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("motor", "rad", "rad/s", "N m", "degC", "mode", "foot"):
        table.add_column(name, justify="left" if name in ("motor", "mode") else "right")
    for i, label in enumerate(JOINT_LABELS):
        foot = str(state.foot_force[i // 3]) if i % 3 == 0 else ""
        table.add_row(
            label, f"{state.q[i]:+.3f}", f"{state.dq[i]:+.2f}", f"{state.tau_est[i]:+.2f}",
            str(state.temperature[i]), mode_name(int(state.mode[i])), foot,
        )  # fmt: skip
    return table


def _numbers(values: object, form: str) -> str:
    return " ".join(format(value, form) for value in np.asarray(values).tolist())


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
        print_facts(facts(last))
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
        yield (lambda glance: say("; ".join(map(" ".join, facts(glance))))), LINE_EVERY_S
        return
    with Live(console=stderr, auto_refresh=False, transient=True) as live:
        yield (lambda glance: live.update(panel(glance), refresh=True)), LIVE_EVERY_S


def _rest(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not stop() and (left := end - time.monotonic()) > 0.0:
        time.sleep(min(POLL_S, left))
