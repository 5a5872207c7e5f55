"""Which processes a launch is made of, and what becomes of it when one of them ends."""

from typing import NamedTuple

from saltus.configuration.launch import LaunchConfig

DRIVER = "driver"  # reads a keyboard or a gamepad; where it dies, the robot stands
REPORT_S = 4.0  # beyond what a robot's motions may take, for its report [s]


class ProcessTable(NamedTuple):
    """The processes of a launch.

    Attributes:
        processes, finishing, expendable: see `saltus.configuration.robots.RobotKind`.
        grace_s: time that each has to end once it is asked to [s].
    """

    processes: tuple[str, ...]
    finishing: str
    expendable: frozenset[str]
    grace_s: float = 5.0


def process_table(config: LaunchConfig) -> ProcessTable:
    """The processes of this launch."""
    kind = config.kind
    table = ProcessTable(kind.processes, kind.finishing, kind.expendable)
    keys_here = config.drive.source == "keyboard" and not kind.bridged
    if keys_here or config.drive.source == "gamepad":
        table = table._replace(
            processes=(*table.processes, DRIVER), expendable=table.expendable | {DRIVER}
        )
    return table._replace(grace_s=_way_down_s(config)) if kind.bridged else table


def _way_down_s(config: LaunchConfig) -> float:
    """Longest that a robot takes from any motion to lying, and then to silence [s]."""
    motion = config.hardware.motion
    damped_s = max(motion.damping_s, motion.damping_timeout_s)
    return motion.sit_down_timeout_s + damped_s + REPORT_S
