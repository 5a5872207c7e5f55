"""Steps before a robot moves: compilation, warm-up of each process, waiting for the others.

``python -m saltus.launch.warmup PART CONFIG PARENT`` warms one of `PARTS` up: a first call may take
a minute.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np
from msgspec.structs import replace

from robots.conventions import GRAVITY
from runtime.bus import Publisher
from runtime.messages import SensorReading, StateEstimate
from saltus.common.compiled_code import PACKAGES, code_version, marker_folder
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.processes import Child, cores, die_with_parent, refuse_other_code
from saltus.configuration.launch import LaunchConfig, Mode, make_config, write_config
from saltus.configuration.options import read_mapping
from saltus.configuration.planners import is_plugin
from saltus.launch import assembly
from saltus.launch.plugins import load, source_of

if TYPE_CHECKING:
    from robots.robot import Robot
    from sim_bridge.simulated_robot import SimulatedRobot


READY_S = 150.0  # patience with the others' start
RECORDER = 1  # the supervisor listens to every topic


class NotReady(RuntimeError):
    """Something that this process needs did not come."""


def await_listeners(publisher: Publisher, count: int, stop: Callable[[], bool]) -> None:
    """Wait until `count` listeners are there, or the run is stopped.

    Raises:
        NotReady: they did not come.
    """
    if not publisher.wait_for_subscribers(count, READY_S, stop) and not stop():
        raise NotReady(f"{publisher.subscribers()} of {count} subscribers came in {READY_S:g} s")


POLL_S = 0.5


def ensure_compiled(*configs: LaunchConfig) -> None:
    """Fill the compiler's caches once for each planner, rollouts, filter, robot and this code.

    Before all starts, for it takes longer than processes wait for each other.

    Raises:
        BadRequest: a part cannot be compiled.
    """
    parts = {_marker(config, part): (config, part) for config in configs for part in _parts(config)}
    missing = {marker: chosen for marker, chosen in parts.items() if not marker.exists()}
    if not missing:
        return
    say("compiling (a minute or two, once)")
    _compile(list(missing.values()))
    with suppress(OSError):  # then the next launch looks again, which costs seconds
        marker_folder().mkdir(parents=True, exist_ok=True)
        for marker in missing:
            marker.touch()


def _compile(parts: Sequence[tuple[LaunchConfig, str]]) -> None:
    """Run a process for each part, as many at once as there are cores, and wait for them."""
    with tempfile.TemporaryDirectory(prefix="saltus-") as temporary:
        children = [_child(Path(temporary) / f"{n}", *each) for n, each in enumerate(parts)]
        waiting, running = deque(children), list[Child]()
        try:
            while waiting or running:
                while waiting and len(running) < cores():
                    running.append(waiting.popleft())
                    running[-1].start()
                time.sleep(POLL_S)
                running = [child for child in running if child.status is None]
            for child, (config, part) in zip(children, parts, strict=True):
                if child.status:
                    raise BadRequest(_failure(child, _named(config, part)))
        finally:
            for child in children:
                child.stop(0.0)


def _named(config: LaunchConfig, part: str) -> str:
    """Name of the planner or the estimator; empty for other parts."""
    return getattr(config, part) if part in ("planner", "estimator") else ""


def _failure(child: Child, name: str) -> str:
    """A part that cannot be warmed up, in a line; the traceback of a plug-in is printed first."""
    if not is_plugin(name):
        return f"the {child.name} cannot be compiled: {child.last_words()}"
    text = child.log.read_text(errors="replace")
    if "Traceback" in text:
        say(text.rstrip())
    return f"{name} failed before the robot moved: {child.last_words()}"


def _child(folder: Path, config: LaunchConfig, part: str) -> Child:
    """The process that compiles a part."""
    folder.mkdir()
    file = folder / "launch.yaml"
    write_config(config, file)
    program = [sys.executable, "-m", "saltus.launch.warmup", part, str(file), str(os.getpid())]
    return Child(part, program, folder / "log")


def _parts(config: LaunchConfig) -> list[str]:
    """The parts of a launch, those that take longest first."""
    parts = ["estimator", "planner", "tracker", "simulation"]
    if config.estimator_entry.compilation:
        parts.insert(1, "dynamics")  # of the filter
    if config.kind.bridged:
        parts.append("bridge")
    if config.kind.emulated:
        parts.append("emulator")
    return parts


def _marker(config: LaunchConfig, part: str) -> Path:
    """A file whose name changes with what is warmed, every source file, Python and compiler."""
    chosen = {
        "estimator": (config.estimator,), "dynamics": (config.estimator,),
        "planner": (config.planner, config.rollout, str(config.is_driven)),
    }.get(part, ())  # fmt: skip
    code = code_version(tuple(f"{package}/**/*" for package in PACKAGES))
    own = repr(source_of(_named(config, part)))  # of a plug-in
    seen = "\n".join((part, *chosen, own, config.connection, sys.version, version("numba"), code))
    return marker_folder() / hashlib.sha256(seen.encode()).hexdigest()[:16]


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
    from hw_bridge.wire.layout import wire_of
    from hw_bridge.wire.low_command import LowCommandEncoder, damping

    options = replace(config.emulator, events=())
    firmware = Firmware(options, config.robot_model, _robot(config))
    encoder = LowCommandEncoder(wire_of(config.robot_model))
    command = encoder.encode(damping(1.0))
    for _ in range(3):
        firmware.tick([command])


def warm_planner(config: LaunchConfig) -> None:
    """Solve, with a planner of its own, from a stand that turns once.

    Twice as in lock step; in real time, also from a state predicted ahead, and out of time.
    """
    patient = {  # a rollout server has time to compile what it is asked for first
        name: replace(server, timeout=server.patience)
        for name, server in (("remote", config.remote), ("isaacgym", config.isaacgym))
    }
    planner = assembly.make_planner(replace(config, **patient))
    robot = config.robot_model
    every = assembly.solve_schedule(config).every
    ahead = 1e-3 * every
    solves = [(0.0, False)] * 2
    if config.mode == "realtime":
        solves += [(ahead, False), (ahead, True)]
    for number, (lead, late) in enumerate(solves):
        half = 0.3 * (number == 1)  # far enough for the path of a driven robot to turn along
        heading = 0.0, 0.0, np.sin(half), np.cos(half)
        q = np.array([0.0, 0.0, robot.stand_height, *heading, *robot.stand])
        estimate = StateEstimate(
            tick=number * every, time=number * ahead, q=q, v=np.zeros(18), contact=np.ones(4),
            status="ok",
        )  # fmt: skip
        planner.plan_from(estimate, lead, lambda late=late: late)


def _robot(config: LaunchConfig) -> SimulatedRobot:
    """The launch's robot, its physics here: a server has one world, which is the launch's own."""
    here = replace(config.simulation, engine="mujoco")
    return assembly.make_simulation(replace(config, simulation=here))


def _standing(robot: Robot, tick: int) -> SensorReading:
    """Readings of a standing robot; to simulate one would load the physics."""
    return SensorReading(
        tick=tick, time=1e-3 * tick, quaternion_imu_in_world=np.array([0.0, 0.0, 0.0, 1.0]),
        angular_velocity_imu=np.zeros(3), linear_acceleration_imu=np.array([0.0, 0.0, GRAVITY]),
        joint_position=np.array(robot.stand), joint_velocity=np.zeros(12),
        joint_torque=np.zeros(12), foot_force=np.full(4, 30.0),
    )  # fmt: skip


def _compile_estimator(config: LaunchConfig) -> None:
    """Warm one up; what the part `dynamics` compiles meanwhile comes last."""
    if module := config.estimator_entry.compilation:
        load(f"{module}:compile_corrections")(config.robot_model)
    warm_estimator(config)


PARTS: dict[str, Callable[[LaunchConfig], object]] = {
    "simulation": warm_simulation,
    # In each mode: whether all is compiled is not asked by mode.
    "planner": lambda config: [warm_planner(replace(config, mode=m)) for m in get_args(Mode)],
    "estimator": _compile_estimator,
    # A share of the filter, which takes longer than any other part.
    "dynamics": lambda config: load(f"{config.estimator_entry.compilation}:compile_dynamics")(
        config.robot_model
    ),
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
