"""What is known of a robot that is only read: a table on a terminal, lines elsewhere, JSON."""

import math
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from hw_bridge.intake import Sample
from hw_bridge.safety.watches import JOINT_LABELS
from hw_bridge.wire.layout import BRAKE, JOINTS, OVERHEATED, SERVO, Header
from hw_bridge.wire.low_state import LowState
from hw_bridge.wire.remote import decode_remote
from runtime.histogram import Quantiles
from saltus.hardware.exchange import in_words, judge_unit

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


def as_lines(glance: Glance) -> list[str]:
    """What ``--read-only`` says at its end, for a person."""
    gap, header = glance.gap_ms, glance.header or Header()
    lines = [
        f"{glance.frames} frames in {glance.seconds:.1f} s, {glance.rate_hz:.0f} a second, gaps "
        f"p50 {gap.p50:.1f}, p99 {gap.p99:.1f}, max {gap.max:.1f} ms",
        f"refused: {in_words(glance.refused)}",
        "header: " + ", ".join(f"{name} {value}" for name, value in header._asdict().items()),
        f"tick: {judge_unit(glance.tick_unit_s, glance.tick_unit_configured_s)[1]}",
    ]
    if glance.sample is not None:
        state = glance.sample.state
        hottest = int(state.temperature[:JOINTS].max())
        modes = sorted({mode_name(int(mode)) for mode in state.mode[:JOINTS]})
        lines.append(f"motors: {', '.join(modes)}, hottest {hottest} degC")
    return lines


def one_line(glance: Glance) -> str:
    """One line of a log."""
    if glance.sample is None:
        return f"nothing believed yet; refused: {in_words(glance.refused)}"
    state = glance.sample.state
    return (
        f"{glance.rate_now_hz:.0f} Hz, age {1e3 * glance.age_s:.1f} ms, rpy {_degrees(state)} deg, "
        f"motors to {state.temperature[:12].max()} degC, feet {_numbers(state.foot_force, 'd')}, "
        f"refused: {in_words(glance.refused)}"
    )


def panel(glance: Glance) -> Group:
    """A picture for a terminal of 80 columns and 24 lines."""
    address, port = glance.robot
    gap = glance.gap_ms
    head = Text(
        f"robot at {address} port {port}, no torque   {glance.rate_now_hz:.0f} Hz   "
        f"age {1e3 * glance.age_s:.1f} ms"
    )
    refused = _wrapped(
        f"gaps      p99 {gap.p99:.1f}, max {gap.max:.1f} ms   refused: {in_words(glance.refused)}",
        "red" if glance.refused else "",
    )
    if glance.sample is None:
        return Group(head, refused)
    return Group(head, refused, *_unit(glance), *_body(glance.sample.state))


def _unit(glance: Glance) -> list[Text]:
    """A line where the tick is not what the configuration says."""
    if glance.tick_unit_s is None:
        return []
    well, found = judge_unit(glance.tick_unit_s, glance.tick_unit_configured_s)
    return [] if well else [_wrapped(f"tick      {found}", "red")]


def _wrapped(text: str, style: str) -> Text:
    """A line that goes on in the next one where the terminal is narrow: its end counts."""
    return Text(text, style, no_wrap=False, overflow="fold")


def _body(state: LowState) -> list[Text | Table]:
    remote = decode_remote(state.remote)
    held = "+".join(sorted(remote.buttons)) or "no button"
    sticks = (remote.lx, remote.ly, remote.rx, remote.ry)
    silent = "" if any(state.remote) else "   (all zero)"
    return [
        Text(f"attitude  roll, pitch, yaw {_degrees(state)} deg   "
             f"IMU {state.imu_temperature} degC"),
        Text(f"gyro      {_numbers(state.gyroscope, '+.3f')} rad/s"),
        Text(f"accel     {_numbers(state.accelerometer, '+.2f')} m/s2"),
        Text(f"remote    {held}   sticks {_numbers(sticks, '+.2f')}   "
             f"head {head_of(state.remote)}{silent}"),
        _joints(state),
    ]  # fmt: skip


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


def _degrees(state: LowState) -> str:
    return _numbers(np.degrees(state.rpy), "+.1f")


def _numbers(values: object, form: str) -> str:
    return " ".join(format(value, form) for value in np.asarray(values).tolist())
