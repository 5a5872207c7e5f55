"""The configuration of one launch: a file in ``launch/``, overrides, typed options, checks."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from controller.driving.commands import CommandScript, ScriptStep
from controller.gaits import GAITS, STAND
from controller.options import DriveOptions, TrackerOptions
from controller.solve_schedule import TICK_S
from hw_bridge.emulator.options import EmulatorOptions, VelocityPush
from hw_bridge.options import HardwareOptions, LimitProfile, SourceOptions, motor_limits
from robots.robot_file import FILE, RobotError, folder_of, is_own, read_robot_file
from runtime.options import Options, Range
from saltus.common.errors import BadRequest, did_you_mean, refusing
from saltus.common.files import find_file, is_file
from saltus.configuration.motions import motion_names, take_motion
from saltus.configuration.options import Settings, fields_of, read_mapping, to_options
from saltus.configuration.planners import (
    CONNECTIONS,
    ESTIMATORS,
    PLANNERS,
    PLUGIN_FORM,
    Connection,
    ConnectionKind,
    EstimatorChoice,
    is_plugin,
)
from sim_bridge.options import IsaacGymOptions, RolloutServerOptions, SimulationOptions, WarpOptions
from sim_bridge.perturbations import Perturbation
from sim_bridge.terrain_options import Terrain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robots.robot import Robot


LONGEST_S = 1.0  # of a solve or an age that is accepted
STANDS_UP_S = 5.0  # an emulated robot, from the first command until it runs


class TimingOptions(Options, frozen=True):
    """Delays in lock step.

    Attributes:
        solve: duration of a solve.
        estimate: age of the estimates that planner and tracker have.
    """

    solve: Annotated[float, Range("s", 0.0, LONGEST_S)] = 0.0
    estimate: Annotated[float, Range("s", 0.0, LONGEST_S)] = 0.0


class RecordingOptions(Options, frozen=True):
    """Share of the plans that is recorded; other messages are recorded to the last bit.

    Attributes:
        plans: ``sampled``: knots of twenty plans a second and gains of two, rounded to float32; of
            the others what stands before the knots. ``all``: every plan as it was sent.
    """

    plans: Literal["sampled", "all"] = "sampled"


def robot_named(name: str) -> Robot:
    """Load a robot of this project, or the one in the folder `name`.

    Raises:
        BadRequest: there is none.
    """
    from robots.robot import load_robot  # loads MuJoCo

    with refusing("robot", RobotError):
        return load_robot(name)


ROLLOUTS = ("mujoco", "warp", "isaacgym", "remote")
# Accepted, by key.
NAMES = {"planner": tuple(PLANNERS), "estimator": tuple(ESTIMATORS), "rollout": ROLLOUTS}


Fault = tuple[str, ...]  # a message, and the keys that it is about


def check_launch(config: LaunchConfig, blame: Callable[..., str]) -> None:
    """Find values that do not go together.

    Args:
        config: each of its values is accepted by itself.
        blame: what messages about some keys begin with.

    Raises:
        BadRequest: two values contradict each other, or a name is none.
    """
    if fault := next(_faults(config), None):
        message, *keys = fault
        raise BadRequest(f"{blame(*keys)}: {message}")


def _faults(config: LaunchConfig) -> Iterator[Fault]:
    for key, names in NAMES.items():
        if (name := getattr(config, key)) in names or (key != "rollout" and is_plugin(name)):
            continue
        accepted = names if key == "rollout" else (*names, PLUGIN_FORM)
        yield f"{key} is {name!r}; accepted: {', '.join(accepted)}", key
    if not config.kind.simulated:
        yield from _check_robot(config)
    if config.mode == "realtime" and config.timing != TimingOptions():
        yield "timing is for lock step; give mode: paused, or leave it out", "timing", "mode"
    yield from _check_reference(config)
    if config.terrain != "flat" or not config.knows_ground:
        yield from _check_terrain(config)
    if config.is_driven:
        yield from _check_driving(config)


def _check_robot(config: LaunchConfig) -> Iterator[Fault]:
    """Refuse what does not suit an emulated or real robot."""
    if config.mode != "realtime":
        message = f"connection {config.connection} cannot be paused; give mode: realtime"
        yield message, "mode", "connection"
    if config.perturbations:
        yield (
            "perturbations are a simulated robot's; an emulated one has emulator.events",
            "perturbations", "connection",
        )  # fmt: skip
    pushes = [event.at for event in config.emulator.events if isinstance(event, VelocityPush)]
    by_script = config.kind.emulated and config.hardware.operator.script
    if by_script and max(pushes, default=0.0) > STANDS_UP_S + config.duration:
        yield (
            f"a push at {max(pushes):g} s meets a robot that sits down: it stands up for "
            f"{STANDS_UP_S:g} s and runs for {config.duration:g}; push earlier, or give "
            "emulator.events []", "emulator.events", "duration",
        )  # fmt: skip
    if config.kind.real and not is_own(config.robot):
        yield "connection real speaks to robots of this project alone", "robot"
    if config.kind.emulated and config.simulation.engine != "mujoco":
        yield (
            "an emulated robot's physics is MuJoCo's in its own process; give simulation.engine "
            "mujoco", "simulation.engine", "connection",
        )  # fmt: skip
    if config.needs_consent and not config.hardware.motions:
        yield (
            f"reference {config.reference} is no gait, and may leave the ground: a real robot "
            "does it only with hardware.motions true (docs/hardware.md)",
            "reference", "hardware.motions",
        )  # fmt: skip
    moves = config.kind.bridged and config.hardware.mode == "full"
    if moves and config.reference not in GAITS and config.limit_profile == "first_run":
        yield (
            f"reference {config.reference} is no gait, and needs more than the limits of first "
            "runs; give hardware.limits full", "reference", "hardware.limits",
        )  # fmt: skip


def _check_terrain(config: LaunchConfig) -> Iterator[Fault]:
    """Refuse ground that a backend lacks."""
    if config.terrain != "flat" and config.simulation.engine != "mujoco":
        yield (
            f"simulation.engine {config.simulation.engine} has a level floor alone; give mujoco, "
            "or terrain flat", "terrain", "simulation.engine",
        )  # fmt: skip
    if config.terrain != "flat" and config.simulation.floor_slope:
        yield (
            "terrain and simulation.floor_slope are two grounds; give a part of kind slope instead",
            "terrain", "simulation.floor_slope",
        )  # fmt: skip
    if config.rollout == "isaacgym" and not config.knows_ground:
        yield (
            "rollout isaacgym has ground that cannot move, as an estimate of it does; give "
            "terrain_belief known, or another rollout", "rollout", "terrain_belief",
        )  # fmt: skip


def _check_reference(config: LaunchConfig) -> Iterator[Fault]:
    """Refuse a planner that cannot follow the reference, and a reference that there is not."""
    if config.reference in GAITS:
        most = config.drive.limits(config.reference).forward
        if config.reference != STAND.name and not config.is_driven and abs(config.speed) > most:
            yield (
                f"command.velocity_x is {config.speed:g}; a {config.reference} takes {-most:g} to "
                f"{most:g} m/s", "command.velocity_x",
            )  # fmt: skip
        return
    gaits = ", ".join(GAITS)
    if not config.planner_entry.rolls_out:
        yield (
            f"planner {config.planner} walks by a gait, not {config.reference!r}; give reference "
            f"one of {gaits}", "reference", "planner",
        )  # fmt: skip
    motions = motion_names()
    if config.reference in motions or config.is_driven:
        return
    if not is_file(Path(config.reference)):
        meant = did_you_mean(config.reference, (*GAITS, *motions))
        yield (
            f"no reference {config.reference!r}{meant}; "
            f"give one of {gaits}, a motion ({', '.join(motions)}) or the path of a recorded "
            "trajectory", "reference",
        )  # fmt: skip


def _check_driving(config: LaunchConfig) -> Iterator[Fault]:
    if config.reference not in GAITS or config.reference_from != "kinematic":
        yield (
            "a robot that is driven begins with a kinematic gait; give reference one of "
            f"{', '.join(GAITS)}, and reference_from kinematic",
            "reference", "reference_from", "drive", "command",
        )  # fmt: skip
    by_phase = any(not isinstance(event.at, int | float) for event in config.perturbations)
    if by_phase and (config.mode != "paused" or config.script is None):
        yield (
            "perturbations of a robot that is driven need `at` in seconds, but for a script in "
            "mode paused", "perturbations", "mode", "drive",
        )  # fmt: skip
    if config.drive.source != "none":
        yield from _check_source(config)
    yield from _check_strides(config)
    if isinstance(config.command, tuple):
        try:
            CommandScript(config.command, config.drive, config.reference)
        except ValueError as error:
            yield f"command: {error}", "command"


def _check_source(config: LaunchConfig) -> Iterator[Fault]:
    """Refuse a driver that this robot cannot have."""
    by = config.drive.source
    if isinstance(config.command, tuple):
        yield (
            "one drives, not two: leave out the script in command, or drive.source",
            "drive.source", "command",
        )  # fmt: skip
    if config.mode != "realtime":
        yield (
            f"drive.source {by} is for mode realtime; in lock step only a script drives",
            "mode", "drive.source",
        )  # fmt: skip
    if not config.kind.planned:
        yield (f"drive.source {by} is for the launch that plans, not this one", "drive.source")
    if by in ("remote", "keyboard") and not config.kind.bridged:
        yield (
            f"drive.source {by} needs a real or emulated robot; a simulated one takes client, and "
            "`saltus drive`", "drive.source", "connection",
        )  # fmt: skip
    if by == "keyboard" and config.kind.bridged and not config.hardware.operator.keyboard:
        yield (
            "drive.source keyboard needs hardware.operator.keyboard true",
            "drive.source", "hardware.operator.keyboard",
        )  # fmt: skip


def _check_strides(config: LaunchConfig) -> Iterator[Fault]:
    """Refuse knots that do not fit every gait: commands may change it."""
    try:
        for gait in GAITS.values():
            if gait.duty < 1.0:
                gait.knots(config.planner_options.period)
    except ValueError as error:
        yield str(error), f"{config.planner}.period", "command", "drive"


Limits = TypeVar("Limits", bound=msgspec.Struct)

# Of first_run. The profile full leaves everything as it is configured.
FIRST_RUN_SAFETY: Final = {
    "torque_limit": 20.0, "velocity_limit": 10.0, "torque_slew": 5000.0, "motor_power": 150.0,
    "total_power": 400.0, "jam_torque": 18.0,  # below the torque's limit, or nothing would jam
}  # fmt: skip
FIRST_RUN_SPEEDS: Final = {"forward": 0.2, "left": 0.1, "yaw_rate": 0.4}  # [m/s], [m/s], [rad/s]


def within_profile(config: LaunchConfig) -> LaunchConfig:
    """The launch with the smaller of each configured limit and its profile's.

    A speed along a straight line is brought within the limits; steps of a script and a driver's
    commands are limited when they are followed.
    """
    if not config.kind.bridged or config.limit_profile == "full":
        return config
    safety = _smaller(config.hardware.safety, FIRST_RUN_SAFETY)
    names = ("walk", "trot", "bound")
    gaits = {name: _smaller(getattr(config.drive, name), FIRST_RUN_SPEEDS) for name in names}
    command = config.command
    if not isinstance(command, tuple):
        most = FIRST_RUN_SPEEDS["forward"]
        command = replace(command, velocity_x=min(most, max(-most, command.velocity_x)))
    return replace(
        config, hardware=replace(config.hardware, safety=safety),
        drive=replace(config.drive, **gaits), command=command,
    )  # fmt: skip


def limits_in_words(config: LaunchConfig, robot: Robot) -> str:
    """One line: the limits of the robot that are in force, and how to ask for full ones."""
    safety, walk, profile = config.hardware.safety, config.drive.walk, config.limit_profile
    torque, velocity = motor_limits(safety, robot)
    found = (
        f"limits {profile}: {torque.max():g} N m, {safety.torque_slew:g} N m/s, "
        f"{velocity.max():g} rad/s, {safety.motor_power:g} W a motor, "
        f"{safety.total_power:g} W in all"
    )
    if profile == "full":
        return found
    return (
        f"{found}; commands up to {walk.forward:g} m/s forward, {walk.left:g} m/s sideways, "
        f"{walk.yaw_rate:g} rad/s; --set hardware.limits=full asks for full ones"
    )


def _smaller(limits: Limits, most: Mapping[str, float]) -> Limits:
    """The same limits, those named no larger than `most`; None is the robot's own, above it."""
    own = {name: getattr(limits, name) for name in most}
    lower = {name: most[name] if own[name] is None else min(own[name], most[name]) for name in most}
    return replace(limits, **lower)


Mode = Literal["paused", "realtime"]
ReferenceSource = Literal["kinematic", "convex_mpc"]
Belief = Literal["known", "estimated", "flat"]
AT_ORIGIN = "simulation.start={heading: 0, position: [0, 0]}"  # an assignment
DRIVEN_S = 3600.0  # for which a simulated robot is driven by default


class ReferenceCommand(Options, frozen=True):
    """Command of the reference.

    Attributes:
        velocity_x: speed forward.
    """

    velocity_x: Annotated[float, Range("m/s", -5.0, 5.0)] = 0.0


class BusOptions(Options, frozen=True):
    """Addresses of the topics.

    Attributes:
        transport: `ipc` (sockets in a folder, and topics of 1 kHz in shared memory), `zmq` (sockets
            alone) or `tcp`.
        folder: folder of the sockets; null: a temporary one.
        host: address of the tcp sockets.
        base_port: tcp port of the first topic; the others follow.
    """

    transport: Literal["ipc", "zmq", "tcp"] = "ipc"
    folder: str | None = None
    host: str = "127.0.0.1"
    base_port: Annotated[int, Range("-", 1, 65_000)] = 46100


class RealtimeOptions(Options, frozen=True):
    """Requests of processes for real time, where the system grants it.

    Attributes:
        priority: SCHED_FIFO priority of the estimator; tracker and watchdog have more. null asks
            for none.
        planner_nice: nice level of the planner; null leaves it.
        pin: share the cores out among the processes (docs/realtime.md).
    """

    priority: Annotated[int, Range("-", 1, 95)] | None = 40
    planner_nice: Annotated[int, Range("-", -20, 19)] | None = -15
    pin: bool = True


class ViewOptions(Options, frozen=True):
    """The page of a launch in the browser.

    Attributes:
        control: drive a robot whose drive.source is client and tune the planner; a simulated robot
            may be pushed and its time stopped too. null: with a simulated robot alone.
        port: port of the page, 0 for any; null takes 8080, or any other where that is occupied.
    """

    control: bool | None = None
    port: Annotated[int, Range("-", 0, 65535)] | None = None


class LaunchConfig(EstimatorChoice, frozen=True):
    """Everything that one launch is made of; the file and the overrides are gone.

    Attributes:
        robot: the model: a name such as ``a1``, or a folder with ``robot.yaml``
            (docs/tutorials/robot.md).
        connection: `emulated`: the bridge of `real`, with an emulator of the robot beside it;
            `emulator`: that emulator alone.
        mode: `paused` (lock step, repeatable bit for bit) or `realtime`.
        duration: length of the run; a robot sits down after it.
        reference: stand, walk, trot, bound; for HiLQR also a motion (docs/motions.md), or the path
            of a recorded trajectory.
        reference_from: motion of a gait for HiLQR: `kinematic`, or `convex_mpc`, which walks it
            once and is recorded (6.5.2).
        command: a speed along a straight line, or the steps of a script.
        drive: source of live commands, and how commands are followed.
        sources: what keys and sticks ask for, where they drive.
        perturbations: what is done to the robot, and when.
        terrain: the ground: flat, or a list of parts (docs/terrain.md).
        terrain_belief: what planner and estimator know of it: estimated, a plane through the last
            footprints; flat, the same but level.
        timing: how long solves take and how old estimates are, in lock step.
        tracker: from plans to motor commands.
        rollout: physics of HiLQR's rollouts; all but mujoco have a section of options.
        warp: rollouts by MuJoCo Warp.
        isaacgym: rollouts by a server of Isaac Gym's.
        remote: rollouts by a server of ours, `saltus serve`.
        simulation: the simulated robot and its world.
        hardware: the bridge to a robot, real or emulated.
        emulator: the emulated robot.
        realtime: how processes ask for real time.
        view: the page of a launch in the browser.
        recording: what a recording keeps of plans.
        bus: where the topics are bound.
    """

    robot: str = "a1"
    connection: Connection = "simulated"
    mode: Mode = "paused"
    duration: Annotated[float, Range("s", TICK_S, 1e6)] = 6.0
    reference: str = "walk"
    reference_from: ReferenceSource = "kinematic"
    command: ReferenceCommand | tuple[ScriptStep, ...] = ReferenceCommand()
    drive: DriveOptions = DriveOptions()
    sources: SourceOptions = SourceOptions()
    perturbations: tuple[Perturbation, ...] = ()
    terrain: Terrain = "flat"
    terrain_belief: Belief = "known"
    timing: TimingOptions = TimingOptions()
    tracker: TrackerOptions = msgspec.field(default_factory=TrackerOptions)
    rollout: str = "mujoco"
    warp: WarpOptions = WarpOptions()
    isaacgym: IsaacGymOptions = IsaacGymOptions()
    remote: RolloutServerOptions = RolloutServerOptions()
    simulation: SimulationOptions = msgspec.field(default_factory=SimulationOptions)
    hardware: HardwareOptions = HardwareOptions()
    emulator: EmulatorOptions = EmulatorOptions()
    realtime: RealtimeOptions = RealtimeOptions()
    view: ViewOptions = ViewOptions()
    recording: RecordingOptions = RecordingOptions()
    bus: BusOptions = BusOptions()

    @property
    def robot_model(self) -> Robot:
        """The robot, loaded.

        Raises:
            BadRequest: its folder holds none.
        """
        return robot_named(self.robot)

    @property
    def controllable(self) -> bool:
        """Whether a viewer may push, drive, tune and pause."""
        return self.kind.simulated if self.view.control is None else self.view.control

    @property
    def speed(self) -> float:
        """Speed along a straight line [m/s]; a script has none."""
        return self.command.velocity_x if isinstance(self.command, ReferenceCommand) else 0.0

    @property
    def script(self) -> tuple[ScriptStep, ...] | None:
        """The steps of a script that drives the robot; None where there is none.

        On terrain a speed is a script of one step: a reference that does not follow the robot would
        put its feet where the ground is not.
        """
        if isinstance(self.command, tuple):
            return self.command
        rough = self.terrain != "flat" or not self.knows_ground
        if not (rough and self.reference in GAITS) or self.drive.source != "none":
            return None
        return (ScriptStep(at=0.0, velocity_x=self.speed),)

    @property
    def knows_ground(self) -> bool:
        """Whether planner and estimator know the ground's height."""
        level = self.terrain == "flat" and self.terrain_belief == "flat"
        return level or self.terrain_belief == "known"

    @property
    def is_driven(self) -> bool:
        """Whether commands change during the run, by a script or a driver."""
        return self.script is not None or self.drive.source != "none"

    @property
    def follows_command(self) -> bool:
        """Whether the robot moves as it is commanded."""
        return self.is_driven or (self.reference in GAITS and self.reference != STAND.name)

    @property
    def records_walk(self) -> bool:
        """Whether the planner tracks a walk of Convex MPC, which is recorded first."""
        walks = self.reference_from == "convex_mpc" and self.reference in GAITS
        return walks and self.planner_entry.rolls_out

    @property
    def uses_convex_mpc(self) -> bool:
        """Whether Convex MPC plans, or walks what is recorded."""
        return self.planner == "convex_mpc" or self.records_walk

    @property
    def needs_consent(self) -> bool:
        """Whether a real robot moves, and not by a gait: a motion, or a recording of anything."""
        moves = self.kind.real and self.hardware.mode == "full"
        return moves and self.reference not in GAITS

    @property
    def limit_profile(self) -> LimitProfile:
        """The profile of limits that is in force."""
        return self.hardware.limits or ("first_run" if self.kind.real else "full")

    @property
    def kind(self) -> ConnectionKind:
        """The kind of the robot."""
        return CONNECTIONS[self.connection]

    @property
    def ticks(self) -> int:
        """Length of the run in ticks of 1 ms."""
        return round(self.duration / TICK_S)


def load_launch(
    name_or_path: str,
    assignments: Sequence[str] = (),
    mode: str | None = None,
    duration: float | None = None,
    drive: str | None = None,
) -> LaunchConfig:
    """Read a launch file and apply what the command line overrides; see `read_launch`.

    Raises:
        BadRequest: no such file, an unknown key, a value of a wrong type or out of range.
    """
    return placed(configure(read_launch(name_or_path, assignments, mode, duration, drive)))


def read_launch(
    name_or_path: str,
    assignments: Sequence[str] = (),
    mode: str | None = None,
    duration: float | None = None,
    drive: str | None = None,
    planner: str | None = None,
    view: bool = False,
    bridge: Literal["dry_run", "read_only"] | None = None,
) -> Settings:
    """Read the keys of a launch file, with what the command line overrides; None overrides none.

    Args:
        name_or_path: of the file.
        assignments: of ``--set``, each ``KEY=VALUE``; they come after `drive`.
        mode, duration, planner: of these keys; they come last.
        drive: the source of commands, in real time.
        view: with a page. A simulated robot with a page or a driver runs for `DRIVEN_S`, unless
            `duration` is set.
        bridge: ``hardware.mode`` of a robot that shall not move.

    Raises:
        BadRequest: no such file, or an assignment is none.
    """
    path = find_file("launch", name_or_path)
    settings = Settings(copy.deepcopy(read_mapping(path)), str(path))
    if drive is not None:
        settings.write("drive.source", drive, "--drive")
        settings.write("mode", "realtime", "--drive")
    settings.assign(assignments)
    if bridge is not None:
        settings.write("hardware.mode", bridge, f"--{bridge.replace('_', '-')}")
    for key, value in (("planner", planner), ("mode", mode), ("duration", duration)):
        if value is not None:
            settings.write(key, value, f"--{key}")
    stays = "--drive" if drive is not None else "--view" if view else ""
    is_simulated = settings.mapping.get("connection", "simulated") == "simulated"
    if stays and is_simulated and not settings.words("duration"):
        settings.write("duration", DRIVEN_S, stays)
    return settings


def make_config(mapping: dict[str, Any], source: str) -> LaunchConfig:
    """Turn a plain mapping into a checked and placed configuration; messages begin with `source`.

    Raises:
        BadRequest: an unknown key, a value of a wrong type or out of range.
    """
    return placed(configure(Settings(mapping, source)))


def configure(settings: Settings) -> LaunchConfig:
    """Turn the keys of a launch into a checked configuration, within its profile of limits.

    Raises:
        BadRequest: an unknown key, a value of a wrong type or out of range; the message begins with
            its source.
    """
    mapping = settings.mapping
    if isinstance(options := mapping.get("estimator"), dict):
        wrong = _not_in_estimator(next(iter(options), ""))
        raise BadRequest(f"{settings.blame('estimator')}: {wrong}")
    take_motion(settings)
    settings.lay_below(_defaults_of(settings))
    present = {key: value for key, value in mapping.items() if value is not None}
    config = to_options(present, LaunchConfig, settings.blame)
    check_launch(config, settings.blame)
    return within_profile(config)


def _defaults_of(settings: Settings) -> dict[str, Any]:
    """The options of a launch that its robot needs, checked by themselves."""
    name = str(settings.mapping.get("robot") or "a1")
    if not is_own(name):  # a recorded launch file is read from anywhere
        name = settings.mapping["robot"] = str(folder_of(name).resolve())
    with refusing(str(settings.blame("robot")), RobotError):
        defaults = copy.deepcopy(read_robot_file(name).defaults)
    source = f"{folder_of(name) / FILE}: defaults"
    if own := {"robot", "connection"} & defaults.keys():
        raise BadRequest(f"{source}: {min(own)} is for the launch to say; leave it out")
    to_options(defaults, LaunchConfig, source)
    return defaults


def placed(config: LaunchConfig, trial: int = 0) -> LaunchConfig:
    """The launch with a start that its seed and the number of its trial draw, where none is given.

    A real robot is where it is.
    """
    if config.kind.real:
        return config
    simulation = config.simulation
    start = simulation.start.drawn(simulation.seed, trial)
    simulation = replace(simulation, start=start)
    return replace(config, simulation=simulation)


def _not_in_estimator(key: str) -> str:
    """A hint for an option of a filter that was set under `estimator`: where it stands."""
    sections = {field.name: fields_of(field.type) for field in msgspec.structs.fields(LaunchConfig)}
    having = [f"{filter}.{key}" for filter in ESTIMATORS if key in sections[filter]]
    places = having or [f"{filter}.{key or 'OPTION'}" for filter in ESTIMATORS]
    return (
        f"estimator is the name of a filter, one of {', '.join(ESTIMATORS)}; its options have a "
        f"section of that name: {' or '.join(places)}"
    )


def changed(config: LaunchConfig, **keys: Any) -> LaunchConfig:
    """The same launch with other top-level keys; another robot or motion brings its own options.

    Raises:
        BadRequest: the keys do not fit the launch.
    """
    named = {key: getattr(config, key) for key in ("robot", "reference", "mode")}
    bare = make_config(dict(named), "this launch")
    own = difference(msgspec.to_builtins(config), msgspec.to_builtins(bare))
    return make_config(named | own | msgspec.to_builtins(keys), "this launch")


def difference(mapping: dict[str, Any], below: dict[str, Any]) -> dict[str, Any]:
    """The values of a mapping that `below` has not."""
    return {
        key: difference(value, below[key])
        if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        for key, value in mapping.items() if value != below.get(key, ...)
    }  # fmt: skip


def config_text(config: LaunchConfig) -> bytes:
    """The whole configuration, defaults included, as a launch file that reads back."""
    plain = msgspec.to_builtins(config)
    ordered = sorted(plain.items(), key=lambda item: isinstance(item[1], dict))  # values first
    return msgspec.yaml.encode(dict(ordered))


def write_config(config: LaunchConfig, path: Path) -> None:
    """Write the `config_text`."""
    path.write_bytes(config_text(config))
