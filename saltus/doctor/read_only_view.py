"""A robot that is only read: a table on a terminal, lines elsewhere, JSON."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from threading import Lock
from typing import Any, Final

from rich import box
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hw_bridge.intake import Sample
from hw_bridge.link import Link
from hw_bridge.options import HardwareOptions
from hw_bridge.wire.layout import BRAKE, JOINTS, OVERHEATED, SERVO, Wire, wire_of
from hw_bridge.wire.remote import decode_remote
from robots.conventions import JOINT_LABELS
from runtime.clock import RealTimeClock
from runtime.signals import StopFlag
from saltus.common.console import print_facts, print_json, say, stderr
from saltus.common.files import read_table
from saltus.configuration.launch import LaunchConfig
from saltus.doctor.survey import ASK_EVERY_S, Exchange, judge_unit, no_answer
from saltus.launch.hardware import LIMP, black_box_link, hardware_options
from saltus.launch.outcome import numbers_in

MODES = {SERVO: "servo", BRAKE: "brake", OVERHEATED: "overheated"}


READINGS = read_table(__file__, "readings.yaml")


def mode_name(mode: int) -> str:
    """Name of a motor's mode; its number without one."""
    return MODES.get(mode, f"0x{mode:02X}")


def head_of(remote: bytes) -> str:
    """The two head bytes of the remote's forty in hexadecimal: their meaning is not published."""
    return remote[:2].hex(" ")


def _last(sample: Sample, now: float) -> dict[str, Any]:
    state = sample.state
    remote = decode_remote(state.remote)
    whole = ("tick", "quaternion_wxyz", "rpy", "gyroscope", "accelerometer", "imu_temperature",
             "foot_force", "foot_force_est")  # fmt: skip
    motors = ("q", "dq", "tau_est", "temperature", "mode")
    return {
        "age_s": now - sample.arrival, **{name: getattr(state, name) for name in whole},
        **{name: getattr(state, name)[:JOINTS] for name in motors},
        "remote": remote._asdict() | {
            "buttons": sorted(remote.buttons), "head": head_of(state.remote),
        },
    }  # fmt: skip


def panel(found: dict[str, Any]) -> Group:
    """A picture of a summary for a terminal of 80 columns and 24 lines."""
    last = found["last"]
    table = {label: rows for label, rows in READINGS.items()
             if last is None or label not in ("motors", "feet")}  # fmt: skip
    lines = [
        Text(f"{label:<13}{text}", overflow="fold") for label, text in numbers_in(table, found)
    ]
    return Group(*lines, *([] if last is None else [_joints(last)]))


def _joints(last: dict[str, Any]) -> Table:
    """A row a motor; each leg's first row has the counts of its foot too."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("motor", "rad", "rad/s", "N m", "degC", "mode", "foot"):
        table.add_column(name, justify="left" if name in ("motor", "mode") else "right")
    for i, label in enumerate(JOINT_LABELS):
        foot = str(last["foot_force"][i // 3]) if i % 3 == 0 else ""
        table.add_row(
            label, f"{last['q'][i]:+.3f}", f"{last['dq'][i]:+.2f}", f"{last['tau_est'][i]:+.2f}",
            str(last["temperature"][i]), mode_name(int(last["mode"][i])), foot,
        )  # fmt: skip
    return table


LIVE_EVERY_S: Final = 0.2  # on a terminal
LINE_EVERY_S: Final = 1.0  # elsewhere
POLL_S: Final = 0.02
SWITCH_S: Final = 0.0005  # after which drawing gives way to asking
SILENT_S: Final = 1.0  # age of the last frame at which the robot has fallen silent


class Watch:
    """Asks the robot at 500 Hz beside the thread that shows what it says."""

    def __init__(self, wire: Wire, options: HardwareOptions, link: Link) -> None:
        """Ready to ask; nothing is sent yet."""
        self._options, self._exchange, self._lock = options, Exchange(wire, options, link), Lock()
        self._begin = time.monotonic()

    def ask(self, over: Callable[[], bool]) -> None:
        """Ask and listen until it is over."""
        clock = RealTimeClock(ASK_EVERY_S)
        while not over():
            clock.wait_tick()
            with self._lock:
                self._exchange.ask()
                self._exchange.hear()

    def summary(self) -> dict[str, Any]:
        """Output of ``--read-only --json``: counts since the begin, the newest believed frame."""
        with self._lock:
            exchange, now = self._exchange, time.monotonic()
            last, unit = exchange.intake.last, exchange.ticks.unit_s
            configured = self._options.tick_unit_s
            fits, tick = judge_unit(unit, configured)
            return exchange.counts() | {
                "robot": "{} port {}".format(*self._options.link.robot),
                "seconds": now - self._begin, "rate_hz": exchange.rate_hz,
                "gap_ms": asdict(exchange.gaps_ms.quantiles()),
                "tick_unit_configured_s": configured,
                "tick": "" if fits or unit is None else tick,
                "last": None if last is None else _last(last, now),
            }  # fmt: skip


def view(config: LaunchConfig, json: bool) -> int:
    """Show what the robot says until Ctrl-C or the end of the duration; no torque is ever sent.

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
    found = watch.summary()
    if found["last"] is None:
        if not stop():
            say(no_answer(options, found["refused"]))
        return 1
    if json:
        print_json(found)
    else:
        print_facts(numbers_in(READINGS, found))
    if (age := found["last"]["age_s"]) > SILENT_S:
        say(f"no state came from the robot in the last {age:.1f} s")
        return 1
    return 0


def _follow(
    watch: Watch, options: HardwareOptions, duration: float, stop: Callable[[], bool]
) -> None:
    """Show the robot for `duration` [s] from its first good frame on; not at all without one."""
    deadline = time.monotonic() + options.connect_timeout_s
    while watch.summary()["last"] is None:
        if stop() or time.monotonic() > deadline:
            return
        time.sleep(POLL_S)
    end = time.monotonic() + duration
    with _shown() as (show, every_s):
        due = 0.0
        while not stop() and (now := time.monotonic()) < end:
            if now >= due:
                due = now + every_s
                show(watch.summary())
            time.sleep(POLL_S)


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
def _shown() -> Iterator[tuple[Callable[[dict[str, Any]], None], float]]:
    """Function that shows a summary on standard error, and its period [s]."""
    if not stderr.is_terminal:
        yield (
            (lambda found: say("; ".join(map(" ".join, numbers_in(READINGS, found))))),
            LINE_EVERY_S,
        )
        return
    with Live(console=stderr, auto_refresh=False, transient=True) as live:
        yield (lambda found: live.update(panel(found), refresh=True)), LIVE_EVERY_S
