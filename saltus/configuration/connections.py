"""How a launch is connected to its robot, and what differs between the kinds."""

from __future__ import annotations

from typing import Literal, NamedTuple

Connection = Literal["simulated", "real", "emulated", "emulator"]


class ConnectionKind(NamedTuple):
    """A kind of connection.

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


# The tracker sits a robot down, for which it needs none of the others.
_REAL = ConnectionKind(
    ("tracker", "planner", "estimator", "watchdog", "black_box"), "tracker",
    frozenset({"planner", "estimator", "watchdog", "black_box"}), bridged=True, real=True,
)  # fmt: skip
CONNECTIONS: dict[Connection, ConnectionKind] = {
    # What produces commands falls silent before the simulated robot does.
    "simulated": ConnectionKind(
        ("planner", "estimator", "tracker", "simulation"), "simulation", frozenset({"planner"}),
        simulated=True,
    ),
    "real": _REAL,
    "emulated": _REAL._replace(processes=(*_REAL.processes, "emulator"), real=False, emulated=True),
    "emulator": ConnectionKind(("emulator",), "emulator", emulated=True, planned=False),
}  # fmt: skip


def connections_where(condition: str) -> tuple[Connection, ...]:
    """Names of the kinds that have an attribute, such as ``bridged``."""
    return tuple(name for name, kind in CONNECTIONS.items() if getattr(kind, condition))
