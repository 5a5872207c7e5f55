"""What happens to the robot in one launch of a soak, drawn from a seed before the launch begins.

All of it is plain data. Its times count seconds of the run, so the schedule depends on no clock and
no machine. Each kind of action has random numbers of its own, drawn in the order of time: a shorter
launch gets the beginning of a longer one's schedule.

Only what a walk survives is drawn. Faults that must end a run belong to `saltus study faults`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from runtime.bus import Publisher
from runtime.messages import Command as CommandMessage
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor, pause_processes, send_as_stranger

Draw = np.random.Generator
Range = tuple[float, float]
Item = TypeVar("Item")

GAITS = ("walk", "trot", "auto", "stand")
GAIT_SHARES = (0.3, 0.3, 0.2, 0.2)
HOLD_S: Range = (2.0, 8.0)  # for which a command holds
STAND_S: Range = (1.0, 4.0)  # for which one to stand holds
FORWARD: Range = (-0.2, 0.4)  # [m/s]
LEFT: Range = (-0.15, 0.15)  # [m/s]
TURN: Range = (-0.5, 0.5)  # [rad/s]
HEIGHT: Range = (0.24, 0.30)  # of the trunk [m], where a command has one
HEIGHT_SHARE = 0.2  # of the commands

CALM_S = 10.0  # at both ends of a run, without pushes and faults
PUSH_EVERY_S: Range = (5.0, 15.0)
PUSH: Range = (0.2, 1.0)  # [m/s], horizontal
STRONG_PUSH: Range = (1.0, 1.5)
STRONG_SHARE = 0.15
HARD_PUSH: Range = (2.1, 2.6)
HARD_SHARE = 0.02
HARD = 2.0  # a fall soon after a larger one counts apart [m/s]

FAULT_EVERY_S: Range = (10.0, 30.0)
CUT_S: Range = (0.003, 0.012)  # joints older than 0.02 s are unknown
HEAT: Range = (40.0, 52.0)  # [deg C]; from 60 on the robot sits down
TURNED: Range = (2.0, 5.0)  # torque on a joint from outside [N m]
TURNED_S: Range = (0.05, 0.2)
STICKS_S: Range = (0.5, 3.0)
STICKS = ("lx", "ly", "rx", "ry")
# Without a plan for 0.1 s the tracker follows the last one on, for 0.35 s in all.
PLANNER_PAUSE_S: Range = (0.02, 0.08)
ESTIMATOR_PAUSE_S: Range = (0.005, 0.03)  # an estimate is not used from 0.02 s on

WIDE = 12.0  # [m]
SLIPPERY: Range = (0.5, 0.7)  # friction; on 0.35 some pushes of 1 m/s throw the robot
NETWORK = {"loss": 0.02, "duplicate": 0.1, "reorder": 0.1, "corrupt": 0.02}  # at most


class Command(NamedTuple):
    """What the robot is asked to do from a time on.

    Attributes:
        at: seconds of the run.
        gait: of `GAITS`.
        forward, left, turn: [m/s], [m/s], [rad/s].
        height: of the trunk [m]; None: as it stands.
    """

    at: float
    gait: str
    forward: float
    left: float
    turn: float
    height: float | None


class Harm(NamedTuple):
    """What is done to the launch's processes from outside.

    Attributes:
        at: seconds of the run.
        kind: ``pause`` or ``stranger``.
        process: that is stopped; empty for a stranger.
        seconds: for which it is stopped.
    """

    at: float
    kind: str
    process: str = ""
    seconds: float = 0.0


class Push(NamedTuple):
    """A velocity (3) [m/s, world] added to the trunk's at a time of the run [s]."""

    at: float
    value: tuple[float, float, float]

    @property
    def size(self) -> float:
        """[m/s]."""
        return math.hypot(*self.value)


class Schedule(NamedTuple):
    """One launch's.

    Attributes:
        terrain: parts, as a launch file has them.
        network: options of the emulator's network.
        commands: in order of time.
        pushes: the same.
        incidents: other events of the emulator, as a launch file has them, but in seconds of the
            run.
        harms: in order of time.
    """

    terrain: list[dict[str, Any]]
    network: dict[str, Any]
    commands: list[Command]
    pushes: list[Push]
    incidents: list[dict[str, Any]]
    harms: list[Harm]

    def events(self, begin: float) -> list[dict[str, Any]]:
        """Events of the emulator, for a run that begins `begin` [s] after its first command."""
        pushes = [{"kind": "push", "at": p.at, "value": list(p.value)} for p in self.pushes]
        events = [event | {"at": event["at"] + begin} for event in pushes + self.incidents]
        return sorted(events, key=lambda event: event["at"])


def draw_schedule(seed: int, number: int, seconds: float, hard_pushes: bool = False) -> Schedule:
    """The schedule of one launch.

    Args:
        seed: of the soak.
        number: of the launch, from 0.
        seconds: that it runs.
        hard_pushes: a few above 2 m/s among the others.
    """
    place, order, push, fault, harm = (
        np.random.default_rng(each) for each in np.random.SeedSequence([seed, number]).spawn(5)
    )
    late = seconds - CALM_S
    return Schedule(
        _terrain(place), _network(place),
        list(_until(seconds, _commands(order))),
        list(_until(late, _every(push, PUSH_EVERY_S, partial(_push, hard_pushes)))),
        list(_until(late, _every(fault, FAULT_EVERY_S, _incident), lambda event: event["at"])),
        list(_until(late, _every(harm, FAULT_EVERY_S, _harm))),
    )  # fmt: skip


def _until(
    end: float, items: Iterator[Item], time: Callable[[Any], float] = lambda item: item.at
) -> Iterator[Item]:
    """The items before a time."""
    for item in items:
        if time(item) >= end:
            return
        yield item


def _every(draw: Draw, interval: Range, make: Callable[[Draw, float], Item]) -> Iterator[Item]:
    """Something again and again, with random times between, after the calm beginning."""
    at = CALM_S
    while True:
        yield make(draw, at)
        at += float(draw.uniform(*interval))


def _commands(draw: Draw) -> Iterator[Command]:
    at = 0.0
    while True:
        gait = GAITS[draw.choice(len(GAITS), p=GAIT_SHARES)]
        forward, left, turn = (float(draw.uniform(*bounds)) for bounds in (FORWARD, LEFT, TURN))
        if gait == "stand":
            forward = left = turn = 0.0
        height = float(draw.uniform(*HEIGHT)) if draw.uniform() < HEIGHT_SHARE else None
        yield Command(at, gait, forward, left, turn, height)
        at += float(draw.uniform(*(STAND_S if gait == "stand" else HOLD_S)))


def _push(hard_pushes: bool, draw: Draw, at: float) -> Push:
    way, share = draw.uniform(-math.pi, math.pi), draw.uniform()
    bounds = PUSH if share > STRONG_SHARE else STRONG_PUSH
    if hard_pushes and share < HARD_SHARE:
        bounds = HARD_PUSH
    size = draw.uniform(*bounds)
    return Push(at, (float(size * math.cos(way)), float(size * math.sin(way)), 0.0))


def _incident(draw: Draw, at: float) -> dict[str, Any]:
    """A short cut, a warm motor, a joint that somebody turns, or sticks of the A1's remote."""
    kind = ("cut", "heat", "drive_joint", "remote")[draw.integers(4)]
    if kind == "cut":
        what: dict[str, Any] = {"for": float(draw.uniform(*CUT_S))}
    elif kind == "heat":
        what = {"motor": int(draw.integers(12)), "temperature": float(draw.uniform(*HEAT))}
    elif kind == "drive_joint":
        torque = float(draw.uniform(*TURNED) * draw.choice((-1.0, 1.0)))
        what = {"motor": int(draw.integers(12)), "torque": torque,
                "for": float(draw.uniform(*TURNED_S))}  # fmt: skip
    else:
        sticks = {name: float(draw.uniform(-1.0, 1.0)) for name in STICKS}
        what = {"for": float(draw.uniform(*STICKS_S)), "sticks": sticks}
    return {"kind": kind, "at": at, **what}


def _harm(draw: Draw, at: float) -> Harm:
    """A pause of planner or estimator, or frames of a stranger at the bridge's socket."""
    which = draw.integers(3)
    if which == 0:
        return Harm(at, "pause", "planner", float(draw.uniform(*PLANNER_PAUSE_S)))
    if which == 1:
        return Harm(at, "pause", "estimator", float(draw.uniform(*ESTIMATOR_PAUSE_S)))
    return Harm(at, "stranger")


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


def _network(draw: Draw) -> dict[str, Any]:
    """Shares of frames lost, doubled, out of order and damaged."""
    shares = {name: float(draw.uniform(0.0, most)) for name, most in NETWORK.items()}
    return shares | {"seed": int(draw.integers(2**32))}


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
        way = math.atan2(-y, -x) - heading_of(q)
        error = math.remainder(way, 2.0 * math.pi)
        turn = min(TURN[1], max(TURN[0], TURN_GAIN * error))
        return command._replace(forward=SPEED * max(0.0, math.cos(error)), left=0.0, turn=turn)


def heading_of(q: NDArray[np.float64]) -> float:
    """Of the trunk in the world [rad]."""
    x, y, z, w = q[3:7]
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


STRANGER_FRAMES = 20  # of each kind


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
        self._command(self._steering.steer(self._at(running_s), listener.truth.q))
        harms = self._schedule.harms
        if self.harms < len(harms) and harms[self.harms].at <= running_s:
            self.harms += 1
            self._do(harms[self.harms - 1], supervisor)

    def _at(self, running_s: float) -> Command:
        """The command of a time."""
        commands = self._schedule.commands
        while self._next + 1 < len(commands) and commands[self._next + 1].at <= running_s:
            self._next += 1
        return commands[self._next]

    def _command(self, command: Command) -> None:
        self._sequence += 1
        self._publisher.send(CommandMessage(
            sequence=self._sequence, time=time.monotonic(), forward=command.forward,
            left=command.left, yaw_rate=command.turn, height=command.height, gait=command.gait,
        ))  # fmt: skip

    def _do(self, harm: Harm, supervisor: Supervisor) -> None:
        if harm.kind == "pause":
            pause_processes(supervisor, (harm.process,), harm.seconds)
        else:
            send_as_stranger(self._port, STRANGER_FRAMES)
