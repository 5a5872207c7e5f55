"""Construction of the planners of `saltus.configuration.planners`, and physics of their rollouts.

Nothing of a backend is imported before it is asked for: most machines have one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from controller.gaits import GAITS
from controller.planner_options import MppiOptions, PlannerOptions
from saltus.common.errors import BadRequest, refusing
from saltus.configuration.launch import ROLLOUTS, LaunchConfig
from saltus.launch.assembly import estimate_ground, make_commands, make_ground
from saltus.launch.plugins import load
from saltus.launch.references import recorded_walk, reference_file
from sim_bridge.options import RolloutServerOptions
from sim_bridge.rollouts.unavailable import Unavailable

if TYPE_CHECKING:
    from controller.centroidal.path import Path
    from controller.centroidal.planner import CentroidalPlanner
    from controller.driving.commands import CommandIntake
    from controller.ground_estimate import GroundEstimate
    from controller.hilqr_planner import HilqrPlanner
    from controller.mppi_planner import MppiPlanner
    from controller.planner_options import CentroidalOptions
    from controller.references import Reference
    from controller.robot_model import Derivatives, RolloutBackend
    from robots.robot import Robot
    from robots.terrain import Ground
    from sim_bridge.rollouts.threaded import ThreadedRollout


PROBE_S = 0.3  # longest wait for a server that is only looked for [s]


class Availability(NamedTuple):
    """Whether a backend can be had here.

    Attributes:
        backend: its name in a launch file; found: its device, or what is missing and the remedy.
    """

    backend: str
    here: bool
    found: str


def planning(config: LaunchConfig) -> PlannerOptions:
    """The options of HiLQR's solver in this mode: of the planner that runs, or else of HiLQR.

    A device or a server gets all step sizes in one call: a second call costs more than rollouts.
    """
    options = (config.solver or config.hilqr).in_mode(config.mode)
    if config.rollout == "mujoco":
        return options
    return replace(options, search=replace(options.search, line_search="exhaustive"))


def _physics(config: LaunchConfig) -> tuple[int, float, int, int]:
    """Knots of a rollout, time between them [s], steps within, threads."""
    options = config.mppi if config.planner == "mppi" else planning(config)
    search = options if isinstance(options, MppiOptions) else options.search
    return options.knots, options.period, search.substeps, search.threads


def make_rollout(config: LaunchConfig, ground: Ground | None = None) -> RolloutBackend:
    """The rollout backend of a launch, on `ground` or the level floor z = 0.

    Raises:
        BadRequest: what it needs is not here; the message names the remedy and what is here.
    """
    if config.rollout == "mujoco":
        return _mujoco(config, ground)
    try:
        return (_warp if config.rollout == "warp" else _served)(config, ground)
    except Unavailable as error:
        there = [row.backend for row in availability(config) if row.here]
        raise BadRequest(
            f"rollout {config.rollout}: {error}; available here: {', '.join(there)}"
        ) from error


def availability(config: LaunchConfig) -> list[Availability]:
    """Every backend and whether it can be had here."""
    return [_look(name, config) for name in ROLLOUTS]


def _look(name: str, config: LaunchConfig) -> Availability:
    try:
        return Availability(name, True, _device(name, config))
    except Unavailable as error:
        return Availability(name, False, str(error))


def _mujoco(config: LaunchConfig, ground: Ground | None) -> ThreadedRollout:
    from sim_bridge.rollouts.threaded import ThreadedRollout

    return ThreadedRollout(config.robot_model, *_physics(config), ground)


_warm: dict[Any, RolloutBackend] = {}  # the process's newest on Warp


def _warp(config: LaunchConfig, ground: Ground | None) -> RolloutBackend:
    from sim_bridge.ground_exchange import name_of
    from sim_bridge.rollouts.warp_rollout import WarpRollout

    (_, period, substeps, _), robot = _physics(config), config.robot_model
    key = robot, period, substeps, config.warp, None if ground is None else name_of(ground)
    if key not in _warm:  # what warms a planner up makes the batches that the real one will use
        _warm.clear()
        _warm[key] = WarpRollout(robot, period, substeps, config.warp, ground=ground)
    if ground is not None:
        _warm[key].move_ground(ground)  # an estimate may have moved it
    return _warm[key]


def _served(config: LaunchConfig, ground: Ground | None) -> RolloutBackend:
    from sim_bridge.rollouts.remote import RemoteRollout

    (_, period, substeps, _), server = _physics(config), getattr(config, config.rollout)
    wait_s = server.timeout if config.mode == "realtime" else server.patience
    return RemoteRollout(
        config.robot_model, server, _mujoco(config, ground), period, substeps, wait_s,
        config.rollout, ground, moves=not config.knows_ground,
    )  # fmt: skip


def _device(name: str, config: LaunchConfig) -> str:
    """Device of a backend.

    Raises:
        Unavailable: it cannot be had.
    """
    if name == "mujoco":
        return "cpu"
    if name == "warp":
        from sim_bridge.rollouts.warp_device import open_device

        return open_device(config.warp.device).name
    from sim_bridge.physics_client import PhysicsClient

    server: RolloutServerOptions = getattr(config, name)
    client = PhysicsClient(server, name, PROBE_S)
    client.close()
    return f"{client.info.backend} on {client.info.device} at {server.address}"


def hilqr(config: LaunchConfig) -> HilqrPlanner:
    """HiLQR on its reference and its rollout backend.

    Raises:
        BadRequest: the reference or the backend cannot be made for these options.
    """
    from controller.hilqr_planner import HilqrPlanner

    options, (ground, estimate) = planning(config), _belief(config)
    reference, backend = _followed(config, ground)
    derivatives = make_derivatives(options, config.robot_model, config.rollout != "mujoco", ground)
    planner = HilqrPlanner(options, config.robot_model, reference, backend, derivatives, ground)
    return _moving(planner, estimate, backend, derivatives)


def mppi(config: LaunchConfig) -> MppiPlanner:
    """MPPI on its reference and its rollout backend.

    Raises:
        BadRequest: the reference or the backend cannot be made for these options.
    """
    from controller.mppi_planner import MppiPlanner

    ground, estimate = _belief(config)
    reference, backend = _followed(config, ground)
    planner = MppiPlanner(config.mppi, config.robot_model, reference, backend)
    return _moving(planner, estimate, backend)


def _followed(config: LaunchConfig, ground: Ground | None) -> tuple[Reference, RolloutBackend]:
    """The reference of a planner, and the physics of its candidates."""
    return make_reference(config, make_commands(config), ground), make_rollout(config, ground)


def _moving(planner: Any, estimate: GroundEstimate | None, *simulators: Any) -> Any:
    """The planner, with the estimate that moves the ground of its simulators."""
    if estimate is not None:
        estimate.simulators += simulators
        planner.ground_estimate = estimate
    return planner


def check_rollouts(config: LaunchConfig) -> None:
    """Refuse a reference or a rollout backend that cannot be made.

    Raises:
        BadRequest: one cannot; of a gait it is found out before any numerics are loaded.
    """
    if config.records_walk or config.reference not in GAITS:
        make_reference(config)
    else:
        with refusing("reference", ValueError):
            GAITS[config.reference].knots(config.planner_options.period)
    if config.rollout != "mujoco":
        make_rollout(config, _belief(config)[0])


def _belief(config: LaunchConfig) -> tuple[Ground | None, GroundEstimate | None]:
    """A planner's ground, None for the level floor z = 0, and what moves it where it is unknown."""
    estimate = estimate_ground(config)
    return (make_ground(config), None) if estimate is None else (estimate.ground, estimate)


def make_reference(
    config: LaunchConfig, commands: CommandIntake | None = None, ground: Ground | None = None
) -> Reference:
    """HiLQR's reference, on its knots; a walk that is to be recorded is, where there is none yet.

    Raises:
        BadRequest: it does not fit the planner's knots, its file holds no trajectory, or no walk
            can be recorded.
    """
    if commands is not None:
        from controller.driving.reference import DrivenReference

        period, robot = config.planner_options.period, config.robot_model
        return DrivenReference(config.drive, robot, period, commands, ground)
    from controller import references

    name = config.reference
    if config.records_walk:
        name = str(recorded_walk(config))
    name = reference_file(name, config.robot)
    with refusing("reference", ValueError):
        period, robot = config.planner_options.period, config.robot_model
        return references.make_reference(robot, name, config.speed, period)


def make_derivatives(
    options: PlannerOptions, robot: Robot, replay: bool = False, ground: Ground | None = None
) -> Derivatives:
    """The derivatives that a planner's options name: MuJoCo's here, whatever rolls out.

    `replay` where that is another physics: see `RolloutDerivatives`. `ground` None is level.
    """
    if options.derivatives == "rigid":
        from controller.rigid_derivatives import RigidDerivatives

        return RigidDerivatives(robot, options.period, options.touchdown_order, ground)
    from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives

    horizon = options.period, options.search.substeps, options.search.threads
    if options.derivatives == "rollout":
        return RolloutDerivatives(robot, *horizon, replay=replay, ground=ground)
    return DifferenceDerivatives(robot, *horizon, ground=ground)


def centroidal(config: LaunchConfig) -> CentroidalPlanner:
    """Convex MPC or Instant QP, on the path of the gait or of the commands."""
    ground, estimate = _belief(config)
    options, robot = getattr(config, config.planner), config.robot_model
    make = load(f"controller.centroidal.{config.planner}:{config.planner}")
    path = _path(config, options, ground)
    planner = make(options, robot, path, config.mode == "realtime", ground)
    planner.ground_estimate = estimate
    return planner


def _path(config: LaunchConfig, options: CentroidalOptions, ground: Ground | None) -> Path:
    commands = make_commands(config)
    if commands is not None:
        from controller.centroidal.path import DrivenPath

        return DrivenPath(options, config.robot_model, config.drive, commands, ground)
    from controller.centroidal.path import CommandedPath

    return CommandedPath(options.path, GAITS[config.reference], config.speed)
