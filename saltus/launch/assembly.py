"""Builds the cores of a launch from its configuration: the one place that knows all of them.

A core is imported where it is made: each process makes one of them, and starts the sooner.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from controller.driving.intake import CommandIntake
from controller.driving.script import Script
from controller.driving.script_clock import ScriptClock
from controller.gaits import GAITS, Gait
from controller.solve_schedule import SolveSchedule
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S, LaunchConfig
from saltus.configuration.timing import make_schedule
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import PhaseInstant
from sim_bridge.rollouts.unavailable import Unavailable

if TYPE_CHECKING:
    from controller.a1_model import Derivatives
    from controller.centroidal.options import CentroidalOptions
    from controller.centroidal.path import Path
    from controller.driving.goal import Commands
    from controller.hilqr_planner import HilqrPlanner
    from controller.planner_node import Planner
    from controller.planner_options import PlannerOptions
    from controller.references import Reference
    from controller.tracker import Tracker
    from estimator.interface import Estimator
    from sim_bridge.simulated_a1 import SimulatedA1


def solve_schedule(config: LaunchConfig) -> SolveSchedule:
    """The solves of a run in lock step: once a knot, or as often as the latency model allows.

    Raises:
        BadRequest: the latency model names a recording that cannot be used.
    """
    options = getattr(config, config.planner)  # its section has the planner's name
    return make_schedule(config.timing, round(options.period / TICK_S))


def solve_time_limit(config: LaunchConfig) -> float:
    """After how long a solve in real time tries fewer candidates [s]."""
    if config.planner == "hilqr":
        return config.hilqr.realtime.time_limit
    return getattr(config, config.planner).time_limit


def gait_clock(config: LaunchConfig) -> Gait | ScriptClock | None:
    """When feet lift off and land; None where nobody knows that before the robot moves."""
    if not config.driven:
        return GAITS.get(config.reference)
    commands = make_commands(config)
    if config.mode != "paused" or not isinstance(commands, Script):
        return None
    period, starts = getattr(config, config.planner).period, []
    for solve in solve_schedule(config):
        time = solve.estimate * TICK_S
        if config.planner == "hilqr":  # plans from the first knot after the solve, others at once
            starts.append(math.ceil((time + solve.lead) / period - 1e-6))
        else:
            starts.append(math.floor(time / period + 1e-6))
        if solve.start >= config.ticks:
            break
    return ScriptClock(commands, config.drive, period, starts)


def make_script(config: LaunchConfig) -> PerturbationScript:
    """The perturbations, their gait phases resolved by the reference's schedule, or the script's.

    Raises:
        BadRequest: an event names a phase that the reference does not have.
    """
    by_phase = any(isinstance(event.at, PhaseInstant) for event in config.perturbations)
    try:
        return PerturbationScript(config.perturbations, gait_clock(config) if by_phase else None)
    except ValueError as error:
        raise BadRequest(f"perturbations: {error}") from error


def event_times(config: LaunchConfig) -> list[float]:
    """When perturbations begin [s], in order; those that come again, each time.

    Raises:
        BadRequest: an event names a phase that the reference does not have.
    """
    return [first * TICK_S for first in make_script(config).beginnings(config.ticks)]


def make_simulation(config: LaunchConfig) -> SimulatedA1:
    """The simulated robot, as it starts.

    Raises:
        BadRequest: its physics is a server's, and none answers.
    """
    from sim_bridge.simulated_a1 import SimulatedA1

    script = make_script(config)
    try:
        return SimulatedA1(config.simulation, script)
    except Unavailable as error:
        raise BadRequest(f"simulation.engine {config.simulation.engine}: {error}") from error


def make_estimator(config: LaunchConfig) -> Estimator:
    """The estimator of the launch."""
    if config.estimator == "salted":
        from estimator.salted.estimator import SaltedEstimator

        return SaltedEstimator(config.salted)
    if config.estimator == "invariant":
        from estimator.invariant.filter import InvariantFilter

        return InvariantFilter(config.invariant)
    from estimator.leg_odometry import LegOdometryFilter

    return LegOdometryFilter(config.leg_odometry)


def make_tracker(config: LaunchConfig) -> Tracker:
    """The tracker."""
    from controller.tracker import Tracker

    return Tracker(config.tracker)


def check(config: LaunchConfig) -> None:
    """Find out before anything starts whether the parts of a launch fit together.

    Raises:
        BadRequest: they do not; the message says which and why.
    """
    make_script(config)
    solve_schedule(config)
    if config.robot == "simulated" and config.simulation.engine != "mujoco":
        make_simulation(config).close()
    if config.planner == "hilqr":
        from saltus.launch import rollouts

        _check_reference(config)
        rollouts.check(config)


def _check_reference(config: LaunchConfig) -> None:
    """Refuse a reference that cannot be made; a gait's says so before its numerics are loaded."""
    if config.reference_from == "convex_mpc" or config.reference not in GAITS:
        make_planner_reference(config)
        return
    try:
        GAITS[config.reference].knots(config.hilqr.period)
    except ValueError as error:
        raise BadRequest(f"reference: {error}") from error


def make_commands(config: LaunchConfig) -> Commands | None:
    """Where a driven robot's planner has its goals from; None for one that is not driven."""
    if isinstance(config.command, tuple):
        return Script(config.command, config.drive, config.reference)
    return CommandIntake(config.drive) if config.driven else None


def make_planner_reference(config: LaunchConfig, commands: Commands | None = None) -> Reference:
    """HiLQR's reference, on its knots; a walk that is to be recorded is, where there is none yet.

    Raises:
        BadRequest: it does not fit the planner's knots, its file holds no trajectory, or no walk
            can be recorded.
    """
    if commands is not None:
        from controller.driving.reference import DrivenReference

        return DrivenReference(config.drive, config.hilqr.period, commands)
    from controller.references import make_reference

    name = config.reference
    if config.reference_from == "convex_mpc" and name in GAITS:
        from saltus.launch.recorded_walk import recorded_walk

        name = str(recorded_walk(config))
    try:
        return make_reference(name, config.speed, config.hilqr.period)
    except ValueError as error:
        raise BadRequest(f"reference: {error}") from error


def make_planner(config: LaunchConfig) -> Planner:
    """The planner of the launch, with commands of its own where the robot is driven.

    Raises:
        BadRequest: HiLQR's reference cannot be made for these options.
    """
    if config.planner == "hilqr":
        return make_hilqr_planner(config)
    path, in_real_time = make_path(config), config.mode == "realtime"
    if config.planner == "instant_qp":
        from controller.centroidal.instant_qp import instant_qp

        return instant_qp(config.instant_qp, path, in_real_time)
    from controller.centroidal.convex_mpc import convex_mpc

    return convex_mpc(config.convex_mpc, path, in_real_time)


def make_path(config: LaunchConfig) -> Path:
    """The path of Convex MPC or Instant QP."""
    options: CentroidalOptions = getattr(config, config.planner)
    commands = make_commands(config)
    if commands is not None:
        from controller.centroidal.driven_path import DrivenPath

        return DrivenPath(options, config.drive, commands)
    from controller.centroidal.path import CommandedPath

    return CommandedPath(options.path, GAITS[config.reference], config.speed)


def make_hilqr_planner(config: LaunchConfig) -> HilqrPlanner:
    """HiLQR on its reference and its rollout backend.

    Raises:
        BadRequest: the reference or the backend cannot be made for these options.
    """
    from controller.hilqr_planner import HilqrPlanner
    from saltus.launch import rollouts

    options = rollouts.planning(config)
    reference = make_planner_reference(config, make_commands(config))
    backend = rollouts.make_rollout(config)
    derivatives = make_derivatives(options, replay=config.rollout != "mujoco")
    return HilqrPlanner(options, reference, backend, derivatives)


def make_derivatives(options: PlannerOptions, replay: bool = False) -> Derivatives:
    """The derivatives that a planner's options name: MuJoCo's here, whatever rolls out.

    `replay` where that is another physics: see `RolloutDerivatives`.
    """
    if options.derivatives == "rigid":
        from controller.rigid_derivatives import RigidDerivatives

        return RigidDerivatives(options.period, options.touchdown_order)
    from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives

    horizon = options.period, options.search.substeps, options.search.threads
    if options.derivatives == "rollout":
        return RolloutDerivatives(*horizon, replay=replay)
    return DifferenceDerivatives(*horizon)
