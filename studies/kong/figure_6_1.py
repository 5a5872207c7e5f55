"""The nine candidates of a line search while the A1 flips backwards and is pushed sideways.

Figure 6.1. The thesis prints the push of 0.5 m/s and the number of candidates; when the push comes
is chosen here: late in the take-off. A candidate is a step size of the backward pass's policy;
the ninth is the trajectory before the step. Other than in the launch `backflip`, the horizon
reaches beyond the landing, all step sizes are tried at once, and the planner keeps no limits.
continuation is the cost of the previous plan's continuation from the state after the push, and
plan_cost that of the plan after all iterations; deviation_m is how far the flip goes aside.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.figure import Figure

from controller.hilqr_planner import HilqrPlanner
from controller.robot_model import RolloutBackend, RolloutResult
from hybrid.hilqr import Policies, Rollouts
from hybrid.systems import Array
from robots.robot import load_robot
from robots.state import rotation_from_quaternion
from runtime.messages import GroundTruth
from saltus.configuration.launch import AT_ORIGIN, LaunchConfig, load_launch
from saltus.launch.lock_step import LockStep, Tick
from studies.figures import Panel, draw, over
from studies.study import Criterion, Progress, StudyOptions, StudyResult, silent, study

CANDIDATES = 9
SHOWN = {
    "step_size": "step size", "cost": "cost", "change_percent": "change [%]",
    "height_m": "height [m]", "lateral_m": "lateral [m]", "chosen": "chosen",
}  # fmt: skip


@study("Kong, figure 6.1", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each candidate."""
    flip = pushed_flip(flip_config(options.seed), options.progress)
    return StudyResult(
        rows_of(flip), {"figure-6.1": flip_figure(flip)}, columns=SHOWN, digits=3,
        criteria=criteria(flip),
    )


def rows_of(flip: Flip) -> list[dict[str, Any]]:
    """The rows, from the largest step size to zero; no cost where a candidate diverged."""
    search, rows = flip.search, []
    before = float(search.costs[-1])
    for candidate, (size, cost) in enumerate(zip(search.step_sizes, search.costs, strict=True)):
        finite, end = bool(np.isfinite(cost)), search.states[candidate, -1]
        rows.append({
            "step_size": float(size),
            "cost": float(cost) if finite else None,
            "change_percent": 100.0 * (float(cost) / before - 1.0) if finite else None,
            "height_m": float(end[2]),
            "lateral_m": float(end[1]),
            "chosen": candidate == search.chosen,
            "begin": search.begin,
            "continuation": search.continuation,
            "plan_cost": search.plan_cost,
            "deviation_m": flip.deviation,
        })  # fmt: skip
    return rows


def criteria(flip: Flip) -> list[Criterion]:
    """What the figure shows: nine candidates, one better than going on, and a flip that succeeds.

    Costs that differ when rolled out again would mean that the poses are not the planner's.
    """
    search = flip.search
    differences = search.repeated_costs != search.costs
    return [
        Criterion("candidates", len(search.costs), ">=", CANDIDATES),
        Criterion("candidates whose cost differs when rolled out again", int(differences.sum()),
                  "<=", 0),
        Criterion("cost of the chosen candidate over that of the previous plan's continuation",
                  float(search.costs.min()) / search.continuation, "<", 1.0),
        Criterion("turns backwards", -flip.turns, ">", 0.95),
        Criterion("falls, or touches of the trunk", int(flip.fell) + int(flip.trunk_touched),
                  "<=", 0),
        Criterion("stands at the end", int(flip.stands), ">=", 1),
    ]  # fmt: skip


PUSH_AT = 0.45  # [s]: late in the take-off, so that the legs can still answer
PUSH = 0.5  # to the left [m/s]
KNOTS = 80  # of the horizon: from the push to past the landing
LOW, TILTED, FAST = 0.05, 0.1, 0.1  # beyond which the A1 does not stand [m], [rad], [m/s]


class CandidateSet(NamedTuple):
    """The candidates of a plan's first line search, C of them over N knots.

    The last one has step size zero: the trajectory before the step.

    Attributes:
        begin: of the horizon [s].
        period: between knots [s].
        step_sizes: (C,), descending.
        costs: (C,), as the planner's message has them.
        repeated_costs: (C,) of the same candidates, rolled out again.
        states: (C, N+1, 37) of those.
        continuation: cost of the previous plan's continuation from the state after the push.
        plan_cost: of the plan after all iterations.
    """

    begin: float
    period: float
    step_sizes: Array
    costs: Array
    repeated_costs: Array
    states: Array
    continuation: float
    plan_cost: float

    @property
    def chosen(self) -> int:
        """The candidate that the planner takes."""
        return int(np.argmin(self.costs))


class RolloutLog:
    """A rollout backend that keeps the requests for rollouts."""

    def __init__(self, backend: RolloutBackend) -> None:
        """Pass requests on to `backend`."""
        self._backend = backend
        self.requests: list[tuple[Array, Policies]] = []

    def __getattr__(self, name: str) -> Any:
        """All but the rollouts is the backend's own."""
        return getattr(self._backend, name)

    def roll_out(self, x0: Array, policies: Policies) -> RolloutResult:
        """Roll out, and keep x0 (37,) and the policies."""
        self.requests.append((x0.copy(), policies))
        return self._backend.roll_out(x0, policies)

    def take(self) -> list[tuple[Array, Policies]]:
        """The requests since the last call."""
        taken, self.requests = self.requests, []
        return taken


def roll_out_again(
    planner: HilqrPlanner, tick: Tick, requests: list[tuple[Array, Policies]]
) -> CandidateSet:
    """Roll the candidates out again; the planner still tracks the window of this plan."""
    assert tick.search is not None and tick.plan is not None
    count = len(tick.search.step_sizes) - 1
    single = [planner.model.roll_out(*each) for each in requests if each[1].count == 1]
    first = next(each for each in requests if each[1].count == count)
    steps: Rollouts = planner.model.roll_out(*first)
    start = min(single, key=lambda rollouts: rollouts.valid_costs()[0])  # where the solve began
    return CandidateSet(
        tick.plan.time, tick.plan.period, tick.search.step_sizes, tick.search.costs[0],
        np.append(steps.valid_costs(), start.valid_costs()),
        np.concatenate([steps.states, start.states]),
        float(single[0].valid_costs()[0]), tick.plan.cost,
    )  # fmt: skip


class Flip(NamedTuple):
    """How a flip went.

    Attributes:
        search: the first one after the push.
        turns: of the trunk about its lateral axis; backwards is negative.
        trunk_touched: the trunk touched the ground.
        fell: as every run is judged.
        stands: at the end it is upright, at its height and at rest.
        deviation: most that it went aside [m].
    """

    search: CandidateSet
    turns: float
    trunk_touched: bool
    fell: bool
    stands: bool
    deviation: float


def flip_config(seed: int) -> LaunchConfig:
    """The launch `backflip` with the push, as in the thesis: all step sizes at once, no limits."""
    push = f"[{{kind: base_velocity, at: {PUSH_AT}, value: [0.0, {PUSH}, 0.0]}}]"
    return load_launch("backflip", (
        f"perturbations={push}", f"simulation.seed={seed}", f"hilqr.knots={KNOTS}",
        "hilqr.paused.line_search=exhaustive", "hilqr.limits.penalty=0", AT_ORIGIN,
    ))  # fmt: skip


def pushed_flip(config: LaunchConfig, progress: Progress = silent) -> Flip:
    """Run a launch to its end, and keep the first line search after `PUSH_AT`.

    Raises:
        ValueError: no line was searched after the push.
    """
    run = LockStep(config)
    planner = cast(HilqrPlanner, run.planner)
    log = RolloutLog(planner.model.backend)
    planner.model.backend = cast(RolloutBackend, log)
    searches: list[CandidateSet] = []
    turned, touched = 0.0, False

    def follow(tick: Tick) -> None:
        nonlocal turned, touched
        truth = tick.truth
        turned += 1e-3 * truth.v[4]
        touched = touched or truth.trunk_contact
        requests = log.take()
        if tick.search is not None and truth.time > PUSH_AT and not searches:
            searches.append(roll_out_again(planner, tick, requests))
            log.take()  # of the candidates rolled out again
        if truth.tick % 100 == 0:
            progress(truth.tick, config.ticks, "flip")

    metrics = run.run(follow)
    progress(config.ticks, config.ticks, "done")
    if not searches:
        raise ValueError("no line was searched after the push")
    summary = metrics.summary()
    return Flip(
        searches[0], turned / (2.0 * np.pi), touched, summary["fell"],
        _stands(run.simulation.truth()), summary["max_lateral_deviation_m"],
    )  # fmt: skip


def _stands(truth: GroundTruth) -> bool:
    up = rotation_from_quaternion(truth.q[3:7])[2, 2]
    return bool(
        abs(truth.q[2] - load_robot("a1").stand_height) < LOW
        and np.arccos(np.clip(up, -1.0, 1.0)) < TILTED
        and np.linalg.norm(truth.v[:3]) < FAST
    )


def flip_figure(flip: Flip) -> Figure:
    """The trunk's ways from the side and from behind, and its heights over time."""
    search = flip.search
    since = search.begin - PUSH_AT + search.period * np.arange(search.states.shape[1])
    panels: list[dict[str, Any]] = [{}, {}, {}]
    for number, (size, states) in enumerate(zip(search.step_sizes, search.states, strict=True)):
        name = f"step size {size:g}" if size else "before the step"
        look = {"linewidth": 2.4 if number == search.chosen else 0.9}
        for curves, x in zip(panels, (states[:, 0], states[:, 1], since), strict=True):
            curves[name] = over(x, states[:, 2], **look)
    labels = "forwards [m]", "to the left [m]", "since the push [s]"
    return draw(*(Panel(curves, label, "height of the trunk [m]")
                  for curves, label in zip(panels, labels, strict=True)))  # fmt: skip
