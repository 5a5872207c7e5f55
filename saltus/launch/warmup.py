"""Compile and load everything of a process before time counts: a first call may take a minute.

``python -m saltus.launch.warmup PART CONFIG PARENT`` does so for one of `PARTS`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec
import numpy as np

from robots.conventions import GRAVITY
from runtime.messages import SensorReading, StateEstimate
from saltus.common.children import die_with_parent, refuse_other_code
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig, Mode, make_config
from saltus.configuration.options import read_mapping
from saltus.launch import assembly
from saltus.launch.plugins import load

if TYPE_CHECKING:
    from robots.robot import Robot
    from sim_bridge.simulated_robot import SimulatedRobot


def warm_simulation(config: LaunchConfig) -> None:
    """Step a simulated robot of its own twice, and push a foot."""
    robot = _robot(config)
    robot.add_foot_velocity(0, np.zeros(3))
    for _ in range(2):
        robot.advance(None)


def warm_estimator(config: LaunchConfig) -> None:
    """Feed a filter of its own three readings of a robot that stands."""
    estimator = assembly.make_estimator(config)
    for tick in range(3):
        estimator.update(_standing(config.robot_model, tick))


def warm_bridge(config: LaunchConfig) -> None:
    """Make what believes and decides for the bridge, which compiles as it is made."""
    from hw_bridge.decision import Decision
    from hw_bridge.intake import Intake
    from hw_bridge.wire.layout import wire_of
    from hw_bridge.wire.low_command import LowCommandEncoder

    wire = wire_of(config.robot_model)
    Intake(wire, config.hardware.link.robot, config.hardware.tick_unit_s)
    Decision(config.hardware, config.robot_model, LowCommandEncoder(wire))


def warm_emulator(config: LaunchConfig) -> None:
    """Have an emulated robot of its own answer three commands."""
    from hw_bridge.emulator.firmware import Firmware
    from hw_bridge.setpoints import damping
    from hw_bridge.wire.layout import wire_of
    from hw_bridge.wire.low_command import LowCommandEncoder

    options = msgspec.structs.replace(config.emulator, events=())
    firmware = Firmware(options, config.robot_model, _robot(config))
    encoder = LowCommandEncoder(wire_of(config.robot_model))
    command = encoder.encode(damping(config.emulator.brake_kd))
    for _ in range(3):
        firmware.tick([command])


def warm_planner(config: LaunchConfig) -> None:
    """Solve, with a planner of its own, from the stand.

    Twice as in lock step; in real time, also from a state predicted ahead, and out of time.
    """
    planner = assembly.make_planner(_patient(config))
    robot = config.robot_model
    q = np.array([0.0, 0.0, robot.stand_height, 0.0, 0.0, 0.0, 1.0, *robot.stand])
    every = assembly.solve_schedule(config).every
    ahead = 1e-3 * every
    solves = [(0.0, False)] * 2
    if config.mode == "realtime":
        solves += [(ahead, False), (ahead, True)]
    for number, (lead, late) in enumerate(solves):
        estimate = StateEstimate(
            tick=number * every, time=number * ahead, q=q, v=np.zeros(18), contact=np.ones(4),
            status="ok",
        )  # fmt: skip
        planner.plan_from(estimate, lead, lambda late=late: late)


def _compile_planner(config: LaunchConfig) -> None:
    """Warm one up in each mode: whether all is compiled is not asked by mode."""
    for mode in get_args(Mode):
        warm_planner(msgspec.structs.replace(config, mode=mode))


def _patient(config: LaunchConfig) -> LaunchConfig:
    """The launch, with time for a rollout server to compile what it is asked for first."""
    remote, isaacgym = (
        msgspec.structs.replace(server, timeout=server.patience)
        for server in (config.remote, config.isaacgym)
    )
    return msgspec.structs.replace(config, remote=remote, isaacgym=isaacgym)


def _robot(config: LaunchConfig) -> SimulatedRobot:
    """The launch's robot, its physics here: a server has one world, which is the launch's own."""
    here = msgspec.structs.replace(config.simulation, engine="mujoco")
    return assembly.make_simulation(msgspec.structs.replace(config, simulation=here))


def _standing(robot: Robot, tick: int) -> SensorReading:
    """What a robot senses that stands; to simulate one would load the physics."""
    return SensorReading(
        tick=tick, time=1e-3 * tick, quaternion_imu_in_world=np.array([0.0, 0.0, 0.0, 1.0]),
        angular_velocity_imu=np.zeros(3), linear_acceleration_imu=np.array([0.0, 0.0, GRAVITY]),
        joint_position=np.array(robot.stand), joint_velocity=np.zeros(12),
        joint_torque=np.zeros(12), foot_force=np.full(4, 30.0),
    )  # fmt: skip


def _compile_estimator(config: LaunchConfig) -> None:
    """Warm one up; what `_compile_dynamics` compiles meanwhile comes last."""
    if module := config.estimator_entry.compilation:
        load(f"{module}:compile_corrections")(config.robot_model)
    warm_estimator(config)


def _compile_dynamics(config: LaunchConfig) -> None:
    """Compile a share of the filter, which takes longer than any other part."""
    load(f"{config.estimator_entry.compilation}:compile_dynamics")(config.robot_model)


PARTS: dict[str, Callable[[LaunchConfig], object]] = {
    "simulation": warm_simulation, "planner": _compile_planner,
    "estimator": _compile_estimator, "dynamics": _compile_dynamics,
    "bridge": warm_bridge, "emulator": warm_emulator,
    "tracker": assembly.make_tracker,  # compiles as it is made
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Warm one part up; the exit status is 0 when it is compiled and kept."""
    part, file, parent = arguments
    die_with_parent(int(parent))
    refuse_other_code()
    try:
        PARTS[part](make_config(read_mapping(Path(file)), file))
    except (BadRequest, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
