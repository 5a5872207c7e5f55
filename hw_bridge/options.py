"""Options of the bridge to a robot; reading them loads no robot."""

from __future__ import annotations

import math
import socket
from ipaddress import IPv4Address, IPv4Interface
from typing import TYPE_CHECKING, Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.remote import BUTTONS
from robots.conventions import FALLEN_TILT
from runtime.options import Options, Range, positive

if TYPE_CHECKING:
    from robots.robot import Robot

Gait = Literal["stand", "walk", "trot", "bound", "auto"]
# Numbers above 0, up to what is accepted of most of their kind.
Moment = Annotated[float, positive("s", 1.0)]
Minute = Annotated[float, positive("s", 60.0)]
Hour = Annotated[float, positive("s", 3600.0)]
Stiffness = Annotated[float, positive("N m/rad", 1000.0)]
Damping = Annotated[float, positive("N m s/rad", 100.0)]
Speed = Annotated[float, positive("rad/s", 21.0)]
Input = Annotated[int, Range("-", 0, 255)]  # number of a gamepad's axis or button
Velocity = Annotated[float, Range("m/s", 0.0, 5.0)]
Port = Annotated[int, Range("-", 0, 65535)]
Domain = Annotated[int, Range("-", 0, 230)]
VelocityStep = Annotated[float, positive("m/s", 5.0)]
VelocityLimit = Annotated[float, positive("rad/s", 100.0)]
Power = Annotated[float, positive("W", 1000.0)]
Temperature = Annotated[float, positive("deg C", 80.0)]


class GamepadButtons(Options, frozen=True):
    """Numbers of a gamepad's buttons, from 0; `jstest DEVICE` shows them.

    The numbers set here are those of Linux's xpad driver (Documentation/input/gamepad.rst): 0 A,
    1 B, 2 X, 3 Y, 4 and 5 the shoulders, 6 back, 7 start.

    Attributes:
        stand_up: the button that stands the robot up.
        run: the button that has it run.
        sit_down: the button that sits it down.
        stop: any of these stops the robot.
    """

    stand_up: Input = 7
    run: Input = 0
    sit_down: Input = 2
    stop: tuple[Input, ...] = (1, 4, 5)

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        numbers = (self.stand_up, self.run, self.sit_down, *self.stop)
        if not self.stop:
            raise ValueError("stop is []; give one button or more")
        if len(set(numbers)) != len(numbers):
            raise ValueError("give each use a button of its own")


class OperatorOptions(Options, frozen=True):
    """The operator's means.

    Attributes:
        keyboard: keys on standard input: u stand up, r run, d sit down, space, x and Esc stop.
        gamepad: path of a Linux joystick device, such as /dev/input/js0; null: no gamepad.
        gamepad_buttons: what its buttons mean.
        remote_stop: buttons of the robot's remote that stop, each a set held together; R2 as in
            unitree_ros_real, L2 and B as in the robot's own controller.
        silence_s: how long, while the robot is up, terminal or gamepad may be silent; then the
            robot sits down.
        script: stand up and run without a request.
    """

    keyboard: bool = True
    gamepad: str | None = None
    gamepad_buttons: GamepadButtons = GamepadButtons()
    remote_stop: tuple[tuple[str, ...], ...] = (("R2",), ("L2", "B"))
    silence_s: Annotated[float, Range("s", 0.5, 10.0)] = 1.0
    script: bool = False

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        for together in self.remote_stop:
            if not together or not set(together) <= set(BUTTONS):
                raise ValueError(
                    f"remote_stop is {[list(each) for each in self.remote_stop]}; give sets of "
                    f"{', '.join(BUTTONS)}"
                )


class KeyOptions(Options, frozen=True):
    """Change by one press of a key.

    Attributes:
        forward: step of the speed forward, for each key press.
        left: step of the speed to the left.
        yaw_rate: step of the rate of turn.
        height: step of the trunk's height.
    """

    forward: VelocityStep = 0.1
    left: VelocityStep = 0.05
    yaw_rate: Annotated[float, positive("rad/s", 10.0)] = 0.2
    height: Annotated[float, positive("m", 1.0)] = 0.01


class StickOptions(Options, frozen=True):
    """Commands at full deflection of the sticks of a gamepad or of the remote.

    Attributes:
        forward: speed forward and back of a stick at its end.
        left: speed to either side of a stick at its end.
        yaw_rate: rate of turn of a stick at its end.
        dead_zone: share of a stick's way, from its middle, that asks for nothing.
        gait: one of stand, walk, trot, bound, or auto: chosen by speed.
    """

    forward: Velocity = 1.0
    left: Velocity = 0.3
    yaw_rate: Annotated[float, Range("rad/s", 0.0, 10.0)] = 1.0
    dead_zone: Annotated[float, Range("-", 0.0, 0.99)] = 0.1
    gait: Gait = "auto"


class GamepadOptions(Options, frozen=True):
    """Numbers of a gamepad's axes, from 0; `jstest DEVICE` shows them.

    The numbers set here are those of Linux's xpad driver: 0 and 1 the left stick, 2 the left
    trigger, 3 and 4 the right stick. Axes grow to the right and downwards.

    Attributes:
        forward: axis that asks for a speed forward.
        left: axis that asks for a speed to the left.
        turn: axis that asks for a rate of turn.
        dead_man_axis: a trigger; the robot moves only while it is pulled more than half.
        dead_man_button: a button in its place; not one that stops
            (`hardware.operator.gamepad_buttons`).
    """

    forward: Input = 1
    left: Input = 0
    turn: Input = 3
    dead_man_axis: Input | None = 2
    dead_man_button: Input | None = None

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        axes = [self.forward, self.left, self.turn]
        axes += [] if self.dead_man_axis is None else [self.dead_man_axis]
        if len(set(axes)) != len(axes):
            raise ValueError("give each use an axis of its own")
        if self.dead_man_axis is None and self.dead_man_button is None:
            raise ValueError("give dead_man_axis, dead_man_button, or both")


class SourceOptions(Options, frozen=True):
    """The devices that can drive; `drive.source` says which one does.

    Attributes:
        keys: of a keyboard.
        sticks: of the gamepad and of the robot's own remote.
        gamepad: its axes.
    """

    keys: KeyOptions = KeyOptions()
    sticks: StickOptions = StickOptions()
    gamepad: GamepadOptions = GamepadOptions()


LARGEST_TORQUE = 42.0  # [N m] of a limit: three of it fit the wire's torque field


class HardwareSafetyOptions(Options, frozen=True):
    """Limits of what is sent, and of what is measured before the robot is stopped.

    Beyond the upper ends of their ranges limits would no longer protect, or not fit the wire, whose
    torque field ends at 128 N m: a command's tau can reach three torque limits.

    The defaults leave a walking robot alone. Three simulated runs of 6 s at 1 kHz, commands of the
    tracker against the joints as measured: walks at 0.2 m/s pushed sideways by 1.5 m/s (left in one
    run, right in the other) and a trot at 0.4 m/s. The limits changed the torques of 39, 18 and
    none of the 6001 commands, by the slew or near the end of a joint's range; no measured sample
    was found fault with. With the limiter in the loop none fell.

    Of a command:

    Attributes:
        torque_limit: largest torque of a motor; null, and at most: the robot's own.
        torque_slew: how fast a motor's torque may change; other limits may take it away faster.
        velocity_limit: speed at which no torque drives a joint faster, and the fastest target;
            null, and at most: the no-load speed.
        motor_power: mechanical power of one motor; at most 352 W along an A1's torque curve that is
            flat up to half the no-load speed.
        total_power: power of all driven motors, sum of |torque x speed|; damping is not limited.
        kp_max: largest joint stiffness.
        kd_max: largest joint damping.
        command_age_max_s: age from which a command is not acted upon, and gap between two commands
            after which the robot is damped. The firmware is said to brake after about 30 ms
            (yxyang/locomotion_simulation thread 5).

    Of the measured state:

    Attributes:
        state_age_hold_s: age from which the joints are unknown: damped until a newer state comes.
        state_age_max_s: age at which the robot is damped.
        tilt_max: largest angle of the trunk's z axis to the vertical.
        excursion_max: how far a joint may be beyond its range; a motor further out is damped at
            once.
        velocity_stop: largest speed of a joint; null: 10/7 of the no-load speed of the fastest
            motor.
        power_stop: sum of |estimated torque x speed|, as the vendor's PowerProtect at its highest
            level.
        temperature_warn: temperature of a motor from which a warning is given.
        temperature_stop: temperature of a motor at which the robot sits down; 5 deg C more and it
            is damped. The firmware is said to stop a motor at 60 deg C
            (ikostrikov/walk_in_the_park).
        jam_torque: torque from which a motor must move its joint. A stand takes 12 N m; standing up
            pushes by up to 16 N m more.
    """

    torque_limit: Annotated[float, positive("N m", LARGEST_TORQUE)] | None = None
    torque_slew: Annotated[float, positive("N m/s", 1e9)] = 20_000.0
    velocity_limit: VelocityLimit | None = None
    motor_power: Power = 400.0
    total_power: Power = 800.0
    kp_max: Stiffness = 300.0
    kd_max: Damping = 10.0
    command_age_max_s: Moment = 0.03
    state_age_hold_s: Moment = 0.02
    state_age_max_s: Moment = 0.1
    tilt_max: Annotated[float, positive("rad", math.pi)] = FALLEN_TILT
    excursion_max: Annotated[float, positive("rad", 0.5)] = 0.1
    velocity_stop: VelocityLimit | None = None
    power_stop: Annotated[float, positive("W", 2000.0)] = 1000.0
    temperature_warn: Temperature = 50.0
    temperature_stop: Temperature = 60.0
    jam_torque: Annotated[float, positive("N m", 100.0)] = 20.0

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        _check_order(self, "state_age_hold_s", "state_age_max_s")
        _check_order(self, "temperature_warn", "temperature_stop")
        if self.velocity_limit is not None and self.velocity_stop is not None:
            _check_order(self, "velocity_limit", "velocity_stop")


def _check_order(options: Options, less: str, more: str) -> None:
    low, high = getattr(options, less), getattr(options, more)
    if low >= high:
        raise ValueError(f"{less} is {low:g}; give less than {more}, {high:g}")


def motor_limits(
    options: HardwareSafetyOptions, robot: Robot
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest torques (12) [N m] and speeds (12) [rad/s] of a robot's motors under these options.

    Raises:
        ValueError: an option allows more than the robot bears; the message names its key.
    """
    torque = _lower_of("torque_limit", options.torque_limit, robot.torque_limit, "N m")
    velocity = _lower_of("velocity_limit", options.velocity_limit, robot.velocity_limit, "rad/s")
    stop, fastest = velocity_stop(options, robot), velocity.max()
    if fastest >= stop:
        raise ValueError(
            f"velocity_stop is {stop:g}; give more than velocity_limit, {fastest:g} rad/s"
        )
    return np.minimum(torque, LARGEST_TORQUE), velocity


def velocity_stop(options: HardwareSafetyOptions, robot: Robot) -> float:
    """Largest speed of a joint [rad/s]."""
    own = 10.0 * float(robot.velocity_limit.max()) / 7.0
    return own if options.velocity_stop is None else options.velocity_stop


def _lower_of(
    key: str, option: float | None, own: NDArray[np.float64], unit: str
) -> NDArray[np.float64]:
    """An option where it is lower than the motors' own limits (12); where it is None, those."""
    if option is None:
        return own
    if option > own.max():
        raise ValueError(f"{key} is {option:g}; give up to the robot's own, {own.max():g} {unit}")
    return np.minimum(option, own)


class MotionOptions(Options, frozen=True):
    """The bridge's own motions.

    Attributes:
        joint_speed: fastest joint while standing up and sitting down.
        recover_speed: fastest joint on the way from a walk's pose to the stand.
        load_s: time in which the legs take or give the robot's weight.
        kp: joint stiffness of the motions. The vendor's examples and users of the A1 have 80 to 100
            (yxyang/fast_and_efficient: kp 100, kd 1 to 2).
        kd: joint damping of the motions.
        damping_kd: damping of joints in the state damping; the stand sinks at about 1 rad/s under
            5.
        damping_s: length of the first damping; time that all joints must be still before the last
            one ends.
        damping_timeout_s: the last damping ends after this even if a joint still moves.
        settle_s: how long a robot must stand near the stand, and still, before it is ready.
        end_timeout_s: longest walk of a robot that is to sit down, until its trunk is level.
        sit_down_timeout_s: how long sitting down may take as a whole.
    """

    joint_speed: Speed = 1.0
    recover_speed: Speed = 3.0
    load_s: Minute = 0.5
    kp: Stiffness = 100.0
    kd: Damping = 3.0
    damping_kd: Damping = 5.0
    damping_s: Hour = 1.0
    damping_timeout_s: Hour = 5.0
    settle_s: Minute = 0.3
    end_timeout_s: Minute = 1.5
    sit_down_timeout_s: Hour = 12.0

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        _check_order(self, "damping_s", "damping_timeout_s")


AUTO: Final = "auto"
SUBNET_BITS: Final = 24  # the robot's network is 192.168.123.0/24
SPARE_HOST: Final = 222  # in the remedy: an address that no computer of the robot has


class LinkOptions(Options, frozen=True):
    """Addresses of the robot and of this machine, IPv4, in numbers.

    The defaults are those of unitree_legged_sdk v3.3.1 udp.h, but for one: the vendor's library
    listens on all interfaces, and this does not unless `local_address` is written as 0.0.0.0.

    Attributes:
        robot_address: address of the robot's low-level controller.
        robot_port: the port that it listens on.
        local_address: what to listen on; ``auto`` is the address that faces the robot.
        local_port: the port to listen on; 0 takes a free one.
        domain: domain of DDS, for a robot that speaks it.
        take_over: `refuse` does not start while the built-in controller of such a robot runs;
            `release` switches it off under a robot whose knees are folded.
    """

    robot_address: str = "192.168.123.10"
    robot_port: Annotated[int, Range("-", 1, 65535)] = 8007
    local_address: str = AUTO
    local_port: Port = 8080
    domain: Domain = 0
    take_over: Literal["refuse", "release"] = "refuse"

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        robot = ipv4_address("robot_address", self.robot_address, "such as 192.168.123.10")
        if robot.is_unspecified or robot.is_multicast or int(robot) == 0xFFFFFFFF:
            raise ValueError(f"robot_address is {robot}; give that of one machine")
        if self.local_address != AUTO:
            ipv4_address("local_address", self.local_address, f"or {AUTO!r}")

    @property
    def robot(self) -> tuple[str, int]:
        """Address and port of the robot, as the kernel names a sender."""
        return str(IPv4Address(self.robot_address)), self.robot_port

    @property
    def local(self) -> tuple[str, int]:
        """Address and port to listen on.

        Raises:
            ValueError: ``auto``, and this machine has no address in the robot's network.
        """
        if self.local_address != AUTO:
            return str(IPv4Address(self.local_address)), self.local_port
        return _facing(self.robot), self.local_port


def ipv4_address(option: str, text: str, accepted: str) -> IPv4Address:
    """The address that an option names. Raises ValueError, which says what else is `accepted`."""
    try:
        return IPv4Address(text)
    except ValueError:
        raise ValueError(
            f"{option} is {text!r}; give an IPv4 address in numbers, {accepted}"
        ) from None


def _facing(robot: tuple[str, int]) -> str:
    """The address of the interface that routes to the robot; one of the robot's own network."""
    network = IPv4Interface(f"{robot[0]}/{SUBNET_BITS}").network
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(robot)  # sends nothing: the kernel looks up its routes
            ours = IPv4Address(probe.getsockname()[0])
        found = f"packets to it would leave from {ours}"
    except OSError as error:
        ours, found = None, f"there is no route to it: {error.strerror}"
    if ours is not None and (ours.is_loopback or ours in network):
        return str(ours)
    raise ValueError(
        f"link: no address of this machine is in {network}, the network of the robot at {robot[0]} "
        f"({found}); plug the cable in and run `sudo ip address add "
        f"{network[SPARE_HOST]}/{SUBNET_BITS} dev INTERFACE`, or set local_address"
    )


class SensingOptions(Options, frozen=True):
    """Calibration of the foot sensors: force = foot_force_scale (counts - foot_force_offset).

    The vendor publishes neither number. Robots that hang in the air show offsets of tens of counts,
    different at each foot.

    Attributes:
        foot_force_scale: force that one count stands for.
        foot_force_offset: what each foot shows without load, FR, FL, RR, RL.
    """

    foot_force_scale: Annotated[float, positive("N/count", 1000.0)] = 1.0
    foot_force_offset: Annotated[
        tuple[float, float, float, float], Range("counts", -(2**15), 2**15 - 1)
    ] = (0.0, 0.0, 0.0, 0.0)


class BlackBoxOptions(Options, frozen=True):
    """The ring in which the frames and logs of all launches on a robot are kept.

    Attributes:
        folder: folder of its files. null: ``runs/black_box``, and of an emulated robot
            ``black_box`` in the folder of the run.
        size_mb: most room for the files; the oldest go first.
    """

    folder: str | None = None
    size_mb: Annotated[int, Range("MB", 16, 1_000_000)] = 2000


# full: the robot moves; dry_run: all runs, the wire carries no torque; read_only: nothing but reads
Mode = Literal["full", "dry_run", "read_only"]
LimitProfile = Literal["first_run", "full"]


class HardwareOptions(Options, frozen=True):
    """The bridge to a real or emulated robot.

    Attributes:
        mode: `dry_run` runs the whole stack and sends no torque; `read_only` reads and prints.
        link: addresses.
        tick_unit_s: length of the robot's tick; microseconds in the vendor's header, milliseconds
            in working drivers: `saltus doctor a1` measures it.
        motions: whether a real robot may do motions that are no gait, such as a flip
            (docs/hardware.md).
        limits: `first_run` lowers limits of torque, slew, speed, power and commands; `full` leaves
            them as configured. null: first_run on a real robot, full on an emulated one.
        without_doctor: a real robot moves without a pass of `saltus doctor`; only typing so in the
            terminal sets it.
        send_every: ticks of 1 ms from one command on the wire to the next.
        connect_timeout_s: how long to wait for the first good frame.
        stand_down_patience_s: time without a plan after which the robot sits down and ends.
        sensing: calibration of the foot sensors.
        safety: limits, last before the wire.
        motion: standing up and sitting down.
        operator: keyboard, gamepad, remote and script.
        black_box: where frames and logs are kept.
    """

    mode: Mode = "full"
    link: LinkOptions = LinkOptions()
    tick_unit_s: Annotated[float, Range("s", 1e-7, 1.0)] = 1e-3
    motions: bool = False
    limits: LimitProfile | None = None
    without_doctor: bool = False
    send_every: Annotated[int, Range("ticks", 1, 10)] = 1
    connect_timeout_s: Annotated[float, positive("s", 86_400.0)] = 5.0
    stand_down_patience_s: Annotated[float, Range("s", 0.0, 86_400.0)] = 1.0
    sensing: SensingOptions = SensingOptions()
    safety: HardwareSafetyOptions = HardwareSafetyOptions()
    motion: MotionOptions = MotionOptions()
    operator: OperatorOptions = OperatorOptions()
    black_box: BlackBoxOptions = BlackBoxOptions()
