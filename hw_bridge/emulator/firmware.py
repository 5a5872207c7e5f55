"""The robot's firmware, as far as it is known: commands in, states out, 1 ms at a time."""

import math
from collections import Counter, deque
from enum import StrEnum
from typing import Literal, Protocol

import msgspec
import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.emulator.motors import (
    Encoders,
    Jams,
    MotorDrivers,
    Thermal,
    asks_for_motion,
    largest_torque,
)
from hw_bridge.emulator.options import (
    Cut,
    DriveJoint,
    EmulatorOptions,
    Event,
    Heat,
    Jam,
    PowerCut,
    RemoteHold,
    StuckEncoder,
    StuckVelocity,
    VelocityPush,
    motor_index,
)
from hw_bridge.emulator.state_frame import StateFrame
from hw_bridge.wire.frame import WireError
from hw_bridge.wire.layout import JOINTS, LOW_LEVEL, wire_of
from hw_bridge.wire.low_command import LowCommand, decode_low_command
from robots.conventions import FALLEN_TILT
from robots.robot import Robot
from robots.rotations import tilt_of
from runtime.messages import GroundTruth, MotorCommand, SensorReading

Array = NDArray[np.float64]


class Plant(Protocol):
    """The simulated body, in ticks of 1 ms; its motors run their law on their own encoders.

    How often within a tick they do is the plant's: a physics step of 0.1 ms gives the 10 kHz of
    the A1's motor drivers (unitree_legged_sdk thread 98), and any delay of its input is its own.
    """

    def reading(self, stamp: float | None = None) -> SensorReading:
        """What the sensors say at this tick."""
        ...

    def truth(self, stamp: float | None = None) -> GroundTruth:
        """The true state at this tick."""
        ...

    def advance(self, command: MotorCommand | None) -> None:
        """Simulate one tick, with a new command or (None) the last one."""
        ...

    def drive_joints(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        ...

    def block_motors(self, blocked: bool) -> None:
        """Take the motors' torque away at once, or give it back."""
        ...

    def add_base_velocity(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, at once."""
        ...


class FirmwareState(StrEnum):
    """What the robot does with commands."""

    WAITING = "waiting"  # for the first one
    OBEYING = "obeying"
    PROTECTED = "protected"  # brakes all motors
    OFF = "off"  # without power


class CommandWatch:
    """Brakes after a gap in the commands, and lets go only when they have become harmless.

    Users report a gap of about 30 ms (yxyang/locomotion_simulation thread 5); motor mode 0x00 is
    called "electronic braking due to disconnection protection" in unitree_legged_sdk thread 54.
    That the robot does not go on by itself where it left off is an assumption, the cautious one:
    the law may be far from the pose by then.

    Attributes:
        state: what the robot does with commands.
        history: each change: tick since the first command, state, cause.
    """

    def __init__(self, timeout_ticks: int, release_ticks: int) -> None:
        """Wait for the first command."""
        self.state = FirmwareState.WAITING
        self.history: list[tuple[int, FirmwareState, str]] = []
        self._timeout, self._release = timeout_ticks, release_ticks
        self._last = 0  # tick of the last command
        self._harmless_since: int | None = None

    def command(self, tick: int, asks: bool) -> None:
        """Take note of a command in `tick`."""
        gap, self._last = tick - self._last, tick
        if self.state is FirmwareState.WAITING:
            self._enter(tick, FirmwareState.OBEYING, "the first command")
        if self.state is not FirmwareState.PROTECTED:
            return
        if asks:
            self._harmless_since = None
        elif self._harmless_since is None or gap > self._timeout:
            self._harmless_since = tick
        elif tick - self._harmless_since >= self._release:
            self._enter(tick, FirmwareState.OBEYING, "harmless commands for long enough")

    def pass_tick(self, tick: int) -> None:
        """Look at the time without a command, at the end of `tick`."""
        if self.state is FirmwareState.OBEYING and tick - self._last >= self._timeout:
            self._harmless_since = None
            self._enter(tick, FirmwareState.PROTECTED, "no command")

    def switch_off(self, tick: int) -> None:
        """The power is gone."""
        if self.state is not FirmwareState.OFF:
            self._enter(tick, FirmwareState.OFF, "no power")

    def _enter(self, tick: int, state: FirmwareState, cause: str) -> None:
        self.state = state
        self.history.append((tick, state, cause))


TICK_S = 0.001  # [s]
ANSWERABLE = 4  # states of which a command that comes now may answer any: ticks, both ways


def _window(event: Event) -> tuple[int, float]:
    """The ticks [first, last) of an event."""
    first = round(event.at / TICK_S)
    if isinstance(event, StuckEncoder | StuckVelocity | Jam | PowerCut):
        return first, math.inf
    if isinstance(event, Cut | DriveJoint | RemoteHold):
        return first, first + max(1, round(event.duration / TICK_S))
    return first, first + 1


class Firmware:
    """A core: no socket, no clock. One tick is `receive`, then `advance`.

    Until the first command it sends nothing and leaves the plant at its start. Then it obeys, with
    a protection against lost commands (`CommandWatch`) and against heat (`Thermal`).

    Attributes:
        plant: the robot's body.
        commands: frames that were believed.
        refused: frames that were not, by reason: length, crc, level (not low-level).
        notes: of believed ones: not_finite (motors), header (another than the robot's).
        is_cut: the cable is out, and no frame may pass.
        worst: since the first command that asked for motion.
        first_damping_at: when, since the last command that asked for motion, the first one came
            that asked for none [s].
        button_pressed_at: when the first state with a remote's button was ready [s].
    """

    def __init__(self, options: EmulatorOptions, robot: Robot, plant: Plant) -> None:
        """Wake up, silent, at tick 0."""
        self.plant, self.commands = plant, 0
        self.refused, self.notes = Counter[str](), Counter[str]()
        self.is_cut, self.worst = False, WorstWatch(robot)
        self.first_damping_at: float | None = None
        self.button_pressed_at: float | None = None
        self._options, self._header = options, options.header
        self._watch = CommandWatch(
            round(options.command_timeout_s / TICK_S), round(options.release_s / TICK_S)
        )
        self._reply_every = max(1, round(1.0 / options.stream_hz / TICK_S))
        self._thermal = Thermal(options.thermal)
        self._windows = [(*_window(event), event) for event in options.events]
        self._edges = {edge for first, last, _ in self._windows for edge in (first, last)}
        self._wire = wire_of(robot)
        self._drivers = MotorDrivers(options.brake_kd)
        self._frame = StateFrame(options, self._wire)
        self._jams, self._driven = Jams(), np.zeros(JOINTS)  # from outside [N m]
        self._ticks = self._tick = 0  # since the start; since the first command
        self._moved = self._pressed = False
        self._reading, self._truth = plant.reading(), plant.truth()
        self._encoders = Encoders(self._reading.joint_position, self._reading.joint_velocity)
        joints = self._encoders.q, self._encoders.dq
        net = options.network  # which may hold up states and commands
        late_s = net.jitter_s + (net.reorder_s if net.reorder else 0.0)
        self._told = deque([joints], ANSWERABLE + round(2.0 * late_s / TICK_S))  # last answers

    @property
    def state(self) -> FirmwareState:
        """What the robot does with commands."""
        return self._watch.state

    @property
    def history(self) -> list[tuple[float, str, str]]:
        """Each change of state: time since the first command [s], state, cause."""
        return [(tick * TICK_S, state.value, cause) for tick, state, cause in self._watch.history]

    @property
    def passive(self) -> bool:
        """Whether no motor is asked for a position or a torque."""
        return self.state is FirmwareState.OFF or not asks_for_motion(self._drivers.rows)

    @property
    def clock_ms(self) -> int:
        """The robot's clock, as its states tell it, in [ms] and without the wrap."""
        first_ms = self._options.first_tick * self._options.tick_unit_s / TICK_S
        return round(first_ms) + self._ticks

    def skip(self, ticks: int) -> None:
        """Advance the robot's clock by `ticks` of 1 ms without simulating its body."""
        self._ticks += ticks

    def tick(self, frames: list[bytes], now: float = 0.0) -> list[bytes]:
        """Run one tick: take LowCmd frames, return LowState frames."""
        replies = self.receive(frames, now)
        self.advance()
        return replies

    def receive(self, frames: list[bytes], now: float = 0.0) -> list[bytes]:
        """Take the frames of this tick, at `now` [s]; return the robot's answers.

        Of several commands the last one counts. Answers carry the state of this tick. Raises
        nothing for what a frame holds.
        """
        if self.state is FirmwareState.OFF:
            return []
        commands = [command for frame in frames if (command := self._believed(frame)) is not None]
        if self.state is FirmwareState.WAITING and not commands:
            return []
        if self._tick in self._edges:
            self._disturb()
        if self.state is FirmwareState.OFF:
            return []
        for command in commands:
            self._obey(command, now)
        self._watch.pass_tick(self._tick)
        protected = self.state is FirmwareState.PROTECTED
        self._drivers.follow(self._thermal.shut_down, self._encoders, protected)
        return self._answers(len(commands), now)

    def advance(self) -> None:
        """Simulate 1 ms under the law that holds now."""
        self._ticks += 1
        if self.state is FirmwareState.WAITING:
            self.plant.advance(None)
        else:
            self._tick += 1
            if self._jams:
                truth = self.plant.truth()
                self.plant.drive_joints(self._driven + self._jams.torque(truth.q[7:], truth.v[6:]))
            self.plant.advance(self._drivers.command(self._ticks, self._ticks * TICK_S))
        self._reading = reading = self.plant.reading()
        self._encoders.read(reading.joint_position, reading.joint_velocity, TICK_S)
        self._thermal.step(reading.joint_torque, TICK_S)
        if self._moved:
            truth = self._truth = self.plant.truth()
            self.worst.note(truth.q, truth.v, reading.joint_torque, self._thermal.temperature)

    def _believed(self, frame: bytes) -> LowCommand | None:
        """The command of a good frame; others are counted."""
        try:
            command = decode_low_command(self._wire, frame)
        except WireError as error:
            self.refused[error.fault.value] += 1
            return None
        if command.header.level_flag != LOW_LEVEL:
            self.refused["level"] += 1
            return None
        self.commands += 1
        self.notes["header"] += command.header != self._header
        return command

    def _obey(self, command: LowCommand, now: float) -> None:
        self.notes["not_finite"] += self._drivers.take(command)
        asks = asks_for_motion(self._drivers.rows)
        self._watch.command(self._tick, asks)
        if asks and not self._moved:
            self._moved, self._truth = True, self.plant.truth()
        if asks:
            rows, truth = self._drivers.rows, self._truth
            told = min(largest_torque(rows, *joints) for joints in self._told)
            self.worst.note_demand(told, largest_torque(rows, truth.q[7:], truth.v[6:]))
            self.first_damping_at = None
        elif self._moved and self.first_damping_at is None:
            self.first_damping_at = now

    def _disturb(self) -> None:
        """Do what begins or ends at this tick; events that overlap add up."""
        active = [event for first, last, event in self._windows if first <= self._tick < last]
        stuck, jammed = np.zeros((2, JOINTS), np.bool_)
        told_speed, push = np.full(JOINTS, np.nan), np.zeros(3)
        buttons, sticks = frozenset[str](), dict[str, float]()
        self._driven, self.is_cut = np.zeros(JOINTS), False
        for event in active:
            match event:
                case StuckEncoder():
                    stuck[motor_index(event.motor)] = True
                case StuckVelocity():
                    told_speed[motor_index(event.motor)] = event.value
                case Jam():
                    jammed[motor_index(event.motor)] = True
                case DriveJoint():
                    self._driven[motor_index(event.motor)] += event.torque
                case Heat():
                    self._thermal.temperature[motor_index(event.motor)] = event.temperature
                case RemoteHold():  # of a stick held twice, the later event's way
                    buttons, sticks = buttons.union(event.buttons), sticks | event.sticks
                case VelocityPush():
                    push += event.value
                case Cut():
                    self.is_cut = True
                case PowerCut():
                    self.plant.block_motors(True)
                    self._watch.switch_off(self._tick)
        self._pressed = bool(buttons)
        self._encoders.stick(stuck, told_speed)
        self._jams.jam(jammed, self.plant.truth().q[7:])
        self._frame.hold_remote(buttons, sticks)
        self.plant.drive_joints(self._driven)
        if push.any():
            self.plant.add_base_velocity(push)

    def _answers(self, commands: int, now: float) -> list[bytes]:
        """This tick's state, as often as it is due."""
        if self._options.reply == "stream":
            count = int(self._tick % self._reply_every == 0)
        else:
            count = commands
        if not count:
            return []
        if self._pressed and self.button_pressed_at is None:
            self.button_pressed_at = now
        self._frame.set_motors(self._drivers.mode, self._thermal.shut_down)
        tick = self._options.first_tick + round(self._ticks * TICK_S / self._options.tick_unit_s)
        encoders = self._encoders
        self._told.append((encoders.q, encoders.dq))
        frame = self._frame.write(
            self._reading, encoders.q, encoders.dq, encoders.ddq, self._thermal.temperature, tick
        )
        return [frame] * count


class WorstValues(msgspec.Struct, frozen=True):
    """The largest values since the first command that asked for motion.

    Attributes:
        torque_demand: that a command's law gave a motor at the joints of a state that was sent in
            the last ticks, that which it fits best [N m]: so at what its sender could know; the
            motors may have given less.
        torque_demand_true: the same at the true joints of the tick in which it came [N m].
        excursion: of a joint beyond its range [rad], 0 if none was.
        speed: of a joint [rad/s].
        power: sum over the motors of |torque x speed| [W].
        temperature: of a motor [deg C].
        tilt: of the trunk from upright [rad].
    """

    torque_demand: float = 0.0
    torque_demand_true: float = 0.0
    excursion: float = 0.0
    speed: float = 0.0
    power: float = 0.0
    temperature: float = 0.0
    tilt: float = 0.0


class WorstWatch:
    """Keeps the largest values."""

    def __init__(self, robot: Robot) -> None:
        """Compile what is compiled; nothing seen yet."""
        self._lower, self._upper = robot.legs.lower, robot.legs.upper
        self._worst = np.zeros(7)
        self.note(np.zeros(19), np.zeros(18), np.zeros(12), np.zeros(12))
        tilt_of(np.zeros(4))
        self._worst[:] = 0.0

    def note_demand(self, told: float, true: float) -> None:
        """A command's law gave at most these torques [N m], at measured and at true joints."""
        self._worst[0] = max(self._worst[0], told)
        self._worst[1] = max(self._worst[1], true)

    def note(self, q: Array, v: Array, torque: Array, temperature: Array) -> None:
        """See one tick: q (19), v (18), torques and temperatures (12)."""
        _note(q, v, torque, temperature, self._lower, self._upper, self._worst)

    def values(self) -> WorstValues:
        """What the worst has been."""
        return WorstValues(*self._worst.tolist())


@njit(cache=True)
def _note(
    q: Array, v: Array, torque: Array, temperature: Array, lower: Array, upper: Array, worst: Array
) -> None:
    power = 0.0
    for i in range(12):
        worst[2] = max(worst[2], lower[i] - q[7 + i], q[7 + i] - upper[i])
        worst[3] = max(worst[3], abs(v[6 + i]))
        worst[5] = max(worst[5], temperature[i])
        power += abs(torque[i] * v[6 + i])
    worst[4] = max(worst[4], power)
    worst[6] = max(worst[6], tilt_of(q[3:7]))


Posture = Literal["standing", "lying", "fallen", "moving"]

STILL = 0.05  # [rad/s] and [m/s], below which nothing moves
_UP = 0.6  # of the stand's height, over which the trunk is carried


def is_still(truth: GroundTruth) -> bool:
    """Whether base and joints are at rest; false for a state that is not finite."""
    return bool(np.abs(truth.v).max() < STILL)


def posture_of(truth: GroundTruth, stand_height: float) -> Posture:
    """Fallen past 60 degrees of tilt, on its feet, on its belly, or still on the way."""
    if not tilt_of(truth.q[3:7]) < FALLEN_TILT:
        return "fallen"
    if not is_still(truth):
        return "moving"
    is_up = truth.q[2] > _UP * stand_height
    stands = is_up and truth.contact.sum() >= 3.0 and not truth.trunk_contact
    return "standing" if stands else "lying"
