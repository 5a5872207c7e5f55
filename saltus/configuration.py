"""The configuration of one launch: a file in ``launch/``, overrides, and typed options."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from controller.centroidal.options import ConvexMpcOptions, InstantQpOptions
from controller.driving.options import DriveOptions
from controller.driving.script import Script, ScriptStep
from controller.gaits import GAITS
from controller.planner_options import HilqrSection
from controller.solve_schedule import TICK_S
from controller.tracker_options import TrackerOptions
from estimator.invariant.options import InvariantOptions
from estimator.options import LegOdometryOptions
from estimator.salted.options import SaltedOptions
from hw_bridge.driver.options import SourceOptions
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.options import HardwareOptions
from runtime.options import Options, Range, positive
from saltus.errors import BadRequest
from saltus.folders import find_file, is_file
from saltus.options import fields_of, override, read_mapping, to_options
from saltus.planners import PLANNERS
from saltus.recording.options import RecordingOptions
from saltus.timing import TimingOptions
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbations import Perturbation
from sim_bridge.rollouts.options import IsaacGymOptions, ServerOptions, WarpOptions
from sim_bridge.suites import SuiteError, parse_events

Mode = Literal["paused", "realtime"]
Robot = Literal["simulated", "a1", "emulated", "emulator"]
ReferenceSource = Literal["kinematic", "convex_mpc"]
ESTIMATORS = ("salted", "leg_odometry", "invariant")
DRIVEN_S = 3600.0  # for which a simulated robot is driven, unless somebody says otherwise
ROLLOUTS = ("mujoco", "warp", "isaacgym", "remote")


class Command(Options, frozen=True):
    """What the reference is asked to do.

    Attributes:
        velocity_x: speed forward.
    """

    velocity_x: Annotated[float, Range("m/s", -5.0, 5.0)] = 0.0


class BusOptions(Options, frozen=True):
    """Where the topics are bound.

    Attributes:
        transport: ``ipc`` (a folder of sockets) or ``tcp``.
        folder: folder of the sockets; an own temporary one when None.
        host: address of the tcp sockets.
        base_port: tcp port of the first topic; the others follow.
    """

    transport: Literal["ipc", "tcp"] = "ipc"
    folder: str | None = None
    host: str = "127.0.0.1"
    base_port: Annotated[int, Range("-", 1, 65_000)] = 46100


class RealtimeOptions(Options, frozen=True):
    """How processes ask for real time, where the system grants it.

    Attributes:
        priority: least SCHED_FIFO priority of simulation, estimator and tracker; None asks for
            nothing.
        planner_nice: nice level of the planner, which has no such priority; None leaves it.
        pin: share the cores out among the processes (docs/realtime.md).
    """

    priority: Annotated[int, Range("-", 1, 95)] | None = 40
    planner_nice: Annotated[int, Range("-", -20, 19)] | None = -15
    pin: bool = True


class ViewOptions(Options, frozen=True):
    """What somebody may do who watches a launch in the browser.

    Attributes:
        control: drive a robot whose drive.source is client and tune the planner; a simulated robot
            may be pushed and its time stopped too. None: with a simulated robot alone.
        address: that the page is served at; other than this machine's own it needs a token.
        port: of the page, 0 for any; None takes 8080, or any other where that is occupied.
        speed: simulated seconds a second with which a page of a run in lock step begins.
    """

    control: bool | None = None
    address: str = "127.0.0.1"
    port: Annotated[int, Range("-", 0, 65535)] | None = None
    speed: Annotated[float, positive("-", 1000.0)] = 1.0


class LaunchConfig(Options, frozen=True):
    """Everything that one launch is made of; the file and the overrides are gone.

    Attributes:
        robot: ``simulated``; ``a1`` over UDP; ``emulated``, the same bridge with an emulator of the
            A1 started beside it; ``emulator``, that emulator alone, for a launch elsewhere.
        mode: ``paused`` (lock step, bit-for-bit repeatable) or ``realtime``.
        duration: length of the run; of an A1's, how long it runs before it sits down.
        planner: which planner runs: one of `PLANNERS`, each with a section of options.
        reference: stand, walk, trot, bound, or for HiLQR the path of a recorded trajectory.
        reference_from: where HiLQR has the motion of a gait from: ``kinematic``, or ``convex_mpc``,
            which walks it once, undisturbed, and is recorded (6.5.2).
        command: a speed along a straight line, or the steps of a script that drives the robot.
        drive: who else may drive, and how commands are followed.
        sources: what keys and sticks ask for, where they drive.
        perturbations: what is done to the robot, and when.
        timing: how long solves take and how old estimates are, in lock step.
        hilqr: the planner HiLQR MPC.
        convex_mpc: the planner Convex MPC.
        instant_qp: the planner Instant QP.
        tracker: from plans to motor commands.
        estimator: which filter estimates: one of `ESTIMATORS`, each with a section of options.
        salted: the salted Kalman filter.
        leg_odometry: the leg-odometry filter.
        invariant: the invariant filter.
        rollout: which physics rolls HiLQR's candidates out: one of `ROLLOUTS`; all but mujoco have
            a section of options.
        warp: rollouts by MuJoCo Warp.
        isaacgym: rollouts by a server of Isaac Gym's.
        remote: rollouts by a server of ours, `saltus serve`.
        simulation: the simulated robot and its world.
        hardware: the bridge to an A1, real or emulated.
        emulator: the emulated A1.
        realtime: how processes ask for real time.
        view: what somebody may do who watches.
        recording: what a recording keeps of plans.
        bus: where the topics are bound.
    """

    robot: Robot = "simulated"
    mode: Mode = "paused"
    duration: Annotated[float, Range("s", TICK_S, 1e6)] = 6.0
    planner: str = "hilqr"
    reference: str = "walk"
    reference_from: ReferenceSource = "kinematic"
    command: Command | tuple[ScriptStep, ...] = Command()
    drive: DriveOptions = DriveOptions()
    sources: SourceOptions = SourceOptions()
    perturbations: tuple[Perturbation, ...] = ()
    timing: TimingOptions = TimingOptions()
    hilqr: HilqrSection = msgspec.field(default_factory=HilqrSection)
    convex_mpc: ConvexMpcOptions = ConvexMpcOptions()
    instant_qp: InstantQpOptions = InstantQpOptions()
    tracker: TrackerOptions = msgspec.field(default_factory=TrackerOptions)
    estimator: str = "salted"
    salted: SaltedOptions = msgspec.field(default_factory=SaltedOptions)
    leg_odometry: LegOdometryOptions = msgspec.field(default_factory=LegOdometryOptions)
    invariant: InvariantOptions = msgspec.field(default_factory=InvariantOptions)
    rollout: str = "mujoco"
    warp: WarpOptions = WarpOptions()
    isaacgym: IsaacGymOptions = IsaacGymOptions()
    remote: ServerOptions = ServerOptions()
    simulation: SimulationOptions = msgspec.field(default_factory=SimulationOptions)
    hardware: HardwareOptions = HardwareOptions()
    emulator: EmulatorOptions = EmulatorOptions()
    realtime: RealtimeOptions = RealtimeOptions()
    view: ViewOptions = ViewOptions()
    recording: RecordingOptions = RecordingOptions()
    bus: BusOptions = BusOptions()

    @property
    def controllable(self) -> bool:
        """Whether somebody who watches may do more than that."""
        return self.robot == "simulated" if self.view.control is None else self.view.control

    @property
    def speed(self) -> float:
        """Of a straight line [m/s]; a script has none."""
        return self.command.velocity_x if isinstance(self.command, Command) else 0.0

    @property
    def driven(self) -> bool:
        """Whether commands come on the way, from a script or from somebody who drives."""
        return isinstance(self.command, tuple) or self.drive.source != "none"

    @property
    def bridged(self) -> bool:
        """Whether the tracker drives an A1 over UDP, real or emulated."""
        return self.robot in ("a1", "emulated")

    @property
    def ticks(self) -> int:
        """Length of the run in ticks of 1 ms."""
        return round(self.duration / TICK_S)


def load_launch(
    name_or_path: str, assignments: Sequence[str] = (), mode: str | None = None,
    duration: float | None = None, drive: str | None = None, view: bool = False,
) -> LaunchConfig:
    """Read a launch file and apply what the command line overrides.

    Who is named to `drive` does so in real time. A simulated robot that somebody drives or views
    runs for as long as one likes. Assignments, `mode` and `duration` come after that.

    Raises:
        BadRequest: no such file, an unknown key, a value of a wrong type or out of range.
    """
    path = find_file("launch", name_or_path)
    mapping = copy.deepcopy(read_mapping(path))
    if drive is not None:
        override(mapping, [f"drive.source={drive}", "mode=realtime"])
    if (drive is not None or view) and mapping.get("robot", "simulated") == "simulated":
        mapping["duration"] = DRIVEN_S
    override_launch(mapping, assignments)
    for key, value in (("mode", mode), ("duration", duration)):
        if value is not None:
            mapping[key] = value
    return make_config(mapping, str(path))


def override_launch(mapping: dict[str, Any], assignments: Sequence[str]) -> None:
    """Write ``KEY=VALUE`` assignments into the mapping of a launch file.

    Raises:
        BadRequest: an assignment is none, or its key runs through a value that has no keys.
    """
    for assignment in assignments:
        section, _, key = assignment.partition("=")[0].strip().partition(".")
        if section == "estimator" and key:
            raise BadRequest(f"--set {assignment}: {_not_in_estimator(key)}")
    override(mapping, assignments)


def make_config(mapping: dict[str, Any], source: str) -> LaunchConfig:
    """Turn a plain mapping into a checked configuration.

    Raises:
        BadRequest: an unknown key, a value of a wrong type or out of range.
    """
    try:
        parse_events(mapping.get("perturbations") or [])
    except SuiteError as error:
        raise BadRequest(f"{source}: {error}") from error
    if isinstance(options := mapping.get("estimator"), dict):
        raise BadRequest(f"{source}: {_not_in_estimator(next(iter(options), ''))}")
    config = to_options({k: v for k, v in mapping.items() if v is not None}, LaunchConfig, source)
    _check_values(config, source)
    return config


def _not_in_estimator(key: str) -> str:
    """Where an option of a filter stands that somebody looks for under `estimator`."""
    name = key.partition(".")[0]
    sections = {field.name: fields_of(field.type) for field in msgspec.structs.fields(LaunchConfig)}
    having = [f"{filter}.{key}" for filter in ESTIMATORS if name in sections[filter]]
    places = having or [f"{filter}.{key or 'OPTION'}" for filter in ESTIMATORS]
    return (
        f"estimator is the name of a filter, one of {', '.join(ESTIMATORS)}; its options have a "
        f"section of that name: {' or '.join(places)}"
    )


def _check_values(config: LaunchConfig, source: str) -> None:
    if config.planner not in PLANNERS:
        raise BadRequest(
            f"{source}: planner {config.planner!r} is not built; accepted: {', '.join(PLANNERS)}"
        )
    if config.estimator not in ESTIMATORS:
        raise BadRequest(
            f"{source}: estimator {config.estimator!r} is not built; accepted: "
            f"{', '.join(ESTIMATORS)}"
        )
    if config.rollout not in ROLLOUTS:
        raise BadRequest(
            f"{source}: rollout {config.rollout!r} is not built; accepted: {', '.join(ROLLOUTS)}"
        )
    if config.robot != "simulated" and config.mode != "realtime":
        raise BadRequest(f"{source}: robot {config.robot} cannot be paused; give mode: realtime")
    if config.mode == "realtime" and config.timing != TimingOptions():
        raise BadRequest(f"{source}: timing is for lock step; give mode: paused, or leave it out")
    if config.robot != "simulated" and config.perturbations:
        raise BadRequest(
            f"{source}: perturbations are a simulated robot's; an emulated one has emulator.events"
        )
    if config.robot in ("emulated", "emulator") and config.simulation.engine != "mujoco":
        raise BadRequest(
            f"{source}: an emulated robot's physics is MuJoCo's in its own process; give "
            "simulation.engine mujoco"
        )
    period = getattr(config, config.planner).period
    if round(period / TICK_S) < 1:
        raise BadRequest(
            f"{source}: {config.planner}.period is {period:g}; give a tick of {TICK_S:g} s or more"
        )
    if config.planner != "hilqr" and config.reference not in GAITS:
        raise BadRequest(
            f"{source}: planner {config.planner} walks by a gait, not {config.reference!r}; give "
            f"reference one of {', '.join(GAITS)}"
        )
    if config.driven:
        _check_driving(config, source)
    if config.reference not in GAITS and not is_file(Path(config.reference)):
        raise BadRequest(
            f"{source}: no reference {config.reference!r}: give one of {', '.join(GAITS)} or the "
            "path of a recorded trajectory"
        )


def _check_driving(config: LaunchConfig, source: str) -> None:
    if config.reference not in GAITS or config.reference_from != "kinematic":
        raise BadRequest(
            f"{source}: a robot that is driven begins with a kinematic gait; give reference one of "
            f"{', '.join(GAITS)}, and reference_from kinematic"
        )
    by_phase = any(not isinstance(event.at, int | float) for event in config.perturbations)
    if by_phase and (config.mode != "paused" or not isinstance(config.command, tuple)):
        raise BadRequest(
            f"{source}: perturbations of a robot that is driven need `at` in seconds, but for a "
            "script in mode paused"
        )
    if isinstance(config.command, tuple) and config.drive.source != "none":
        raise BadRequest(
            f"{source}: one drives, not two: leave out the script in command, or drive.source"
        )
    if config.drive.source != "none" and config.mode != "realtime":
        raise BadRequest(
            f"{source}: drive.source {config.drive.source} is for mode realtime; in lock step only "
            "a script drives"
        )
    if config.drive.source != "none":
        _check_source(config, source)
    _check_strides(config, source)
    if isinstance(config.command, tuple):
        try:
            Script(config.command, config.drive, config.reference)
        except ValueError as error:
            raise BadRequest(f"{source}: command: {error}") from error


def _check_source(config: LaunchConfig, source: str) -> None:
    """Refuse who cannot drive this robot."""
    by = config.drive.source
    if config.robot == "emulator":
        raise BadRequest(f"{source}: drive.source {by} is for the launch that plans, not this one")
    if by == "remote" and not config.bridged:
        raise BadRequest(
            f"{source}: drive.source remote needs an A1, real or emulated; a simulated robot takes "
            "keyboard, gamepad, client"
        )
    if by == "keyboard" and config.bridged and not config.hardware.operator.keyboard:
        raise BadRequest(f"{source}: drive.source keyboard needs hardware.operator.keyboard true")


def _check_strides(config: LaunchConfig, source: str) -> None:
    """Refuse knots that do not fit every gait: commands may change it."""
    try:
        for gait in GAITS.values():
            if gait.duty < 1.0:
                gait.knots(getattr(config, config.planner).period)
    except ValueError as error:
        raise BadRequest(f"{source}: {error}") from error


def write_config(config: LaunchConfig, path: Path) -> None:
    """Write the whole configuration, defaults included, as a launch file that reads back."""
    path.write_bytes(msgspec.yaml.encode(config))
