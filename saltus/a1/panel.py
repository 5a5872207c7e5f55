"""The picture of a robot that is only read: a table on a terminal, a line elsewhere."""

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from hw_bridge.safety.watches import JOINT_LABELS
from hw_bridge.wire.low_state import LowState
from hw_bridge.wire.remote import decode_remote
from saltus.a1.exchange import in_words
from saltus.a1.glance import Glance, head_of, mode_name
from saltus.a1.ticks import judge_unit


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
        f"A1 at {address} port {port}, no torque   {glance.rate_now_hz:.0f} Hz   "
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
