"""HiLQR plans that shrink perturbations through impacts.

The bouncing ball and the hopper reach a height in a given time. Beside the plain plan, which pays
for force alone, one pays for |W Phi V|_F^2 too, the trace of the linearised covariance at the end
(3.37), with saltation matrices in Phi; a third does so with D_x R in their place. Starts are drawn
about the planned one and simulated event by event under each plan.

Zhu, Payne and Johnson, "Convergent iLQR for Safe Trajectory Planning and Control of Legged Robots"
(2023), take the 2-norm of the closed loop's Phi instead. Here Phi is that of the open loop, as in
chapter 2, and its Frobenius norm, which is smooth; the LQR is put on the finished plans.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.kong.convergent_hybrid.cases import (
    KINDS,
    TASKS,
    SolvedTask,
    Task,
    plan_convergent,
    plan_plain,
)
from studies.kong.convergent_hybrid.figures import draw_bundles, draw_clouds, draw_trade_off
from studies.kong.convergent_hybrid.notes import notes, sweep_note, wider_note
from studies.kong.convergent_hybrid.spread import (
    SHOWN,
    Measured,
    circle_starts,
    gaussian_starts,
    perturbed,
    row,
)
from studies.study import StudyOptions, StudyResult, study

TRIALS = 200
WEIGHTS = (0.01, 0.03, 0.1, 1.0)  # tried by --full beside the task's own
SCALES = (2.0, 4.0)  # of the starts' spread, tried by --full


@study("Kong, section 7.1", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: plain, convergent and D_x R plans of the bouncing ball and of the hopper."""
    total = len(TASKS) * len(KINDS)
    measured = [measure(task, options, i * len(KINDS), total) for i, task in enumerate(TASKS)]
    options.progress(total, total, "measured")
    return report(measured, options)


def report(measured: Sequence[Sequence[Measured]], options: StudyOptions) -> StudyResult:
    """Rows, figures and notes of measured tasks; with ``full`` other weights and starts too."""
    rows = [row(one, group[0]) for group in measured for one in group]
    figures, lines = {}, notes(rows)
    for group in measured:
        plans, name = [one.plan for one in group], group[0].plan.task.name.replace(" ", "-")
        circles = [one.circle for one in group]
        figures[f"trajectories-{name}"] = draw_bundles(plans[:2], circles[:2])
        figures[f"ends-{name}"] = draw_clouds(plans, [one.cloud for one in group], circles)
    if options.full:
        swept = [sweep(group, options) for group in measured]
        figures["trade-off"] = draw_trade_off(swept)
        lines += tuple(sweep_note(plans) for plans in swept)
        lines += tuple(wider(group, scale, options) for group in measured for scale in SCALES)
    return StudyResult(rows, figures, lines, SHOWN, digits=3)


def measure(task: Task, options: StudyOptions, done: int, total: int) -> list[Measured]:
    """Plan a task in each way, and perturb the plans; ``done`` of ``total`` of them lie behind."""
    starts, measured = gaussian_starts(options.trials or TRIALS, options.seed), []
    for i, kind in enumerate(KINDS):
        options.progress(done + i, total, f"{task.name}, {kind}")
        plan = plan_convergent(task, measured[0].plan, kind=kind) if measured else plan_plain(task)
        cloud, tracked = perturbed(plan, starts), perturbed(plan, starts, feedback=True)
        measured.append(Measured(plan, starts, cloud, tracked, perturbed(plan, circle_starts())))
    return measured


def sweep(group: Sequence[Measured], options: StudyOptions) -> list[SolvedTask]:
    """Plans of one task by growing weight, the plain one first; each is seeded with that."""
    plain, own = group[0].plan, group[1].plan
    measured = [plain, own]
    for i, weight in enumerate(WEIGHTS):
        options.progress(i, len(WEIGHTS), f"{plain.task.name}, weight {weight:g}")
        measured.append(plan_convergent(plain.task, plain, weight))
    return sorted(measured, key=lambda plan: plan.weight)


def wider(group: Sequence[Measured], scale: float, options: StudyOptions) -> str:
    """A line: what is left of it for starts that are farther away than Phi was made for."""
    starts = gaussian_starts(options.trials or TRIALS, options.seed, scale)
    return wider_note(group[0].plan.task.name, scale, starts, [
        perturbed(one.plan, starts) for one in group[:2]
    ])  # fmt: skip
