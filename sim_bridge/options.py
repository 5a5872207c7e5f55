"""Everything that can be chosen about the simulated robot and its world."""

from typing import Literal

import msgspec

from sim_bridge.motor_options import MotorOptions
from sim_bridge.perturbation_script import TICK
from sim_bridge.rollouts.options import ISAAC_GYM_ROBOT_ADDRESS, SERVER_ADDRESS, ServerOptions
from sim_bridge.sensor_options import SensorOptions

STARTS = ("stand", "folded", "sprawled")
ENGINES = {
    "mujoco": "", "remote": SERVER_ADDRESS, "isaacgym": ISAAC_GYM_ROBOT_ADDRESS,
}  # and where a server of that engine answers where no address is given  # fmt: skip


class PhysicsServerOptions(ServerOptions, frozen=True, forbid_unknown_fields=True):
    """Where a server of the robot's physics answers, and how long to wait for it.

    Attributes:
        address: of the server; empty for the usual one of the engine on this machine.
    """

    address: str = ""

    def __post_init__(self) -> None:
        """Nothing yet: the engine may complete the address."""


class SimulationOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The simulated robot's physics, world and hardware.

    Attributes:
        timestep: physics step [s]; a whole number of steps must make the tick of 1 ms.
        seed: of the sensors' noise; equal seeds give equal runs, bit for bit.
        input_delay: time between a command and the motors acting on it [s].
        friction: sliding friction coefficient between the robot and the floor.
        payload_mass: mass added at the trunk's centre of mass [kg].
        mass_scale: factor on every mass and inertia of the robot (before the payload).
        floor_slope: angle of the floor, uphill along world x [rad].
        start: stand, or lying on the belly with limp motors: folded (legs under the body) or
            sprawled (legs anyhow).
        engine: whose physics it is: mujoco in this process, remote for a server of ours (`saltus
            serve`), or isaacgym for a server of that engine's.
        server: where the physics of the last two answers; of its times, patience alone counts.
        motors: limits of the motors.
        sensors: errors of the sensors.
    """

    timestep: float = 0.0005
    seed: int = 0
    input_delay: float = 0.0
    friction: float = 0.8
    payload_mass: float = 0.0
    mass_scale: float = 1.0
    floor_slope: float = 0.0
    start: Literal["stand", "folded", "sprawled"] = "stand"
    engine: Literal["mujoco", "remote", "isaacgym"] = "mujoco"
    server: PhysicsServerOptions = PhysicsServerOptions()
    motors: MotorOptions = MotorOptions()
    sensors: SensorOptions = SensorOptions()

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        steps = TICK / self.timestep if self.timestep > 0.0 else 0.0
        _check(steps >= 0.999 and abs(steps - round(steps)) < 1e-6, "timestep must divide 0.001 s")
        _check(self.seed >= 0, "seed must be at least 0")
        _check(0.0 <= self.input_delay < 10.0, "input_delay must be in [0, 10) s")
        _check(0.0 < self.friction < 10.0, "friction must be in (0, 10)")
        _check(0.0 <= self.payload_mass < 100.0, "payload_mass must be in [0, 100) kg")
        _check(0.1 <= self.mass_scale <= 10.0, "mass_scale must be in [0.1, 10]")
        _check(abs(self.floor_slope) < 0.5, "floor_slope must be in (-0.5, 0.5) rad")
        _check(self.start in STARTS, f"start must be one of {', '.join(STARTS)}")
        _check(self.engine in ENGINES, f"engine must be one of {', '.join(ENGINES)}")
        _check_server(self)

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


def _check(holds: bool, requirement: str) -> None:
    if not holds:
        raise ValueError(f"simulation: {requirement}")


def _check_server(options: SimulationOptions) -> None:
    try:
        options.physics_server  # noqa: B018  it checks itself
    except ValueError as error:
        raise ValueError(f"simulation: server: {error}") from None
