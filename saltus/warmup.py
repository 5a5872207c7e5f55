"""Compile and load everything before time counts: a first call may take a minute.

``python -m saltus.warmup PART CONFIG PARENT`` does so for one of `PARTS`.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from runtime.messages import StateEstimate
from saltus import assembly
from saltus.children import Child, die_with_parent
from saltus.code_version import code_version
from saltus.configuration import LaunchConfig, make_config, write_config
from saltus.console import say
from saltus.errors import BadRequest
from saltus.kernel_cache import PACKAGES, marker_folder
from saltus.options import read_mapping

if TYPE_CHECKING:
    from sim_bridge.simulated_a1 import SimulatedA1

POLL_S = 0.05


def ensure_compiled(config: LaunchConfig) -> None:
    """Fill the compiler's caches once for a planner, its rollouts, a filter, a robot and this code.

    Before all starts, for it takes longer than processes wait for each other; a process for each
    part, so that all cores compile.

    Raises:
        BadRequest: a part cannot be compiled.
    """
    marker = _marker(config)
    if marker.exists():
        return
    say("compiling (a minute or two, once)")
    _compile(config)
    with suppress(OSError):  # then the next launch looks again, which costs seconds
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()


def _compile(config: LaunchConfig) -> None:
    """Run a process for each part of the launch, all at once, and wait for them."""
    with tempfile.TemporaryDirectory(prefix="saltus-") as temporary:
        file = Path(temporary) / "launch.yaml"
        write_config(config, file)
        program = [sys.executable, "-m", "saltus.warmup"]
        children = [
            Child(part, [*program, part, str(file), str(os.getpid())], file.with_name(part))
            for part in _parts_of(config)
        ]
        try:
            for child in children:
                child.start()
            while any(child.status is None for child in children):
                time.sleep(POLL_S)
            for child in children:
                if child.status:
                    raise BadRequest(f"the {child.name} cannot be compiled: {child.last_words()}")
        finally:
            for child in children:
                child.stop(0.0)


def _parts_of(config: LaunchConfig) -> list[str]:
    """The parts of a launch, those that take longest first."""
    parts = ["estimator", "planner", "tracker", "simulation"]
    if config.bridged:
        parts.append("bridge")
    if config.robot in ("emulated", "emulator"):
        parts.append("emulator")
    return parts


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


def warm_bridge(config: LaunchConfig) -> None:
    """Make what decides for the bridge, which compiles as it is made."""
    from hw_bridge.decision import Decision

    Decision(config.hardware)


def warm_emulator(config: LaunchConfig) -> None:
    """Have an emulated robot of its own answer three commands."""
    from hw_bridge.emulator.firmware import Firmware
    from hw_bridge.setpoints import damping
    from hw_bridge.wire.low_command import LowCommandEncoder

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
    chosen = config.planner, config.estimator, config.rollout, config.robot
    code = code_version(tuple(f"{package}/**/*" for package in PACKAGES))
    seen = "\n".join((*chosen, sys.version, version("numba"), code))
    return marker_folder() / hashlib.sha256(seen.encode()).hexdigest()[:16]


PARTS: dict[str, Callable[[LaunchConfig], object]] = {
    "simulation": warm_simulation, "estimator": warm_estimator, "planner": warm_planner,
    "bridge": warm_bridge, "emulator": warm_emulator,
    "tracker": assembly.make_tracker,  # compiles as it is made
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Warm one part up; the exit status is 0 when it is compiled and kept."""
    part, file, parent = arguments
    die_with_parent(int(parent))
    try:
        PARTS[part](make_config(read_mapping(Path(file)), file))
    except (BadRequest, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
