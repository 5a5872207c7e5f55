"""Gaits walked in lock step, and the outcomes of each of their touchdowns."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from controller.gaits import GAITS
from robots.contact_dynamics import ContactDynamics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot
from robots.touchdown import impact
from saltus.configuration.launch import make_config
from saltus.launch.lock_step import LockStep, Tick
from saltus.metrics.touchdown_spread import (
    Outcomes,
    Spread,
    largest_distance,
    ordered_outcomes,
    outcomes_of,
    spread_of,
)
from saltus.metrics.touchdowns import Array, TouchdownFinder, Touchdowns, feet_of, kind_of
from studies.study import StudyOptions

SPEED = 0.2  # commanded [m/s]


class Walked(NamedTuple):
    """The touchdowns of one run, at full speed."""

    gait: str
    touchdowns: Touchdowns
    fell: bool


class MeasuredTouchdown(NamedTuple):
    """One touchdown."""

    gait: str
    landing: tuple[str, ...]
    kind: str
    standing: tuple[str, ...]
    v: Array  # (18) before
    spread: Spread
    orders: float  # largest distance of outcomes of impacts foot after foot [m/s of the base]
    planner: float  # from the planner's impact, all feet stuck, to the nearest outcome [m/s]
    outcomes: Outcomes


def walk(gait: str, duration: float, seed: int, tick: Callable[[int], None]) -> Walked:
    """Let the A1 follow a gait undisturbed, under HiLQR, and keep the touchdowns after the ramp.

    Args:
        gait: walk, trot or bound.
        duration: of the run [s].
        seed: of the sensors' noise.
        tick: called at every tick with its number.
    """
    config = make_config(
        {"reference": gait, "duration": duration, "command": {"velocity_x": SPEED},
         "simulation": {"seed": seed}}, f"study of {gait}",
    )  # fmt: skip
    logging.getLogger("controller").addHandler(logging.NullHandler())  # that it starts is no news
    run, finder = LockStep(config), TouchdownFinder()

    def keep(at: Tick) -> None:
        truth = at.truth
        finder.add(truth.time, truth.q, truth.v, truth.contact)
        tick(truth.tick)

    fell = run.run(keep).fell
    touchdowns, settled = finder.touchdowns(), GAITS[gait].start + GAITS[gait].ramp
    return Walked(gait, touchdowns.rows(touchdowns.time >= settled), fell)


def measure(
    robot: Robot, walked: Walked, samples: int, options: StudyOptions
) -> list[MeasuredTouchdown]:
    """Sample the outcomes of each touchdown, and compare other impact laws with them."""
    model = load_pinocchio(robot)
    dynamics = ContactDynamics(model, foot_frame_ids(model))
    impacts, touchdowns = [], walked.touchdowns
    rows = range(len(touchdowns.time))
    for row in options.track(rows, lambda _: f"{walked.gait}: outcomes"):
        q, v, landing = touchdowns.q[row], touchdowns.v[row], touchdowns.landing[row]
        outcomes = outcomes_of(robot, touchdowns, row, samples, options.seed)
        stuck = impact(dynamics, q, v, landing + touchdowns.standing[row]).v_plus
        distance = np.linalg.norm(outcomes.v_plus[:, :3] - stuck[:3], axis=1)
        impacts.append(MeasuredTouchdown(
            walked.gait, feet_of(landing), kind_of(landing), feet_of(touchdowns.standing[row]), v,
            spread_of(outcomes, v, landing),
            largest_distance(ordered_outcomes(outcomes.problem, v)[:, :3]), float(distance.min()),
            outcomes,
        ))  # fmt: skip
    return impacts
