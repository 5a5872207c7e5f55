"""Everything that can be chosen about the simulated robot, its world and its physics."""

import math
from random import Random
from typing import Annotated, Literal, Self

import msgspec

from robots.planar_pose import PlanarPose
from runtime.options import Options, Range, positive
from sim_bridge.perturbation_script import TICK

Wait = Annotated[float, positive("s", 86_400.0)]
Angle = Annotated[float, Range("rad", 0.0, 1.0)]
Rate = Annotated[float, Range("rad/s", 0.0, 10.0)]
Acceleration = Annotated[float, Range("m/s^2", 0.0, 100.0)]
Force = Annotated[float, Range("N", 0.0, 1000.0)]
# Where servers answer unless told otherwise: ours, and Isaac Gym's.
SERVER_ADDRESS = "tcp://127.0.0.1:46200"
ISAAC_GYM_ADDRESS = "tcp://127.0.0.1:46210"


class WarpOptions(Options, frozen=True):
    """MuJoCo Warp.

    Attributes:
        device: "auto" (the first CUDA device, or the CPU), "cpu", or a device of Warp's such as
            "cuda:1".
        deterministic: sums in a fixed order on a GPU. MuJoCo Warp 4.0 does not order contacts yet:
            last digits may still differ.
    """

    device: str = "auto"
    deterministic: bool = False


class ServerOptions(Options, frozen=True):
    """Address of a physics server, and the time to wait for it.

    Attributes:
        address: where the server answers; on another machine it needs `key_file`.
        key_file: file of the server's public key, made by `saltus serve --key-file`; empty on
            loopback.
        patience: how long an answer is waited for; then the run ends.
    """

    address: str = SERVER_ADDRESS
    key_file: str = ""
    patience: Wait = 30.0

    def check(self) -> None:
        """Raise ValueError for times out of range and for what is no address."""
        if not self.address.startswith(("tcp://", "ipc://")):
            raise ValueError(f"address is {self.address!r}; give tcp://HOST:PORT or ipc://FILE")


class RolloutServerOptions(ServerOptions, frozen=True):
    """Address of a server of rollouts, and the time after which the local physics is asked.

    Attributes:
        patience: time in lock step, and before the first answer, after which the local physics is
            asked.
        timeout: the same in real time.
        retry: time from one look for a lost server to the next.
    """

    timeout: Wait = 0.03
    retry: Wait = 0.5


class IsaacGymOptions(RolloutServerOptions, frozen=True):
    """The same of Isaac Gym's server, which has a port of its own."""

    address: str = ISAAC_GYM_ADDRESS


class MotorOptions(Options, frozen=True):
    """Limits of every motor, at the joint; the robot's own where they are left out.

    Attributes:
        torque_limit: largest torque.
        no_load_speed: speed at which no accelerating torque is left.
        corner_speed: speed up to which the full torque is there.
    """

    torque_limit: Annotated[float, positive("N m", 1000.0)] | None = None
    no_load_speed: Annotated[float, positive("rad/s", 1000.0)] | None = None
    corner_speed: Annotated[float, Range("rad/s", 0.0, 1000.0)] | None = None

    def check(self) -> None:
        """Raise ValueError for limits that make no curve."""
        corner, no_load = self.corner_speed, self.no_load_speed
        if corner is not None and no_load is not None and corner >= no_load:
            raise ValueError(
                f"corner_speed is {corner:g}; give less than no_load_speed, {no_load:g} rad/s"
            )


class SensorOptions(Options, frozen=True):
    """Standard deviations of the sensors' errors; biases are drawn once, noise at every tick.

    Unitree publishes none of these numbers; they are assumptions. The inertial ones are typical of
    MEMS units at 1 kHz, the encoder's quantum is 14 bits a motor turn over the gear of 9.1.

    Attributes:
        noise: factor on every error below; 0 or false gives perfect sensors.
        orientation_noise: error of the attitude, each tick.
        orientation_bias: constant tilt and heading error of the attitude.
        yaw_drift: rate at which the heading turns away; a value, not a deviation.
        gyro_noise: error of the angular velocity, each tick.
        gyro_bias: error of the angular velocity, constant.
        accelerometer_noise: error of the acceleration, each tick.
        accelerometer_bias: error of the acceleration, constant.
        accelerometer_range: readings are cut at plus and minus this (16 g), noise or not.
        joint_position_noise: error of a joint's angle, each tick.
        joint_position_quantum: step of the encoder.
        joint_velocity_noise: error of a joint's velocity, each tick.
        joint_torque_noise: error of a joint's torque, each tick.
        foot_force_noise: error of a foot's force, each tick.
        foot_force_offset: error of a foot's force, constant.
    """

    noise: Annotated[float, Range("-", 0.0, 1000.0)] | bool = 1.0
    orientation_noise: Angle = 0.0005
    orientation_bias: Angle = 0.003
    yaw_drift: Annotated[float, Range("rad/s", -10.0, 10.0)] = 0.0
    gyro_noise: Rate = 0.005
    gyro_bias: Rate = 0.002
    accelerometer_noise: Acceleration = 0.05
    accelerometer_bias: Acceleration = 0.03
    accelerometer_range: Annotated[float, Range("m/s^2", 0.0, 10_000.0)] = 157.0
    joint_position_noise: Angle = 0.0002
    joint_position_quantum: Angle = 2.0 * math.pi / 2**14 / 9.1
    joint_velocity_noise: Annotated[float, Range("rad/s", 0.0, 100.0)] = 0.03
    joint_torque_noise: Annotated[float, Range("N m", 0.0, 100.0)] = 0.2
    foot_force_noise: Force = 2.0
    foot_force_offset: Force = 4.0


# Addresses of servers where none is given.
ENGINES = {"mujoco": "", "remote": SERVER_ADDRESS, "isaacgym": ISAAC_GYM_ADDRESS}


class PhysicsServerOptions(ServerOptions, frozen=True):
    """Address of a server of the robot's physics, and the time to wait for it.

    Attributes:
        address: where the server answers; empty: the engine's usual one here.
    """

    address: str = ""

    def check(self) -> None:
        """As `ServerOptions`, but for an empty address, which the engine completes."""
        if self.address:
            super().check()


class StartOptions(Options, frozen=True):
    """Start of the simulated robot, in the world of its IMU.

    Terrain, perturbations and commands are seen from there.

    Attributes:
        posture: stand, or on the belly with limp motors: folded (legs under the body) or sprawled.
        heading: heading of the trunk; null draws one from the seed.
        position: place on the ground, x and y; null draws one within 1 km of the origin.
    """

    posture: Literal["stand", "folded", "sprawled"] = "stand"
    heading: Annotated[float, Range("rad", -math.pi, math.pi)] | None = None
    position: Annotated[tuple[float, float], Range("m", -1e6, 1e6)] | None = None

    @property
    def pose(self) -> PlanarPose:
        """Pose of the robot, in the world; 0 where none was given or drawn."""
        return PlanarPose(*(self.position or (0.0, 0.0)), self.heading or 0.0)

    def drawn(self, *seeds: int) -> Self:
        """The start with what is null drawn; equal seeds give equal starts."""
        draw = Random(repr(seeds))
        heading, x, y = (round(draw.uniform(-most, most), 3) for most in (3.14, 1e3, 1e3))
        return msgspec.structs.replace(
            self, heading=heading if self.heading is None else self.heading,
            position=self.position or (x, y),
        )  # fmt: skip


class SimulationOptions(Options, frozen=True):
    """The simulated robot's physics, world and hardware.

    Attributes:
        timestep: physics step; a whole number of them makes 1 ms.
        seed: draws the start and the sensors' noise.
        input_delay: time between a command and the motors acting on it.
        friction: sliding friction coefficient between the robot and the floor.
        payload_mass: mass added at the trunk's centre of mass.
        mass_scale: factor on every mass and inertia of the robot (before the payload).
        floor_slope: angle of the floor, uphill along world x.
        start: how and where the robot starts.
        engine: whose physics it is: in this process, of `saltus serve`, or of Isaac Gym.
        server: where the physics of the last two answers; of its times, patience alone counts.
        motors: limits of the motors.
        sensors: errors of the sensors.
    """

    timestep: Annotated[float, Range("s", 1e-5, 1e-3)] = 0.0005
    seed: Annotated[int, Range("-", 0, 2**32 - 1)] = 0
    input_delay: Annotated[float, Range("s", 0.0, 10.0)] = 0.0
    friction: Annotated[float, positive("-", 10.0)] = 0.8
    payload_mass: Annotated[float, Range("kg", 0.0, 100.0)] = 0.0
    mass_scale: Annotated[float, Range("-", 0.1, 10.0)] = 1.0
    floor_slope: Annotated[float, Range("rad", -0.5, 0.5)] = 0.0
    start: StartOptions = StartOptions()
    engine: Literal["mujoco", "remote", "isaacgym"] = "mujoco"
    server: PhysicsServerOptions = PhysicsServerOptions()
    motors: MotorOptions = MotorOptions()
    sensors: SensorOptions = SensorOptions()

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        steps = TICK / self.timestep
        if abs(steps - round(steps)) > 1e-6:
            raise ValueError(
                f"timestep is {self.timestep:g}; give {TICK:g} s divided by a whole number"
            )

    @property
    def steps_per_tick(self) -> int:
        """Physics steps in one tick of 1 ms."""
        return round(TICK / self.timestep)

    @property
    def physics_server(self) -> ServerOptions:
        """The engine's server, its address complete; of no use with mujoco."""
        address = self.server.address or ENGINES[self.engine] or SERVER_ADDRESS
        return msgspec.structs.replace(self.server, address=address)
