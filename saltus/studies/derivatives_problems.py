"""The problems of ``derivatives``: solves of the planner along pushed walks and trots."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from controller.a1_model import Derivatives
from controller.hilqr_planner import HilqrPlanner
from controller.references.trajectory import ReferenceWindow
from hybrid.hilqr import Linearisation, Trajectory
from hybrid.systems import Array
from saltus.common.errors import BadRequest
from saltus.common.folders import data_folder
from saltus.launch import planners, rollouts
from saltus.launch.lock_step import LockStep, Tick
from saltus.sweep.sweep import prepare
from saltus.sweep.trials import Trial, make_trials
from sim_bridge.suites import read_suite

SUITE = "robustness"
GROUPS = {"walk": "sideways 2.5 m/s", "trot": "trot 1.5 m/s"}  # of the suite, by gait
STRIDE = 5  # between pushes of a group: those in turn differ in foot, side and time
AFTER_PUSH_S = 0.8  # how long solves are taken [s]
EVERY = 8  # solves, of which one is taken

Progress = Callable[[int, int, str], None]
T = TypeVar("T")


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
    options, run = rollouts.planning(config), LockStep(config)
    recorder = TrajectoryRecorder(planners.make_derivatives(options))
    planner = HilqrPlanner(
        options, planners.make_reference(config), rollouts.make_rollout(config), recorder
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
