"""The kinds of robot that a launch may be on, and what differs between them."""

from __future__ import annotations

from typing import Literal, NamedTuple

Robot = Literal["simulated", "a1", "emulated", "emulator"]


class RobotKind(NamedTuple):
    """A kind of robot.

    Attributes:
        processes: of its launch, started and stopped in this order.
        finishing: the process whose end with status 0 is the end of the launch.
        expendable: processes whose death the launch survives: the tracker is informed, and ends it
            in order.
        simulated: by the launch's own simulation, which can be paused, pushed and perturbed.
        bridged: the tracker reaches it over UDP.
        emulated: an emulator of it runs in the launch.
        real: nobody knows its true state.
        planned: the launch plans for it; else another launch does.
    """

    processes: tuple[str, ...]
    finishing: str
    expendable: frozenset[str] = frozenset()
    simulated: bool = False
    bridged: bool = False
    emulated: bool = False
    real: bool = False
    planned: bool = True


# The tracker sits an A1 down, for which it needs none of the others.
_A1 = RobotKind(
    ("tracker", "planner", "estimator", "watchdog", "black_box"), "tracker",
    frozenset({"planner", "estimator", "watchdog", "black_box"}), bridged=True, real=True,
)  # fmt: skip
ROBOTS: dict[Robot, RobotKind] = {
    # Whoever produces commands falls silent before the simulated robot does.
    "simulated": RobotKind(
        ("planner", "estimator", "tracker", "simulation"), "simulation", frozenset({"planner"}),
        simulated=True,
    ),
    "a1": _A1,
    "emulated": _A1._replace(processes=(*_A1.processes, "emulator"), real=False, emulated=True),
    "emulator": RobotKind(("emulator",), "emulator", emulated=True, planned=False),
}  # fmt: skip


def robots_where(condition: str) -> tuple[Robot, ...]:
    """Names of the kinds that have an attribute, such as ``bridged``."""
    return tuple(name for name, kind in ROBOTS.items() if getattr(kind, condition))
