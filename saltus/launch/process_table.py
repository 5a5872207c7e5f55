"""Which processes a launch is made of, and what becomes of it when one of them ends."""

import sys
from pathlib import Path

from hw_bridge import watchdog
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.robots import RobotKind

WATCHDOG = "watchdog"  # of an A1; reads the operator's keyboard
DRIVER = "driver"  # reads a keyboard or a gamepad; where it dies, the robot stands
GRACE_S = 5.0  # of processes that only have to write their report
REPORT_S = 4.0  # beyond what a robot's motions may take, for its report [s]


def launched_kind(config: LaunchConfig) -> RobotKind:
    """The kind of robot of this launch, with a process for the device that drives it, if any."""
    kind = config.kind
    keys_here = config.drive.source == "keyboard" and not kind.bridged
    if not keys_here and config.drive.source != "gamepad":
        return kind
    return kind._replace(
        processes=(*kind.processes, DRIVER), expendable=kind.expendable | {DRIVER}
    )


def watchdog_socket(sockets: Path) -> Path:
    """Where a tracker finds its watchdog, in the folder of a launch's sockets."""
    return sockets / WATCHDOG


def watchdog_command(at: Path, report: Path, parent: int) -> list[str]:
    """The watchdog's program, which neither loads nor depends on what is installed.

    Args:
        at: where it listens for the tracker.
        report: where it writes its report.
        parent: process id, without which it does not wait for a tracker.
    """
    program = watchdog.__path__[0]
    return [sys.executable, "-I", "-S", program, str(at), str(report), str(parent)]


def grace_s(config: LaunchConfig) -> float:
    """Time that each process has to end once it is asked to [s].

    A real robot may take it from any motion to lying, and then to silence.
    """
    if not config.kind.bridged:
        return GRACE_S
    motion = config.hardware.motion
    return motion.sit_down_timeout_s + motion.damping_timeout_s + REPORT_S
