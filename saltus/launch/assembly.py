"""Builds the cores of a launch from its configuration: the one place that knows all of them.

A core is imported where it is made: each process makes one of them, and starts the sooner.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from controller.driving.commands import CommandIntake, CommandScript, ScriptClock
from controller.gaits import GAITS, Gait
from controller.solve_schedule import SolveSchedule
from robots.planar_pose import PlanarPose
from robots.robot_file import is_own
from saltus.common.errors import BadRequest, refusing
from saltus.configuration.launch import TICK_S, LaunchConfig
from saltus.configuration.planners import ESTIMATORS, is_plugin
from saltus.launch import references
from saltus.launch.plugins import load
from sim_bridge.options import MotorOptions
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import PhaseInstant
from sim_bridge.rollouts.unavailable import Unavailable

if TYPE_CHECKING:
    from controller.ground_estimate import GroundEstimate
    from controller.planner import Planner
    from controller.tracker import Tracker
    from estimator.interface import Estimator
    from robots.terrain import Ground
    from sim_bridge.simulated_robot import SimulatedRobot


def solve_schedule(config: LaunchConfig) -> SolveSchedule:
    """The solves of a run in lock step: once a knot, or as often as the latency model allows."""
    every, age = config.planner_options.period / TICK_S, config.timing.estimate / TICK_S
    return SolveSchedule(round(every), config.timing.solve, round(age))


def gait_clock(config: LaunchConfig) -> Gait | ScriptClock | None:
    """Times at which feet lift off and land; None where they are unknown before the robot moves."""
    if not config.is_driven:
        return GAITS.get(config.reference)
    commands = make_commands(config)
    if config.mode != "paused" or not isinstance(commands, CommandScript):
        return None
    period, starts = config.planner_options.period, []
    for solve in solve_schedule(config):
        time = solve.estimate * TICK_S
        if config.planner_entry.rolls_out:
            starts.append(math.ceil((time + solve.lead) / period - 1e-6))
        else:
            starts.append(math.floor(time / period + 1e-6))
        if solve.start >= config.ticks:
            break
    return ScriptClock(commands, config.drive, config.robot_model, period, starts)


def make_script(config: LaunchConfig) -> PerturbationScript:
    """The perturbations, their gait phases resolved by the reference's schedule, or the script's.

    Raises:
        BadRequest: an event names a phase that the reference does not have.
    """
    by_phase = any(isinstance(event.at, PhaseInstant) for event in config.perturbations)
    with refusing("perturbations", ValueError):
        return PerturbationScript(config.perturbations, gait_clock(config) if by_phase else None)


def event_times(config: LaunchConfig) -> list[float]:
    """Begin of each perturbation [s], in order; those that come again, each time.

    Raises:
        BadRequest: an event names a phase that the reference does not have.
    """
    return [first * TICK_S for first in make_script(config).beginnings(config.ticks)]


def make_ground(config: LaunchConfig) -> Ground | None:
    """The ground below the simulated robot; None for a level floor.

    Raises:
        BadRequest: there is no such ground, or the robot cannot start on it.
    """
    if config.terrain == "flat":
        return None
    from sim_bridge.ground import ground_of

    with refusing("terrain", ValueError):
        return ground_of(config.terrain, config.simulation.friction, config.simulation.seed)


def known_ground(config: LaunchConfig) -> Ground | None:
    """The estimator's ground; None for a level floor at z = 0."""
    if config.knows_ground:
        return make_ground(config)
    from robots.terrain import unknown_ground

    return unknown_ground()


def ground_heading(config: LaunchConfig) -> float | None:
    """Heading of a known ground's x axis in the IMU's world [rad]; None where it has none."""
    if not config.knows_ground or config.terrain == "flat":
        return None
    return config.simulation.start.pose.yaw


def estimate_ground(config: LaunchConfig) -> GroundEstimate | None:
    """The estimated ground of a planner that does not know it; None where it is known."""
    if config.knows_ground:
        return None
    from controller.ground_estimate import GroundEstimate

    return GroundEstimate(config.robot_model, level=config.terrain_belief == "flat")


def make_simulation(config: LaunchConfig) -> SimulatedRobot:
    """The simulated robot, as it starts.

    Raises:
        BadRequest: its physics is a server's, and none answers.
    """
    from sim_bridge.simulated_robot import SimulatedRobot

    script = make_script(config)
    with refusing(f"simulation.engine {config.simulation.engine}", Unavailable):
        simulation = SimulatedRobot(
            config.robot_model, config.simulation, script, make_ground(config)
        )
        simulation.tilt_allowance = references.tilt_allowance(config)
        return simulation


def make_estimator(config: LaunchConfig) -> Estimator:
    """The estimator of the launch; one that is not Saltus's own gets the whole configuration.

    Raises:
        BadRequest: it is not there.
    """
    factory = load(config.estimator_entry.factory)
    if config.estimator not in ESTIMATORS:
        return factory(config)
    options, heading = getattr(config, config.estimator), ground_heading(config) or 0.0
    return factory(options, config.robot_model, known_ground(config), heading)


def make_tracker(config: LaunchConfig) -> Tracker:
    """The tracker."""
    from controller.tracker import Tracker

    return Tracker(config.tracker, config.robot_model)


def check(config: LaunchConfig) -> None:
    """Find out before anything starts whether the parts of a launch fit together.

    Raises:
        BadRequest: they do not; the message says which and why.
    """
    make_script(config)
    make_ground(config)
    if config.kind.simulated and config.simulation.engine != "mujoco":
        make_simulation(config).close()
    if not is_own(config.robot) or config.simulation.motors != MotorOptions():
        from sim_bridge.motors import motor_limits

        with refusing("", ValueError):
            motor_limits(config.robot_model, config.simulation.motors)
    for name in (config.planner, config.estimator):
        if is_plugin(name):
            load(name)
    if config.planner_entry.rolls_out:
        load("saltus.launch.planners:check_rollouts")(config)


def make_commands(config: LaunchConfig) -> CommandIntake | None:
    """Source of the goals of a driven robot's planner; None for one that is not driven."""
    if config.script is not None:
        return CommandScript(config.script, config.drive, config.reference)
    return CommandIntake(config.drive) if config.is_driven else None


def make_planner(config: LaunchConfig) -> Planner:
    """The planner of the launch, with commands of its own where the robot is driven.

    Raises:
        BadRequest: it is not there, or cannot be made for these options.
    """
    from controller.planner import Planner as Base

    planner = load(config.planner_entry.factory)(config)
    if not isinstance(planner, Base):
        raise BadRequest(f"{config.planner} does not derive from controller.planner.Planner")
    if (heading := ground_heading(config)) is not None:
        planner.start_pose = PlanarPose(yaw=heading)
    return planner
