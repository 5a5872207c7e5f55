"""Swing-ups in the thesis's order for one choice of its unprinted numbers, and their measures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from controller.convergent.rotary.feedback import Weights, design
from controller.convergent.rotary.parameters import (
    QUBE_LATER_EDITION,
    QUBE_SERVO_2,
    RotaryPendulum,
)
from controller.convergent.rotary.perturbation import Perturbed, perturb
from controller.convergent.rotary.swing_up import SwingUpCost, SwingUpOptions, SwingUpPlanner
from controller.convergent.rotary.tracking import Tracked, track
from controller.convergent.rotary.trajectory import SwingUp, accuracy, measure

MEASURES = (
    "success", "success_plus", "success_minus", "swing_time", "success_swinging", "first_lost",
    "average_divergence", "energy", "roughness", "max_torque", "max_voltage", "interval_error",
    "whole_error", "tracked",
)  # of a row; None where there is no plan
SWINGS = 0.5  # the pole is swung up from where it is first so far from hanging [rad]


@dataclass(frozen=True)
class Case:
    """What the thesis leaves open."""

    name: str = "base"
    task: SwingUpOptions = field(default_factory=SwingUpOptions)
    gamma: float = 3e-3  # weight of the changes of torque
    sigma: float = 10.0  # weight of the average divergence
    weights: Weights = field(default_factory=Weights)
    pendulum: RotaryPendulum = QUBE_SERVO_2


class Solved(NamedTuple):
    """One swing-up of a case; without a plan, its row alone says why."""

    row: dict[str, Any]
    swing: SwingUp
    perturbed: Perturbed | None = None
    tracked: Tracked | None = None


BASE = Case()


def family() -> list[Case]:
    """The base with one number changed each time, and where plain tasks show little."""
    task, weigh = BASE.task, BASE.weights
    strong = replace(BASE, name="0.1 N m", task=replace(task, torque_limit=0.1))
    later = replace(BASE, name="later edition", pendulum=QUBE_LATER_EDITION)
    return [
        replace(BASE, name="2.5 s", task=replace(task, duration=2.5, waypoints=201)),
        replace(BASE, name="4 s", task=replace(task, duration=4.0, waypoints=321)),
        replace(BASE, name="0.075 N m", task=replace(task, torque_limit=0.075)),
        strong,
        replace(strong, name="0.1 N m, sigma 1", sigma=1.0),
        replace(BASE, name="gamma 1e-3", gamma=1e-3),
        replace(BASE, name="gamma 1e-2", gamma=1e-2),
        replace(BASE, name="sigma 3", sigma=3.0),
        replace(BASE, name="sigma 30", sigma=30.0),
        replace(BASE, name="R 100", weights=replace(weigh, R=100.0)),
        replace(BASE, name="Q speeds 0.1", weights=Weights(np.array([1.0, 10.0, 0.1, 0.1]))),
        replace(BASE, name="heavier arm", pendulum=QUBE_SERVO_2._replace(J_r=later.pendulum.J_r)),
        later,
        replace(later, name="later, 0.1 N m", task=strong.task),
    ]


def solve(
    case: Case, trials: int, seed: int
) -> Mapping[str, Solved]:
    """Minimal energy, then smooth, then convergent, each plan seeding the next; all evaluated.

    Args:
        case: what to plan.
        trials: machines that track each plan; 0 for none.
        seed: of the machines.
    """
    solved = {}
    for name, swing, seconds in _plan(case):
        solved[name] = evaluate(case, name, swing, seconds, trials, seed)
    return solved


def evaluate(
    case: Case, name: str, swing: SwingUp, seconds: float, trials: int, seed: int
) -> Solved:
    """Perturb and track one swing-up, and make its row."""
    row: dict[str, Any] = {
        "trajectory": name, "case": case.name, "status": swing.status,
        "iterations": swing.iterations, "seconds": seconds, "message": swing.message,
    }  # fmt: skip
    if not swing.ok:
        return Solved(row | dict.fromkeys(MEASURES), swing)
    feedback = design(case.pendulum, swing, case.weights)
    pushed = perturb(case.pendulum, feedback, swing.times)
    tracked = track(case.pendulum, feedback, trials, seed) if trials else None
    costs, errors = measure(case.pendulum, swing), accuracy(case.pendulum, swing)
    measured = (
        float(np.mean(pushed.success)), float(np.mean(pushed.plus)), float(np.mean(pushed.minus)),
        *_while_swinging(swing, pushed), _first_lost(swing, pushed), costs.average_divergence,
        costs.energy, costs.roughness, costs.torque, costs.voltage, errors.interval, errors.whole,
        None if tracked is None else float(np.mean(tracked.success)),
    )  # fmt: skip
    return Solved(row | dict(zip(MEASURES, measured, strict=True)), swing, pushed, tracked)


def smooth_again(case: Case, convergent: SwingUp) -> tuple[SwingUp, float]:
    """The smooth swing-up seeded by the convergent one: whether it was only a poorer optimum."""
    started = time.perf_counter()
    swing = SwingUpPlanner(case.task, case.pendulum).solve(SwingUpCost(1.0, case.gamma), convergent)
    return swing, time.perf_counter() - started


def _plan(case: Case) -> Iterator[tuple[str, SwingUp, float]]:
    """Name, plan and seconds of its solution, in the order of 2.6.6."""
    planner, swing = SwingUpPlanner(case.task, case.pendulum), None
    for name, cost in (
        ("minimal_energy", SwingUpCost(1.0)),
        ("smooth", SwingUpCost(1.0, case.gamma)),
        ("convergent", SwingUpCost(1.0, case.gamma, case.sigma)),
    ):
        started = time.perf_counter()
        swing = planner.solve(cost, swing)
        yield name, swing, time.perf_counter() - started


def _while_swinging(swing: SwingUp, pushed: Perturbed) -> tuple[float, float]:
    """How long the pole is swung up [s], and the share of success from there on."""
    start = int(np.argmax(np.abs(swing.states[:, 1]) > SWINGS))
    share = np.mean(np.concatenate([pushed.plus[start:], pushed.minus[start:]]))
    return float(swing.times[-1] - swing.times[start]), float(share)


def _first_lost(swing: SwingUp, pushed: Perturbed) -> float | None:
    """The first time [s] of a perturbation that is not made up for; None where all are."""
    lost = np.logical_not(np.logical_and(pushed.plus, pushed.minus))
    return float(swing.times[np.argmax(lost)]) if np.any(lost) else None
