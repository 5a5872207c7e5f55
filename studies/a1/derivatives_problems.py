"""Problems of the planner after a push, and what the feet do in each of their knots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
import mujoco
import numpy as np
from numpy.typing import NDArray

from controller.hilqr_planner import HilqrPlanner
from controller.planner_options import PlannerOptions
from controller.references.trajectory import ReferenceWindow
from robots.conventions import FOOT_NAMES
from robots.robot import load_robot
from robots.state import mujoco_from_pinocchio
from saltation.hilqr import Linearisation, Trajectory
from saltation.systems import Array
from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.launch import planners
from saltus.launch.lock_step import LockStep, Tick
from saltus.sweep.sweep import prepare
from saltus.sweep.trials import Trial, make_trials
from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.suites import read_suite
from studies.study import StudyOptions

FLIGHT, STICKING, SLIDING, LIMIT, APPROACH, TOUCHDOWN, LIFT_OFF = SITUATIONS = (
    "flight", "sticking", "sliding", "joint limit", "approach", "touchdown", "lift-off"
)  # fmt: skip
A1, PLANNER = load_robot("a1"), PlannerOptions()
EDGES = 4  # of the pyramid of friction of a foot
SUITE = "robustness"
GROUPS = {"walk": "sideways 2.5 m/s", "trot": "trot 1.5 m/s"}  # of the suite, by gait
STRIDE = 5  # between pushes of a group: four in turn have every foot and both strides of the walk
AFTER_PUSH_S = 0.8  # how long solves are taken [s]
EVERY = 8  # solves, of which one is taken

T = TypeVar("T")


def situations(states: Array, inputs: Array) -> NDArray[np.str_]:
    """Contacts of the feet in each knot (N,), of `SITUATIONS`.

    - touchdown: a foot touches in a substep and did not in the one before;
    - lift-off: the reverse;
    - approach: the next knot is a touchdown; rigid derivatives have their jump here;
    - joint limit: a joint is beyond one, whatever the feet do;
    - sliding: a foot that touches has unloaded edges of its pyramid of friction;
    - sticking: all edges of all feet that touch are loaded;
    - flight: no foot touches.

    A knot of several is the first of this list. Before its first substep comes the last one of the
    knot before; the first knot has none before.

    Args:
        states: x (N+1, 37); inputs: torques (N, 12) [N m].
    """
    model = planning_model(A1, PLANNER.period / PLANNER.search.substeps)
    data, feet = mujoco.MjData(model), [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
    before: list[list[int]] = []  # of the last substep
    names = []
    for x, torque in zip(states[:-1], inputs, strict=True):
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        edges, limited = [], False
        for _ in range(PLANNER.search.substeps):
            mujoco.mj_step(model, data)
            edges.append(loaded_edges(data, feet))
            limited |= bool((data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT).any())
        names.append(_situation(np.array(before + edges), np.array(edges), limited))
        before = edges[-1:]
    for k, after in enumerate(names[1:]):
        if after == TOUCHDOWN and names[k] not in (TOUCHDOWN, LIFT_OFF):
            names[k] = APPROACH
    return np.array(names)


def loaded_edges(data: mujoco.MjData, feet: list[int]) -> list[int]:
    """Edges of each foot's pyramid that carry force, 0 to 4; -1 for a foot that does not touch."""
    edges = [-1] * len(feet)
    for contact in range(data.ncon):
        first = data.contact.efc_address[contact]
        force = data.efc_force[first : first + EDGES]
        edges[feet.index(int(data.contact.geom[contact, 1]))] = int(np.count_nonzero(force > 0.0))
    return edges


def _situation(with_before: NDArray[np.int64], edges: NDArray[np.int64], limited: bool) -> str:
    """Situation of loaded edges (substeps, 4) of a knot, with those after the substep before."""
    change = np.diff((with_before >= 0).astype(int), axis=0)
    for name, holds in (
        (TOUCHDOWN, change > 0), (LIFT_OFF, change < 0), (LIMIT, limited),
        (SLIDING, (edges >= 0) & (edges < EDGES)), (STICKING, edges == EDGES)
    ):  # fmt: skip
        if np.any(holds):
            return name
    return FLIGHT


class Problem(NamedTuple):
    """A solve of the planner: where it starts, the trajectory that it improves, and its goal."""

    gait: str
    x0: Array  # (37,)
    seed: Trajectory
    window: ReferenceWindow


def pushes(count: int) -> dict[str, list[Trial]]:
    """So many pushes of each gait.

    Raises:
        BadRequest: the suite has not so many.
    """
    suite, chosen = read_suite(data_folder("config") / f"{SUITE}.yaml"), {}
    trials = make_trials(suite, "hilqr", "paused", SUITE)
    for gait, name in GROUPS.items():
        group = [trial for trial in trials if trial.group == name]
        if count > len(group):
            raise BadRequest(f"--trials {count}: the suite has {len(group)} pushes; give no more")
        chosen[gait] = [group[STRIDE * k % len(group)] for k in range(count)]
    return chosen


def record(count: int, options: StudyOptions) -> list[Problem]:
    """Some solves after each of `count` pushes of each gait.

    Raises:
        BadRequest: the suite has not so many pushes.
    """
    trials = [(gait, trial) for gait, members in pushes(count).items() for trial in members]
    options.progress(0, len(trials), "compiling")
    prepare(trial for _, trial in trials)
    problems: list[Problem] = []
    for gait, trial in options.track(trials, "pushes"):
        problems += record_push(gait, trial)
    return problems


def record_push(
    gait: str, trial: Trial, every: int = EVERY, after_push_s: float = AFTER_PUSH_S
) -> list[Problem]:
    """One in `every` solves of a push, from the push on, as long as `after_push_s` says."""
    push_s: float = trial.labels["at"]
    config = msgspec.structs.replace(trial.config, duration=push_s + after_push_s)
    options, run = planners.planning(config), LockStep(config)
    derivatives: Any = planners.make_derivatives(options, config.robot_model)
    linearise, trajectories = derivatives.linearise, []

    def kept(trajectory: Trajectory) -> Linearisation:
        trajectories.append(trajectory)
        return linearise(trajectory)

    derivatives.linearise = kept
    planner = run.planner = HilqrPlanner(
        options, A1, planners.make_reference(config), planners.make_rollout(config), derivatives
    )
    times: list[float] = []
    problems: list[Problem] = []

    def keep(tick: Tick) -> None:
        if tick.plan is None:
            return
        times.append(tick.plan.time)
        if trajectories and times[-1] > push_s:
            # The first plan starts at the reference's first knot.
            start = round((times[-1] - times[0]) / options.period)
            window = planner.reference.window(start, options.knots)
            seed = trajectories[0]  # of the first iteration
            problems.append(Problem(gait, seed.states[0].copy(), seed, window))
        trajectories.clear()

    run.run(keep)
    return problems[::every]


def spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` items, evenly among all."""
    index = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[i] for i in index]
