"""Everything that can be chosen about the simulated robot and its world."""

import math
from random import Random
from typing import Annotated, Literal, Self

import msgspec

from robots.planar_pose import PlanarPose
from runtime.options import Options, Range, positive
from sim_bridge.motor_options import MotorOptions
from sim_bridge.perturbation_script import TICK
from sim_bridge.rollouts.options import ISAAC_GYM_ROBOT_ADDRESS, SERVER_ADDRESS, ServerOptions
from sim_bridge.sensor_options import SensorOptions

STARTS = ("stand", "folded", "sprawled")
ENGINES = {
    "mujoco": "", "remote": SERVER_ADDRESS, "isaacgym": ISAAC_GYM_ROBOT_ADDRESS,
}  # and where a server of that engine answers where no address is given  # fmt: skip


class PhysicsServerOptions(ServerOptions, frozen=True):
    """Where a server of the robot's physics answers, and how long to wait for it.

    Attributes:
        address: where the server answers; empty for the usual one of the engine on this machine.
    """

    address: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for times out of range; the engine may complete the address."""
        Options.__post_init__(self)


class StartOptions(Options, frozen=True):
    """How and where the simulated robot starts, in the world of its IMU.

    Terrain, perturbations and commands are seen from there.

    Attributes:
        posture: stand, or lying on the belly with limp motors: folded (legs under the body) or
            sprawled (legs anyhow).
        heading: of the trunk; null draws one from the seed.
        position: over the ground, x and y; null draws one within 1 km of the origin.
    """

    posture: Literal["stand", "folded", "sprawled"] = "stand"
    heading: Annotated[float, Range("rad", -math.pi, math.pi)] | None = None
    position: Annotated[tuple[float, float], Range("m", -1e6, 1e6)] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        if self.posture not in STARTS:
            raise ValueError(f"posture is {self.posture!r}; accepted: {', '.join(STARTS)}")

    @property
    def pose(self) -> PlanarPose:
        """Of the robot, in the world; 0 is what nobody gave or drew."""
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
        timestep: physics step; a whole number of steps must make the tick of 1 ms.
        seed: draws the start and the sensors' noise; equal seeds give equal runs, bit for bit.
        input_delay: time between a command and the motors acting on it.
        friction: sliding friction coefficient between the robot and the floor.
        payload_mass: mass added at the trunk's centre of mass.
        mass_scale: factor on every mass and inertia of the robot (before the payload).
        floor_slope: angle of the floor, uphill along world x.
        start: how and where the robot starts.
        engine: whose physics it is: mujoco in this process, remote for a server of ours (`saltus
            serve`), or isaacgym for a server of that engine's.
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

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        if self.engine not in ENGINES:
            raise ValueError(f"engine is {self.engine!r}; accepted: {', '.join(ENGINES)}")
        steps = TICK / self.timestep
        if abs(steps - round(steps)) > 1e-6:
            raise ValueError(
                f"timestep is {self.timestep:g}; give {TICK:g} s divided by a whole number"
            )
        try:
            self.physics_server  # noqa: B018  it checks itself
        except ValueError as error:
            raise ValueError(f"server.{error}") from None

    @property
    def steps_per_tick(self) -> int:
        """Physics steps in one tick of 1 ms."""
        return round(TICK / self.timestep)

    @property
    def physics_server(self) -> ServerOptions:
        """The engine's server, its address complete; of no use with mujoco."""
        given, usual = self.server, ENGINES[self.engine] or ENGINES["remote"]
        return ServerOptions(
            address=given.address or usual, key_file=given.key_file, timeout=given.timeout,
            patience=given.patience, retry=given.retry,
        )  # fmt: skip
