"""Which processes a launch is made of, and what becomes of it when one of them ends."""

import math
import sys
from pathlib import Path

from hw_bridge import black_box, watchdog
from saltus.configuration.connections import ConnectionKind
from saltus.configuration.launch import LaunchConfig

WATCHDOG = "watchdog"  # of a robot; reads the operator's keyboard
BLACK_BOX = "black_box"  # of a robot; keeps its frames, and ends after all who write to it
DRIVER = "driver"  # reads a keyboard or a gamepad; where it dies, the robot stands
GO_ON = frozenset({DRIVER, BLACK_BOX})  # without these the robot need not sit down
LASTING = {WATCHDOG: math.inf, BLACK_BOX: 5.0}  # end by themselves, after all others
GRACE_S = 5.0  # of processes that only have to write their report
REPORT_S = 4.0  # beyond what a robot's motions may take, for its report [s]


def launched_kind(config: LaunchConfig) -> ConnectionKind:
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


def black_box_pipe(sockets: Path) -> Path:
    """Where tracker and watchdog write frames, in the folder of a launch's sockets."""
    return sockets / BLACK_BOX


def black_box_folder(config: LaunchConfig, run: Path) -> Path:
    """The ring of the black box, of a launch whose own folder is `run`."""
    if (folder := config.hardware.black_box.folder) is not None:
        return Path(folder)
    return run / BLACK_BOX if config.kind.emulated else Path("runs") / BLACK_BOX


def black_box_command(
    config: LaunchConfig, sockets: Path, run: Path, report: Path, parent: int
) -> list[str]:
    """The black box's program.

    Args:
        config: of the launch.
        sockets: folder of the launch's sockets, with the pipe.
        run: folder of the launch, with its logs and reports.
        report: where it writes its report.
        parent: process id, without which it does not wait for a tracker.
    """
    folder, size_mb = black_box_folder(config, run), config.hardware.black_box.size_mb
    words = (black_box_pipe(sockets), folder, size_mb, run, report, parent)
    return [sys.executable, "-m", black_box.__name__, *map(str, words)]


def grace_s(config: LaunchConfig) -> float:
    """Time that each process has to end once it is asked to [s].

    A real robot may take it from any motion to lying, and then to silence.
    """
    if not config.kind.bridged:
        return GRACE_S
    motion = config.hardware.motion
    ending = motion.end_timeout_s + motion.sit_down_timeout_s + motion.damping_timeout_s
    return ending + REPORT_S
