"""Events of one launch of a soak, drawn from a seed before the launch begins.

All of it is plain data. Its times count seconds of the run, so the schedule depends on no clock and
no machine. Each kind of action has random numbers of its own, drawn in the order of time: a shorter
launch gets the beginning of a longer one's schedule. ``soak.yaml`` has the bounds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from robots.planar_pose import PlanarPose
from runtime.bus import Publisher
from runtime.messages import Command as CommandMessage
from saltus.configuration.options import read_mapping
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor
from saltus.soak.harm import Harm, do

Draw = np.random.Generator
Item = TypeVar("Item")

BOUNDS = read_mapping(Path(__file__).with_name("soak.yaml"))
CALM_S = 10.0  # at both ends of a run, without pushes and faults
WIDE = 12.0  # [m]
SLIPPERY = (0.5, 0.7)  # friction; on 0.35 some pushes of 1 m/s throw the robot


class Command(NamedTuple):
    """Command to the robot from a time on.

    Attributes:
        at: seconds of the run.
        gait: name.
        forward, left, turn: [m/s], [m/s], [rad/s].
        height: of the trunk [m]; None: as it stands.
    """

    at: float
    gait: str
    forward: float
    left: float
    turn: float
    height: float | None


class Schedule(NamedTuple):
    """One launch's.

    Attributes:
        terrain: parts, as a launch file has them.
        network: options of the emulator's network.
        commands: in order of time.
        pushes, incidents: events of the emulator, as a launch file has them, but in seconds of the
            run.
        harms: in order of time.
    """

    terrain: list[dict[str, Any]]
    network: dict[str, Any]
    commands: list[Command]
    pushes: list[dict[str, Any]]
    incidents: list[dict[str, Any]]
    harms: list[Harm]

    def events(self, begin: float) -> list[dict[str, Any]]:
        """Events of the emulator, for a run that begins `begin` [s] after its first command."""
        events = [each | {"at": each["at"] + begin} for each in self.pushes + self.incidents]
        return sorted(events, key=lambda event: event["at"])


def draw_schedule(seed: int, number: int, seconds: float) -> Schedule:
    """The schedule of one launch.

    Args:
        seed: of the soak.
        number: of the launch, from 0.
        seconds: that it runs.
    """
    place, order, push, fault, harm = (
        np.random.default_rng(each) for each in np.random.SeedSequence([seed, number]).spawn(5)
    )
    late = seconds - CALM_S
    return Schedule(
        _terrain(place), draw_value(place, BOUNDS["network"]),
        list(_until(seconds, _commands(order))),
        list(_until(late, _every(push, "pushes", _push), itemgetter("at"))),
        list(_until(late, _every(fault, "incidents", _one_of("incidents")), itemgetter("at"))),
        list(_until(late, _every(harm, "harms", _harm))),
    )  # fmt: skip


def _until(
    end: float, items: Iterator[Item], time: Callable[[Any], float] = lambda item: item.at
) -> Iterator[Item]:
    """The items before a time."""
    for item in items:
        if time(item) >= end:
            return
        yield item


def draw_value(draw: Draw, bounds: Any) -> Any:
    """Draw every value of a mapping, in its order; what is no bound stays as it is."""
    if isinstance(bounds, dict):
        if "either_way" in bounds:
            return float(draw.uniform(*bounds["either_way"]) * draw.choice((-1.0, 1.0)))
        return {key: draw_value(draw, each) for key, each in bounds.items()}
    if isinstance(bounds, list):
        return float(draw.uniform(*bounds))
    return int(draw.integers(bounds)) if isinstance(bounds, int) else bounds


def _every(draw: Draw, what: str, make: Callable[[Draw, float], Item]) -> Iterator[Item]:
    """Something again and again, with random times between, after the calm beginning."""
    at = CALM_S
    while True:
        yield make(draw, at)
        at += draw_value(draw, BOUNDS[what]["every"])


def _commands(draw: Draw) -> Iterator[Command]:
    at, bounds = 0.0, BOUNDS["commands"]
    gaits = list(bounds["gaits"])
    while True:
        gait = gaits[draw.choice(len(gaits), p=list(bounds["gaits"].values()))]
        velocity = draw_value(draw, bounds["velocity"])
        if gait == "stand":
            velocity = dict.fromkeys(velocity, 0.0)
        has_height = draw.uniform() < bounds["height_share"]
        height = draw_value(draw, bounds["height"]) if has_height else None
        yield Command(at, gait, **velocity, height=height)
        at += draw_value(draw, bounds["stand" if gait == "stand" else "hold"])


def _push(draw: Draw, at: float) -> dict[str, Any]:
    """A horizontal velocity that is added to the trunk's."""
    way, share = draw.uniform(-math.pi, math.pi), draw.uniform()
    sizes, strong = BOUNDS["pushes"]["sizes"], BOUNDS["pushes"]["strong_share"]
    size = draw_value(draw, sizes["usual" if share > strong else "strong"])
    value = [float(size * math.cos(way)), float(size * math.sin(way)), 0.0]
    return {"kind": "push", "at": at, "value": value}


def _one_of(what: str) -> Callable[[Draw, float], dict[str, Any]]:
    kinds = BOUNDS[what]["kinds"]
    return lambda draw, at: draw_value(draw, kinds[draw.integers(len(kinds))]) | {"at": at}


def _harm(draw: Draw, at: float) -> Harm:
    harm = _one_of("harms")(draw, at)
    return Harm(**harm | {"victims": (harm["victims"],)})


def _terrain(draw: Draw) -> list[dict[str, Any]]:
    """A slope and low steps on two sides of a level strip, boxes and a slippery patch on the strip.

    Slope and steps are so wide that the robot never comes to their sides, which are cliffs.
    """
    first = draw.uniform(-math.pi, math.pi)

    def place(quarter: int, distance: float) -> dict[str, Any]:
        way = math.remainder(first + 0.5 * math.pi * quarter, 2.0 * math.pi)
        return {"at": [distance * math.cos(way), distance * math.sin(way)], "heading": way}

    x, y = place(3, 1.1)["at"]
    return [
        {"kind": "slope", "angle": float(draw.uniform(0.05, 0.15)), "length": 1.2, "width": WIDE,
         **place(0, 0.7)},
        {"kind": "stairs", "rise": float(draw.uniform(0.02, 0.05)), "run": 0.5, "width": WIDE,
         "count": int(draw.integers(1, 3)), **place(2, 0.7)},
        {"kind": "boxes", "seed": int(draw.integers(2**32)), "length": 1.8, "width": 1.5,
         "heights": [0.0, float(draw.uniform(0.01, 0.04))], **place(1, 0.5)},
        {"kind": "patch", "friction": float(draw.uniform(*SLIPPERY)), "length": 1.0, "width": 1.0,
         "at": [x - 0.5, y]},
    ]  # fmt: skip


FAR, NEAR = 2.3, 1.0  # from the origin, where it is sent back and where it is let go again [m]
SPEED = 0.3  # home [m/s]
TURN_GAIN = 1.5  # [1/s]


class Steering:
    """Commands as they are, or on the way home with the same gait and height.

    Attributes:
        is_homing: the robot is on its way back.
    """

    def __init__(self) -> None:
        """The robot begins at the origin."""
        self.is_homing = False

    def steer(self, command: Command, q: NDArray[np.float64]) -> Command:
        """The command to give to a robot with the true configuration `q` (19).

        A robot that is to stand stands.
        """
        x, y = float(q[0]), float(q[1])
        self.is_homing = math.hypot(x, y) > (NEAR if self.is_homing else FAR)
        if not self.is_homing or command.gait == "stand":
            return command
        way = math.atan2(-y, -x) - PlanarPose.of(q).yaw
        error = math.remainder(way, 2.0 * math.pi)
        turn = float(np.clip(TURN_GAIN * error, *BOUNDS["commands"]["velocity"]["turn"]))
        return command._replace(forward=SPEED * max(0.0, math.cos(error)), left=0.0, turn=turn)


class Player:
    """Plays one schedule; raises nothing that the schedule could cause.

    Attributes:
        harms: that have been done.
    """

    def __init__(
        self, schedule: Schedule, publisher: Publisher[CommandMessage], bridge_port: int
    ) -> None:
        """Commands go to `publisher`, a stranger's frames to the bridge's port on loopback."""
        self.harms = 0
        self._schedule, self._publisher, self._port = schedule, publisher, bridge_port
        self._steering, self._next, self._sequence = Steering(), 0, 0

    def play(self, supervisor: Supervisor, listener: Listener, running_s: float) -> None:
        """Send the command of this time, and do the harms that are due; fifty times a second.

        Harms that have been missed are done one a call.
        """
        if listener.truth is None:
            return
        commands, harms = self._schedule.commands, self._schedule.harms
        while self._next + 1 < len(commands) and commands[self._next + 1].at <= running_s:
            self._next += 1
        command = self._steering.steer(commands[self._next], listener.truth.q)
        self._sequence += 1
        self._publisher.send(CommandMessage(
            sequence=self._sequence, time=time.monotonic(), forward=command.forward,
            left=command.left, yaw_rate=command.turn, height=command.height, gait=command.gait,
        ))  # fmt: skip
        if self.harms < len(harms) and harms[self.harms].at <= running_s:
            self.harms += 1
            pids = {each.name: each.pid for each in supervisor.children if each.status is None}
            do(harms[self.harms - 1], pids, {"tracker": self._port})
