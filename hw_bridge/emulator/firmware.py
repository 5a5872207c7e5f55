"""The robot's firmware, as far as it is known: commands in, states out, 1 ms at a time."""

import math
from collections import Counter, deque
from typing import Literal, Protocol

import numpy as np
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
)
from hw_bridge.emulator.state_frame import StateFrame
from hw_bridge.wire.frame import frame_fault
from hw_bridge.wire.layout import JOINTS, LOW_LEVEL, wire_of
from hw_bridge.wire.low_command import LowCommand, read_low_command
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
        """Measurements of the sensors at this tick."""
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


# What the robot does with commands: it waits for the first one, obeys, brakes all motors, or is
# without power.
FirmwareState = Literal["waiting", "obeying", "protected", "off"]

TICK_S = 0.001  # [s]
TIMEOUT = 30  # ticks without a command after which the robot brakes all motors
RELEASE = 500  # ticks for which commands must be harmless before it obeys again; an assumption
ANSWERABLE = 4  # states of which a command that comes now may answer any: ticks, both ways


class CommandWatch:
    """Brakes after a gap in the commands, and lets go only when they have become harmless.

    Users report a gap of about 30 ms (yxyang/locomotion_simulation thread 5); motor mode 0x00 is
    called "electronic braking due to disconnection protection" in unitree_legged_sdk thread 54.
    That the robot does not go on by itself where it left off is an assumption, the cautious one:
    the law may be far from the pose by then.

    Attributes:
        state: what the robot does with commands.
        history: each change: time since the first command [s], state, cause.
    """

    def __init__(self) -> None:
        """Wait for the first command."""
        self.state: FirmwareState = "waiting"
        self.history: list[tuple[float, FirmwareState, str]] = []
        self._last = 0  # tick of the last command
        self._harmless_since: int | None = None

    def command(self, tick: int, asks: bool) -> None:
        """Take note of a command in `tick`."""
        gap, self._last = tick - self._last, tick
        if self.state == "waiting":
            self._enter(tick, "obeying", "the first command")
        if self.state != "protected":
            return
        if asks:
            self._harmless_since = None
        elif self._harmless_since is None or gap > TIMEOUT:
            self._harmless_since = tick
        elif tick - self._harmless_since >= RELEASE:
            self._enter(tick, "obeying", "harmless commands for long enough")

    def pass_tick(self, tick: int) -> None:
        """Look at the time without a command, at the end of `tick`."""
        if self.state == "obeying" and tick - self._last >= TIMEOUT:
            self._harmless_since = None
            self._enter(tick, "protected", "no command")

    def switch_off(self, tick: int) -> None:
        """The power is gone."""
        if self.state != "off":
            self._enter(tick, "off", "no power")

    def _enter(self, tick: int, state: FirmwareState, cause: str) -> None:
        self.state = state
        self.history.append((tick * TICK_S, state, cause))


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
        history: each change of state, see `CommandWatch`.
        is_cut: the cable is out, and no frame may pass.
        worst: largest values since the first command that asked for motion: ``torque_demand`` that
            a command's law gave a motor at the joints of a state that was sent in the last ticks,
            that which it fits best [N m]: so at what its sender could know, and motors may have
            given less; ``excursion`` of a joint beyond its range [rad], 0 if none was;
            ``temperature`` of a motor [deg C].
        clock_ms: the robot's clock in [ms], without the wrap.
        first_damping_at: when, since the last command that asked for motion, the first one came
            that asked for none [s].
        button_pressed_at: when the first state with a remote's button was ready [s].
    """

    def __init__(self, options: EmulatorOptions, robot: Robot, plant: Plant) -> None:
        """Wake up, silent, at tick 0."""
        self.plant, self.commands = plant, 0
        self.refused, self.notes = Counter[str](), Counter[str]()
        self.is_cut, self._legs = False, robot.legs
        self.worst = dict.fromkeys(("torque_demand", "excursion", "temperature"), 0.0)
        self.first_damping_at: float | None = None
        self.button_pressed_at: float | None = None
        self._options, self._header = options, options.header
        self._watch, self._thermal = CommandWatch(), Thermal()
        self.history = self._watch.history
        self._windows = [(*_window(event), event) for event in options.events]
        self._edges = {edge for first, last, _ in self._windows for edge in (first, last)}
        self._wire = wire_of(robot)
        self._drivers = MotorDrivers()
        self._frame = StateFrame(options, self._wire)
        self._jams, self._driven = Jams(), np.zeros(JOINTS)  # from outside [N m]
        self.clock_ms = self._tick = 0  # since the first command
        self._moved = self._pressed = False
        self._reading = plant.reading()
        self._encoders = Encoders(self._reading.joint_position, self._reading.joint_velocity)
        joints = self._encoders.q, self._encoders.dq
        net = options.network  # which may hold up states and commands
        late_s = net.jitter_s + (net.reorder_s if net.reorder else 0.0)
        self._told = deque([joints], ANSWERABLE + round(2.0 * late_s / TICK_S))  # last answers

    @property
    def state(self) -> FirmwareState:
        """The state of the robot, which decides about commands."""
        return self._watch.state

    @property
    def passive(self) -> bool:
        """Whether no motor is asked for a position or a torque."""
        return self.state == "off" or not asks_for_motion(self._drivers.rows)

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
        if self.state == "off":
            return []
        commands = [command for frame in frames if (command := self._believed(frame)) is not None]
        if self.state == "waiting" and not commands:
            return []
        if self._tick in self._edges:
            self._disturb()
        if self.state == "off":
            return []
        for command in commands:
            self._obey(command, now)
        self._watch.pass_tick(self._tick)
        protected = self.state == "protected"
        self._drivers.follow(self._thermal.shut_down, self._encoders, protected)
        return self._answers(len(commands), now)

    def advance(self) -> None:
        """Simulate 1 ms under the law that holds now."""
        self.clock_ms += 1
        if self.state == "waiting":
            self.plant.advance(None)
        else:
            self._tick += 1
            if self._jams:
                truth = self.plant.truth()
                self.plant.drive_joints(self._driven + self._jams.torque(truth.q[7:], truth.v[6:]))
            self.plant.advance(self._drivers.command(self.clock_ms, self.clock_ms * TICK_S))
        self._reading = reading = self.plant.reading()
        self._encoders.read(reading.joint_position, reading.joint_velocity, TICK_S)
        self._thermal.step(reading.joint_torque, TICK_S)
        if self._moved:
            q, legs = self.plant.truth().q[7:], self._legs
            self._note("excursion", np.maximum(legs.lower - q, q - legs.upper).max())
            self._note("temperature", self._thermal.temperature.max())

    def _believed(self, frame: bytes) -> LowCommand | None:
        """The command of a good frame; others are counted."""
        if fault := frame_fault(frame, self._wire.command.itemsize):
            self.refused[fault] += 1
            return None
        command = read_low_command(self._wire, frame)
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
        if asks:
            told = min(largest_torque(self._drivers.rows, *joints) for joints in self._told)
            self._note("torque_demand", told)
            self._moved, self.first_damping_at = True, None
        elif self._moved and self.first_damping_at is None:
            self.first_damping_at = now

    def _note(self, name: str, value: float) -> None:
        self.worst[name] = max(self.worst[name], float(value))

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
                    stuck[event.index] = True
                case StuckVelocity():
                    told_speed[event.index] = event.value
                case Jam():
                    jammed[event.index] = True
                case DriveJoint():
                    self._driven[event.index] += event.torque
                case Heat():
                    self._thermal.temperature[event.index] = event.temperature
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
        count = 1 if self._options.reply == "stream" else commands
        if not count:
            return []
        if self._pressed and self.button_pressed_at is None:
            self.button_pressed_at = now
        self._frame.set_motors(self._drivers.mode, self._thermal.shut_down)
        tick = round(self.clock_ms * TICK_S / self._options.tick_unit_s)
        encoders = self._encoders
        self._told.append((encoders.q, encoders.dq))
        frame = self._frame.write(
            self._reading, encoders.q, encoders.dq, encoders.ddq, self._thermal.temperature, tick
        )
        return [frame] * count


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
