"""The motions of ``rollout-drift``: what candidates do, on the floor and off it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np

from controller.planner_options import CostOptions
from controller.robot_model import input_weights, trajectory_costs
from controller.rollout_planner import reference_policy
from hybrid.hilqr import Policies
from hybrid.systems import Array
from robots.robot import load_robot
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.threaded import ThreadedRollout
from studies.a1.systems.planner_cases import make_cases, make_parts, make_workbench

KNOTS, PERIOD, SUBSTEPS = 50, 0.01, 2  # of the planner
STEP_SIZES = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.028, 0.0)  # of its line search
STIFFNESS, DAMPING = 60.0, 1.5  # of the joints, where they are held [N m/rad], [N m s/rad]
WALKING = "walking"
SEARCHES = 2  # line searches from one walking state, as many as a planner in real time has
# Feet 1 mm in the floor: where they just touch it, the last digit decides whether they do.
A1 = load_robot("a1")
STAND = np.concatenate([[0, 0, A1.stand_height - 0.001, 0, 0, 0, 1], A1.stand, np.zeros(18)])


class Case(NamedTuple):
    """A line search: where it starts, its candidates, and what their cost is measured against."""

    motion: str
    x0: Array  # (37,)
    policies: Policies
    reference_states: Array  # (N+1, 37)
    reference_inputs: Array  # (N, 12)

    def costs(self, rolled: RolloutBatch) -> Array:
        """The planner's cost (6.1) of every candidate (C,), inf for those that diverged."""
        cost = CostOptions()
        weights = cost.state_weights()
        costs = trajectory_costs(
            rolled.states, rolled.inputs, self.reference_states, self.reference_inputs,
            weights, cost.terminal_scale * weights,
            input_weights(rolled.normal_forces, cost.input_loaded, cost.input_unloaded),
        )  # fmt: skip
        return np.where(rolled.finite & np.isfinite(costs), costs, np.inf)


def random_motions(starts: int, seed: int) -> list[Case]:
    """Free fall, standing and sliding, each from `starts` states with random torques."""
    rng = np.random.default_rng(seed)
    motions: dict[str, Callable[[np.random.Generator], tuple[Array, Policies]]] = {
        "free fall": _falling, "standing": _standing, "sliding": _sliding,
    }  # fmt: skip
    states, inputs = np.tile(STAND, (KNOTS + 1, 1)), np.zeros((KNOTS, 12))
    return [
        Case(name, *motion(rng), states, inputs)
        for name, motion in motions.items()
        for _ in range(starts)
    ]


def walking(starts: int, seed: int) -> list[Case]:
    """The planner's own line searches, exhaustive, from `starts` pushed states of a walk.

    Found with MuJoCo on the CPU; what another backend would have gone on to is not followed.
    """
    bench = make_workbench()
    recorder, cases = _Recorder(A1, KNOTS, PERIOD, SUBSTEPS), []
    options = bench.paused.options
    search = msgspec.structs.replace(options.search, line_search="exhaustive")
    options = msgspec.structs.replace(options, search=search)
    _, _, model, solver = make_parts(options)
    model.backend = recorder
    for case in make_cases(bench, starts, seed):
        window = case.window
        model.track(window)
        trajectory = solver.start(case.x0, reference_policy(window))
        solver.regularisation.reset()
        for _ in range(SEARCHES):
            if trajectory is None:
                break
            recorder.policies = None
            step = solver.iterate(case.x0, trajectory)
            trajectory = step.trajectory
            if recorder.policies is not None:
                reference = np.hstack([window.q, window.v])
                cases.append(Case(WALKING, case.x0, recorder.policies, reference, window.inputs))
    return cases


class _Recorder(ThreadedRollout):
    """MuJoCo on the CPU, which keeps the last policies that it was asked for."""

    policies: Policies | None = None

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """Roll every candidate out from x0 (37,)."""
        self.policies = policies
        return super().roll_out(x0, policies)


def _falling(rng: np.random.Generator) -> tuple[Array, Policies]:
    """High up in any attitude, tumbling; torques without feedback."""
    x = STAND.copy()
    x[2] = 4.0
    x[3:7] = rng.normal(size=4)
    x[3:7] /= np.linalg.norm(x[3:7])
    x[19:] = np.concatenate([rng.normal(size=3), 3.0 * rng.normal(size=3), rng.normal(size=12)])
    return x, _policies(rng, 0.3, held=False)


def _standing(rng: np.random.Generator) -> tuple[Array, Policies]:
    """On its feet, pushed a little; the joints are held."""
    x = STAND.copy()
    x[19:25] = 0.1 * rng.normal(size=6)
    return x, _policies(rng, 1.0, held=True)


def _sliding(rng: np.random.Generator) -> tuple[Array, Policies]:
    """On its feet, which slide at some 1 m/s until friction has stopped them."""
    x, heading = STAND.copy(), rng.uniform(0.0, 2.0 * np.pi)
    x[19:21] = np.cos(heading), np.sin(heading)
    return x, _policies(rng, 1.0, held=True)


def _policies(rng: np.random.Generator, noise: float, held: bool) -> Policies:
    """The stand with random torques [N m], and random changes of them at every step size."""
    gains = np.zeros((KNOTS, 12, 36))
    if held:
        gains[:, range(12), range(6, 18)] = -STIFFNESS
        gains[:, range(12), range(24, 36)] = -DAMPING
    return Policies.of(
        np.tile(STAND, (KNOTS + 1, 1)), noise * rng.normal(size=(KNOTS, 12)), gains,
        noise * rng.normal(size=(KNOTS, 12)), STEP_SIZES,
    )  # fmt: skip
