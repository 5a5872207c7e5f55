"""The problems of ``derivatives``: solves of the planner along pushed walks and trots."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec
import mujoco
import numpy as np
from numpy.typing import NDArray

from controller.hilqr_planner import HilqrPlanner
from controller.references.trajectory import ReferenceWindow
from controller.robot_model import Derivatives
from hybrid.hilqr import Linearisation, Trajectory
from hybrid.systems import Array
from robots.conventions import FOOT_NAMES
from robots.robot import load_robot
from robots.state import mujoco_from_pinocchio
from robots.terrain import Ground
from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.launch import planners
from saltus.launch.lock_step import LockStep, Tick
from saltus.sweep.sweep import prepare
from saltus.sweep.trials import Trial, make_trials
from sim_bridge.suites import read_suite

FLIGHT, STICKING, SLIDING, LIMIT, APPROACH, TOUCHDOWN, LIFT_OFF = SITUATIONS = (
    "flight", "sticking", "sliding", "joint limit", "approach", "touchdown", "lift-off",
)  # fmt: skip
EDGES = 4  # of the pyramid of friction of a foot
SUITE = "robustness"
GROUPS = {"walk": "sideways 2.5 m/s", "trot": "trot 1.5 m/s"}  # of the suite, by gait
STRIDE = 5  # between pushes of a group: those in turn differ in foot, side and time
AFTER_PUSH_S = 0.8  # how long solves are taken [s]
EVERY = 8  # solves, of which one is taken

Progress = Callable[[int, int, str], None]
T = TypeVar("T")


def situations(
    model: mujoco.MjModel, states: Array, inputs: Array, substeps: int
) -> NDArray[np.str_]:
    """What the feet do in each knot (N,), of `SITUATIONS`.

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
        model: of the rollouts.
        states: x (N+1, 37); inputs: torques (N, 12) [N m].
        substeps: in a knot.
    """
    data, feet = mujoco.MjData(model), [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
    before: list[list[int]] = []  # of the last substep
    names = []
    for x, torque in zip(states[:-1], inputs, strict=True):
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        edges, limited = [], False
        for _ in range(substeps):
            mujoco.mj_step(model, data)
            edges.append(loaded_edges(data, feet))
            limited |= bool((data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT).any())
        names.append(_situation(np.array(before + edges), np.array(edges), limited))
        before = edges[-1:]
    for k, after in enumerate(names[1:]):
        if after == TOUCHDOWN and names[k] not in (TOUCHDOWN, LIFT_OFF):
            names[k] = APPROACH
    return np.array(names)


def loaded_edges(data: mujoco.MjData, feet: Sequence[int]) -> list[int]:
    """Edges of each foot's pyramid that carry force, 0 to 4; -1 for a foot that does not touch."""
    edges = [-1] * len(feet)
    for contact in range(data.ncon):
        first = data.contact.efc_address[contact]
        force = data.efc_force[first : first + EDGES]
        edges[feet.index(int(data.contact.geom[contact, 1]))] = int(np.count_nonzero(force > 0.0))
    return edges


def _situation(with_before: NDArray[np.int64], edges: NDArray[np.int64], limited: bool) -> str:
    """Of loaded edges (substeps, 4) of a knot, and of the same after the substep before."""
    change = np.diff((with_before >= 0).astype(int), axis=0)
    if (change > 0).any():
        return TOUCHDOWN
    if (change < 0).any():
        return LIFT_OFF
    if limited:
        return LIMIT
    if ((edges >= 0) & (edges < EDGES)).any():
        return SLIDING
    return STICKING if (edges == EDGES).any() else FLIGHT


class Problem(NamedTuple):
    """A solve of the planner: where it starts, the trajectory that it improves, and its goal."""

    gait: str
    x0: Array  # (37,)
    seed: Trajectory
    window: ReferenceWindow


class TrajectoryRecorder:
    """Derivatives that keep the trajectories which they were asked for."""

    def __init__(self, derivatives: Derivatives) -> None:
        """`derivatives` do the work."""
        self._derivatives = derivatives
        self.trajectories: list[Trajectory] = []

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12) and transitions."""
        self.trajectories.append(trajectory)
        return self._derivatives.linearise(trajectory)

    def move_ground(self, ground: Ground) -> None:
        """Move that of the derivatives."""
        self._derivatives.move_ground(ground)


def pushes(count: int) -> dict[str, list[Trial]]:
    """So many pushes of each gait.

    Raises:
        BadRequest: the suite has not so many.
    """
    suite = read_suite(data_folder("config") / f"{SUITE}.yaml")
    trials = make_trials(suite, "hilqr", "paused", SUITE)
    chosen = {}
    for gait, name in GROUPS.items():
        group = [trial for trial in trials if trial.group == name]
        if count > len(group):
            raise BadRequest(
                f"--trials {count}: {SUITE} has {len(group)} pushes of the {gait}; give"
                f" {len(group)} or fewer"
            )
        chosen[gait] = [group[STRIDE * k % len(group)] for k in range(count)]
    return chosen


def record(count: int, progress: Progress) -> list[Problem]:
    """Some solves after each of `count` pushes of each gait.

    Raises:
        BadRequest: the suite has not so many pushes.
    """
    trials = [(gait, trial) for gait, members in pushes(count).items() for trial in members]
    progress(0, len(trials), "compiling")
    prepare(trial for _, trial in trials)
    problems: list[Problem] = []
    for done, (gait, trial) in enumerate(trials):
        progress(done, len(trials), f"pushes, {gait}")
        problems += record_push(gait, trial)
    return problems


def record_push(
    gait: str, trial: Trial, every: int = EVERY, after_push_s: float = AFTER_PUSH_S
) -> Sequence[Problem]:
    """One in `every` solves of a push, from the push on, as long as `after_push_s` says."""
    push_s: float = trial.labels["at"]
    config = msgspec.structs.replace(trial.config, duration=push_s + after_push_s)
    options, run = planners.planning(config), LockStep(config)
    recorder = TrajectoryRecorder(planners.make_derivatives(options, config.robot_model))
    planner = HilqrPlanner(
        options,
        load_robot("a1"),
        planners.make_reference(config),
        planners.make_rollout(config),
        recorder,
    )
    run.planner = planner
    logging.getLogger("controller").addHandler(logging.NullHandler())  # nobody asks for its log
    times: list[float] = []
    problems: list[Problem] = []

    def keep(tick: Tick) -> None:
        if tick.plan is None:
            return
        times.append(tick.plan.time)
        if recorder.trajectories and times[-1] > push_s:
            # The first plan starts at the reference's first knot.
            start = round((times[-1] - times[0]) / options.period)
            window = planner.reference.window(start, options.knots)
            seed = recorder.trajectories[0]  # of the first iteration
            problems.append(Problem(gait, seed.states[0].copy(), seed, window))
        recorder.trajectories.clear()

    run.run(keep)
    return problems[::every]


def spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` items, evenly among all."""
    index = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[i] for i in index]
