"""What is known of a robot that is only read, at one moment."""

import math
from dataclasses import asdict
from typing import Any, NamedTuple

from hw_bridge.intake import Sample
from hw_bridge.wire.layout import BRAKE, JOINTS, OVERHEATED, SERVO, Header
from hw_bridge.wire.remote import decode_remote
from runtime.histogram import Quantiles
from saltus.a1.exchange import in_words
from saltus.a1.ticks import judge_unit

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
