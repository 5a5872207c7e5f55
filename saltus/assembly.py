"""Builds the cores of a launch from its configuration: the one place that knows all of them."""

from collections.abc import Callable
from typing import Any

from controller.a1_model import Derivatives
from controller.centroidal.convex_mpc import convex_mpc
from controller.centroidal.instant_qp import instant_qp
from controller.gaits import GAITS
from controller.hilqr_planner import HilqrPlanner
from controller.planner_node import Planner
from controller.planner_options import PlannerOptions
from controller.references import ReferenceTrajectory, make_reference
from controller.rigid_derivatives import RigidDerivatives
from controller.solve_schedule import SolveSchedule
from controller.tracker import Tracker
from estimator.interface import Estimator
from estimator.invariant.filter import InvariantFilter
from estimator.leg_odometry import LegOdometryFilter
from estimator.salted.estimator import SaltedEstimator
from saltus import rollouts
from saltus.configuration import TICK_S, LaunchConfig
from saltus.errors import BadRequest
from saltus.recorded_walk import recorded_walk
from saltus.timing import make_schedule
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.unavailable import Unavailable
from sim_bridge.simulated_a1 import SimulatedA1

# name in a launch file -> class, which takes the section of that name
FILTERS: dict[str, Callable[[Any], Estimator]] = {
    "salted": SaltedEstimator,
    "leg_odometry": LegOdometryFilter,
    "invariant": InvariantFilter,
}


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


def make_script(config: LaunchConfig) -> PerturbationScript:
    """The perturbations, their gait phases resolved by the reference's schedule.

    Raises:
        BadRequest: an event names a phase that the reference does not have.
    """
    try:
        return PerturbationScript(config.perturbations, GAITS.get(config.reference))
    except ValueError as error:
        raise BadRequest(f"perturbations: {error}") from error


def event_times(config: LaunchConfig) -> list[float]:
    """When each perturbation begins [s].

    Raises:
        BadRequest: an event names a phase that the reference does not have.
    """
    return [first * TICK_S for first, _ in make_script(config).ticks]


def make_simulation(config: LaunchConfig) -> SimulatedA1:
    """The simulated robot, as it starts.

    Raises:
        BadRequest: its physics is a server's, and none answers.
    """
    script = make_script(config)
    try:
        return SimulatedA1(config.simulation, script)
    except Unavailable as error:
        raise BadRequest(f"simulation.engine {config.simulation.engine}: {error}") from error


def make_estimator(config: LaunchConfig) -> Estimator:
    """The estimator of the launch."""
    return FILTERS[config.estimator](getattr(config, config.estimator))


def make_tracker(config: LaunchConfig) -> Tracker:
    """The tracker."""
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
        make_planner_reference(config)
        rollouts.check(config)


def make_planner_reference(config: LaunchConfig) -> ReferenceTrajectory:
    """HiLQR's reference, on its knots; a walk that is to be recorded is, where there is none yet.

    Raises:
        BadRequest: it does not fit the planner's knots, its file holds no trajectory, or no walk
            can be recorded.
    """
    name = config.reference
    if config.reference_from == "convex_mpc" and name in GAITS:
        name = str(recorded_walk(config))
    try:
        return make_reference(name, config.command.velocity_x, config.hilqr.period)
    except ValueError as error:
        raise BadRequest(f"reference: {error}") from error


def make_planner(config: LaunchConfig) -> Planner:
    """The planner of the launch.

    Raises:
        BadRequest: HiLQR's reference cannot be made for these options.
    """
    if config.planner == "hilqr":
        return make_hilqr_planner(config)
    gait, speed = GAITS[config.reference], config.command.velocity_x
    in_real_time = config.mode == "realtime"
    if config.planner == "instant_qp":
        return instant_qp(config.instant_qp, gait, speed, in_real_time)
    return convex_mpc(config.convex_mpc, gait, speed, in_real_time)


def make_hilqr_planner(config: LaunchConfig) -> HilqrPlanner:
    """HiLQR on its reference and its rollout backend.

    Raises:
        BadRequest: the reference or the backend cannot be made for these options.
    """
    options, reference = rollouts.planning(config), make_planner_reference(config)
    backend = rollouts.make_rollout(config)
    derivatives = make_derivatives(options, replay=config.rollout != "mujoco")
    return HilqrPlanner(options, reference, backend, derivatives)


def make_derivatives(options: PlannerOptions, replay: bool = False) -> Derivatives:
    """The derivatives that a planner's options name: MuJoCo's here, whatever rolls out.

    `replay` where that is another physics: see `RolloutDerivatives`.
    """
    if options.derivatives == "rigid":
        return RigidDerivatives(options.period, options.touchdown_order)
    horizon = options.period, options.substeps, options.threads
    if options.derivatives == "rollout":
        return RolloutDerivatives(*horizon, replay=replay)
    return DifferenceDerivatives(*horizon)
