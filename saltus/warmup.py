"""Compile and load everything before time counts: a first call may take a minute, later ones not."""

import numpy as np

from runtime.messages import StateEstimate
from saltus import assembly
from saltus.configuration import LaunchConfig
from saltus.console import say


def warm_all(config: LaunchConfig) -> None:
    """Run each core once, so that the compiled code is in the caches that all processes share."""
    say("compiling what is not compiled yet (a minute or two on the first run)")
    warm_simulation(config)
    warm_estimator(config)
    assembly.make_tracker(config)  # compiles as it is made
    warm_planner(config)


def warm_simulation(config: LaunchConfig) -> None:
    """Step a simulated robot of its own twice."""
    robot = assembly.make_simulation(config)
    for _ in range(2):
        robot.advance(None)


def warm_estimator(config: LaunchConfig) -> None:
    """Feed a filter of its own three readings."""
    robot, estimator = assembly.make_simulation(config), assembly.make_estimator(config)
    for _ in range(3):
        estimator.update(robot.reading())
        robot.advance(None)


def warm_planner(config: LaunchConfig) -> None:
    """Solve twice, with a planner of its own, from the simulated robot's stand."""
    planner, truth = assembly.make_planner(config), assembly.make_simulation(config).truth()
    for tick in (0, assembly.plan_every_ticks(config)):
        estimate = StateEstimate(
            tick=tick, time=1e-3 * tick, q=truth.q, v=truth.v, contact=np.ones(4), status="ok"
        )
        planner.solve(estimate)
