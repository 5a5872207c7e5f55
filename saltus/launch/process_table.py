"""Which processes a launch is made of, and what becomes of it when one of them ends."""

from typing import NamedTuple

from saltus.configuration.launch import LaunchConfig

DRIVER = "driver"  # reads a keyboard or a gamepad; where it dies, the robot stands
REPORT_S = 4.0  # beyond what a robot's motions may take, for its report [s]


class Cast(NamedTuple):
    """The processes of a launch.

    Attributes:
        processes: started and stopped in this order.
        finishing: the one whose end with status 0 is the end of the launch.
        spared: those whose death the launch survives: the tracker is told, and ends it in order.
        grace_s: time that each has to end once told to [s].
    """

    processes: tuple[str, ...]
    finishing: str
    spared: frozenset[str]
    grace_s: float = 5.0


# Whoever produces commands falls silent before the simulated robot does.
_SIMULATED = Cast(
    ("planner", "estimator", "tracker", "simulation"), "simulation", frozenset({"planner"})
)
# The tracker sits the robot down, for which it needs none of the others.
_A1 = Cast(("tracker", "planner", "estimator"), "tracker", frozenset({"planner", "estimator"}))
_CASTS = {
    "simulated": _SIMULATED,
    "a1": _A1,
    "emulated": _A1._replace(processes=(*_A1.processes, "emulator")),
    "emulator": Cast(("emulator",), "emulator", frozenset()),
}


def cast_of(config: LaunchConfig) -> Cast:
    """The processes of this launch."""
    cast = _CASTS[config.robot]
    keys_here = config.drive.source == "keyboard" and not config.bridged
    if keys_here or config.drive.source == "gamepad":
        cast = cast._replace(processes=(*cast.processes, DRIVER), spared=cast.spared | {DRIVER})
    return cast._replace(grace_s=_way_down_s(config)) if config.bridged else cast


def _way_down_s(config: LaunchConfig) -> float:
    """Longest that a robot takes from any motion to lying, and then to silence [s]."""
    motion = config.hardware.motion
    damped_s = max(motion.damping_s, motion.damping_timeout_s)
    return motion.sit_down_timeout_s + damped_s + REPORT_S
