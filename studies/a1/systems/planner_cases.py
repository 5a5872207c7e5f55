"""Walking states, a little pushed, from which ours and the peer plan: the same for both."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from controller.hilqr_planner import gains_along, solver_options
from controller.planner_options import HilqrSection, PlannerOptions, Search
from controller.references import make_reference
from controller.references.trajectory import ReferenceTrajectory, ReferenceWindow
from controller.robot_model import RobotModel
from robots.conventions import FOOT_NAMES
from robots.robot import load_robot
from robots.state import integrate
from saltation.hilqr import Hilqr
from saltus.launch.planners import make_derivatives
from sim_bridge.rollouts.threaded import ThreadedRollout

Array = NDArray[np.float64]

SPEED = 0.2  # of the walk [m/s]
THREADS = 2
# Standard deviations of the perturbation of x0: position, tilt, joints, and their velocities.
SPREAD = np.repeat([0.0, 0.02, 0.02, 0.2, 0.1, 0.1], [3, 3, 12, 3, 3, 12])  # [m, rad, m/s, rad/s]


class Case(NamedTuple):
    """A state to plan from, and the reference from there on."""

    x0: Array  # (37,)
    window: ReferenceWindow


class PlannerParts(NamedTuple):
    """Our planner in parts, as the planner process puts it together."""

    options: PlannerOptions
    backend: ThreadedRollout
    model: RobotModel
    solver: Hilqr


class Workbench(NamedTuple):
    """The planner in lock step, with rigid derivatives, and as it runs in real time."""

    paused: PlannerParts
    rigid: PlannerParts
    as_run: PlannerParts
    reference: ReferenceTrajectory


def make_workbench(threads: int = THREADS) -> Workbench:
    """The planner's own classes with 50 knots of 10 ms.

    The tolerance is zero, so that no iteration ends before its line search.
    """
    section = HilqrSection(tolerance=0.0, paused=Search(threads=threads))
    options = section.in_mode("paused")
    paused, as_run = make_parts(options), make_parts(section.in_mode("realtime"))
    rigid = make_parts(msgspec.structs.replace(options, derivatives="rigid"))
    reference = make_reference(load_robot("a1"), "walk", SPEED, options.period)
    reference = reference.prepare(lambda each: gains_along(each, rigid.model, options.knots))
    return Workbench(paused, rigid, as_run, reference)


def make_parts(options: PlannerOptions) -> PlannerParts:
    """Put a planner together."""
    search = options.search
    robot = load_robot("a1")
    backend = ThreadedRollout(robot, options.knots, options.period, search.substeps, search.threads)
    model = RobotModel(robot, backend, make_derivatives(options, robot), options.cost)
    return PlannerParts(options, backend, model, Hilqr(model, solver_options(options)))


def make_cases(bench: Workbench, count: int, seed: int = 0) -> list[Case]:
    """`count` states spread over the stride, each perturbed at random."""
    reference, rng = bench.reference, np.random.default_rng(seed)
    cases = []
    for i in range(count):
        start = reference.size - reference.loop + (i * reference.loop) // count
        window = reference.window(start, bench.paused.options.knots)
        q, v = integrate(window.q[0], window.v[0], SPREAD * rng.normal(size=36))
        cases.append(Case(np.concatenate([q, v]), window))
    return cases


def save_cases(path: Path, bench: Workbench, cases: list[Case]) -> None:
    """Write what the peer needs to pose the same problems.

    The npz holds: mjcf, feet, period, threads; per case x0 (37,), states (N+1, 37), inputs
    (N, 12), contacts (N+1, 4); state_weights (36,), terminal_scale, input_weights (12,).
    """
    options, cost = bench.paused.options, bench.paused.options.cost
    windows = [case.window for case in cases]
    model = path.with_suffix(".xml")
    model.write_text(load_robot("a1").mjcf)
    np.savez(
        path,
        mjcf=str(model),
        feet=np.array([f"{foot}_foot" for foot in FOOT_NAMES]),
        period=options.period,
        threads=THREADS,
        x0=[case.x0 for case in cases],
        states=[np.hstack([window.q, window.v]) for window in windows],
        inputs=[window.inputs for window in windows],
        contacts=[window.contacts for window in windows],
        state_weights=cost.state_weights(),
        terminal_scale=cost.terminal_scale,
        # Ours scale with the contact force; the peer takes those of a leg that carries a quarter.
        input_weights=np.full(12, cost.input_unloaded - 0.25 * _span(options)),
    )


def _span(options: PlannerOptions) -> float:
    return options.cost.input_unloaded - options.cost.input_loaded
