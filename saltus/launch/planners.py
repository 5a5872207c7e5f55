"""How the planners of `saltus.configuration.planners` are made for a launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from controller.gaits import GAITS
from saltus.common.errors import BadRequest
from saltus.launch import rollouts
from saltus.launch.assembly import estimate_ground, make_commands, make_ground
from saltus.launch.motions import reference_file
from saltus.launch.recorded_walk import recorded_walk

if TYPE_CHECKING:
    from controller.centroidal.path import Path
    from controller.centroidal.planner import CentroidalPlanner
    from controller.driving.commands import Commands
    from controller.ground_estimate import GroundEstimate
    from controller.hilqr_planner import HilqrPlanner
    from controller.mppi_planner import MppiPlanner
    from controller.planner_options import CentroidalOptions, PlannerOptions
    from controller.references import Reference
    from controller.robot_model import Derivatives
    from robots.robot import Robot
    from robots.terrain import Ground
    from saltus.configuration.launch import LaunchConfig


def hilqr(config: LaunchConfig) -> HilqrPlanner:
    """HiLQR on its reference and its rollout backend.

    Raises:
        BadRequest: the reference or the backend cannot be made for these options.
    """
    from controller.hilqr_planner import HilqrPlanner

    options, (ground, estimate) = rollouts.planning(config), _belief(config)
    reference = make_reference(config, make_commands(config), ground)
    backend = rollouts.make_rollout(config, ground)
    derivatives = make_derivatives(options, config.robot_model, config.rollout != "mujoco", ground)
    planner = HilqrPlanner(options, config.robot_model, reference, backend, derivatives, ground)
    if estimate is not None:
        estimate.simulators += [backend, derivatives]
        planner.ground_estimate = estimate
    return planner


def mppi(config: LaunchConfig) -> MppiPlanner:
    """MPPI on its reference and its rollout backend.

    Raises:
        BadRequest: the reference or the backend cannot be made for these options.
    """
    from controller.mppi_planner import MppiPlanner

    ground, estimate = _belief(config)
    reference = make_reference(config, make_commands(config), ground)
    backend = rollouts.make_rollout(config, ground)
    planner = MppiPlanner(config.mppi, config.robot_model, reference, backend)
    if estimate is not None:
        estimate.simulators.append(backend)
        planner.ground_estimate = estimate
    return planner


def check_rollouts(config: LaunchConfig) -> None:
    """Refuse a reference or a rollout backend that cannot be made.

    Raises:
        BadRequest: one cannot; of a gait it is found out before any numerics are loaded.
    """
    if config.reference_from == "convex_mpc" or config.reference not in GAITS:
        make_reference(config)
    else:
        try:
            GAITS[config.reference].knots(config.planner_options.period)
        except ValueError as error:
            raise BadRequest(f"reference: {error}") from error
    rollouts.check(config, lambda: _belief(config)[0])


def _belief(config: LaunchConfig) -> tuple[Ground | None, GroundEstimate | None]:
    """A planner's ground, None for the level floor z = 0, and what moves it where it is unknown."""
    estimate = estimate_ground(config)
    return (make_ground(config), None) if estimate is None else (estimate.ground, estimate)


def make_reference(
    config: LaunchConfig, commands: Commands | None = None, ground: Ground | None = None
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
    if config.reference_from == "convex_mpc" and name in GAITS:
        name = str(recorded_walk(config))
    name = reference_file(name, config.robot)
    try:
        period, robot = config.planner_options.period, config.robot_model
        return references.make_reference(robot, name, config.speed, period)
    except ValueError as error:
        raise BadRequest(f"reference: {error}") from error


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


def convex_mpc(config: LaunchConfig) -> CentroidalPlanner:
    """Convex MPC on the path of the gait, or of the commands."""
    from controller.centroidal.convex_mpc import convex_mpc

    return _centroidal(config, config.convex_mpc, convex_mpc)


def instant_qp(config: LaunchConfig) -> CentroidalPlanner:
    """Instant QP on the path of the gait, or of the commands."""
    from controller.centroidal.instant_qp import instant_qp

    return _centroidal(config, config.instant_qp, instant_qp)


def _centroidal(
    config: LaunchConfig, options: Any, make: Callable[..., CentroidalPlanner]
) -> CentroidalPlanner:
    """The planner that `make` makes, on the ground that is known or estimated."""
    ground, estimate = _belief(config)
    path, robot = _path(config, options, ground), config.robot_model
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
