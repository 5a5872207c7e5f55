"""Compile and load everything before time counts: a first call may take a minute."""

import hashlib
import sys
from pathlib import Path

import msgspec
import numba
import numpy as np

from hw_bridge.decision import Decision
from hw_bridge.emulator.firmware import Firmware
from hw_bridge.setpoints import damping
from hw_bridge.wire.low_command import LowCommandEncoder
from runtime.messages import StateEstimate
from saltus import assembly
from saltus.compilation import PACKAGES
from saltus.configuration import LaunchConfig
from saltus.console import say
from saltus.folders import cache_folder
from sim_bridge.simulated_a1 import SimulatedA1


def ensure_compiled(config: LaunchConfig) -> None:
    """Fill the compiler's caches once for a planner, its rollouts, a filter, a robot and this code.

    Before all starts: otherwise four processes would compile the same functions at the same time.
    """
    marker = _marker(config)
    if marker.exists():
        return
    say("compiling (a minute or two, once)")
    warm_all(config)
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:
        return  # then the next launch looks again, which costs seconds


def warm_all(config: LaunchConfig) -> None:
    """Run each core once, so that the compiled code is in the caches that all processes share."""
    warm_simulation(config)
    warm_estimator(config)
    assembly.make_tracker(config)  # compiles as it is made
    if config.bridged:
        Decision(config.hardware)  # so does this
    if config.robot in ("emulated", "emulator"):
        warm_emulator(config)
    warm_planner(config)


def warm_simulation(config: LaunchConfig) -> None:
    """Step a simulated robot of its own twice."""
    robot = _robot(config)
    for _ in range(2):
        robot.advance(None)


def warm_estimator(config: LaunchConfig) -> None:
    """Feed a filter of its own three readings."""
    robot, estimator = _robot(config), assembly.make_estimator(config)
    for _ in range(3):
        estimator.update(robot.reading())
        robot.advance(None)


def warm_emulator(config: LaunchConfig) -> None:
    """Have an emulated robot of its own answer three commands."""
    firmware = Firmware(msgspec.structs.replace(config.emulator, events=()), _robot(config))
    command = LowCommandEncoder().encode(damping(config.emulator.brake_kd))
    for _ in range(3):
        firmware.tick([command])


def warm_planner(config: LaunchConfig) -> None:
    """Solve, with a planner of its own, from the simulated robot's stand.

    Twice as in lock step, then as in real time: from a state predicted ahead, and out of time.
    """
    planner, truth = assembly.make_planner(_patient(config)), _robot(config).truth()
    every = assembly.solve_schedule(config).every
    ahead = 1e-3 * every
    for number, (lead, late) in enumerate(((0.0, False),) * 2 + ((ahead, False), (ahead, True))):
        estimate = StateEstimate(
            tick=number * every, time=number * ahead, q=truth.q, v=truth.v, contact=np.ones(4),
            status="ok",
        )  # fmt: skip
        planner.solve(estimate, lead, lambda late=late: late)


def _patient(config: LaunchConfig) -> LaunchConfig:
    """The launch, with time for a rollout server to compile what it is asked for first."""
    remote, isaacgym = (
        msgspec.structs.replace(server, timeout=server.patience)
        for server in (config.remote, config.isaacgym)
    )
    return msgspec.structs.replace(config, remote=remote, isaacgym=isaacgym)


def _robot(config: LaunchConfig) -> SimulatedA1:
    """The launch's robot, its physics here: a server has one world, which is the launch's own."""
    here = msgspec.structs.replace(config.simulation, engine="mujoco")
    return assembly.make_simulation(msgspec.structs.replace(config, simulation=here))


def _marker(config: LaunchConfig) -> Path:
    """A file whose name changes with what is warmed, every source file, Python and compiler."""
    root = Path(__file__).parents[1]
    chosen = [config.planner, config.estimator, config.rollout, config.robot]
    seen = [*chosen, sys.version, numba.__version__, str(root)]
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            status = path.stat()
            seen.append(f"{path} {status.st_mtime_ns} {status.st_size}")
    return cache_folder() / hashlib.sha256("\n".join(seen).encode()).hexdigest()[:16]
