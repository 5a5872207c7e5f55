"""Plans a motion into a folder: the reference, a summary, a film strip and a plot of torques."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from controller.motions import MotionPlan
from controller.options import FEASIBLE
from controller.references import save_reference
from robots.conventions import FOOT_NAMES
from saltus.common.console import Fact, RunProgress, say
from saltus.common.figures import figure, png
from saltus.common.files import new_run_folder, read_table, write_file
from saltus.common.processes import cores
from saltus.film.drawing import Job, Picture, View, draw_file
from saltus.launch.outcome import Numbers, numbers_in
from saltus.launch.references import keep_plan, make_plan, read_motion

PANELS, PANEL = 10, (240, 300)  # of the film strip: how many, and their size [pixels]
NUMBERS: Numbers = read_table(__file__, "motion.yaml")
SIDE = View(2.6, 90.0, -8.0)


def plan_into(name: str, robot: str, output: Path | None) -> tuple[Path, dict[str, Any]]:
    """Plan a motion of a robot and write what comes of it; launches to come track the same plan.

    Raises:
        BadRequest: there is no such motion, or the folder or the cache cannot be written.
    """
    stem, motion = read_motion(name, robot)
    begin = time.monotonic()
    with RunProgress(motion.duration, "s planned") as progress:
        plan = make_plan(
            motion, robot, cores(), lambda end, cost: progress.show(end, f"cost {cost:.4g}")
        )
    folder = output or new_run_folder(stem)
    folder.mkdir(parents=True, exist_ok=True)
    summary = {"motion": stem, **summarise(plan), "planning_s": time.monotonic() - begin}
    if plan.solution.status in FEASIBLE:
        save_reference(plan.reference, folder / "reference.npz")
    write_file(folder / "summary.json", msgspec.json.format(msgspec.json.encode(summary)))
    write_file(folder / "torques.png", torque_plot(plan))
    if failure := film_strip(plan, robot, folder):
        say(f"the film strip was not made: {failure}")
    if plan.solution.status in FEASIBLE:
        keep_plan(stem, motion, plan, robot)
    return folder, summary


def summarise(plan: MotionPlan) -> dict[str, Any]:
    """Result of planning, and the largest torque, speed and power."""
    solution = plan.solution
    speed, torque = plan.reference.v[:-1, 6:], plan.reference.inputs[:-1]
    return {
        "status": solution.status,
        "message": solution.message,
        "violation": solution.violation.value,
        "violated": solution.violation.name,
        "knot": solution.violation.knot,
        "iterations": solution.iterations,
        "largest_torque": float(np.abs(torque).max()),
        "largest_speed": float(np.abs(speed).max()),
        "largest_power": float(np.abs(torque * speed).sum(axis=1).max()),
        "highest": float(plan.reference.q[:, 2].max()),
    }


def facts(summary: dict[str, Any]) -> list[Fact]:
    """The summary for a terminal."""
    head = "OK" if summary["status"] in FEASIBLE else "NOT POSSIBLE"
    return [Fact(head, summary["message"] or summary["motion"]), *numbers_in(NUMBERS, summary)]


def torque_plot(plan: MotionPlan) -> bytes:
    """The torques and speeds of all motors over time, as a PNG file."""
    reference = plan.reference
    drawing, axes = figure(rows=3, columns=2, width=8.0, height=6.0, sharex=True)
    time_s = reference.period * np.arange(reference.size)
    for joint, name in enumerate(("hip", "thigh", "calf")):
        for leg, foot in enumerate(FOOT_NAMES):
            i = 3 * leg + joint
            axes[joint, 0].step(time_s, reference.inputs[:, i], where="post", lw=0.9, label=foot)
            axes[joint, 1].plot(time_s, reference.v[:, 6 + i], lw=0.9)
        axes[joint, 0].set_ylabel(f"{name} torque [N m]")
        axes[joint, 1].set_ylabel(f"{name} speed [rad/s]")
    axes[0, 0].legend(ncols=4, fontsize=7, frameon=False)
    for column in range(2):
        axes[2, column].set_xlabel("time [s]")
    return png(drawing)


def film_strip(plan: MotionPlan, robot: str, folder: Path) -> str:
    """Draw the motion from its side into ``film_strip.png``; why not, where that fails."""
    reference = plan.reference
    which = np.linspace(0, reference.size - 1, PANELS).astype(int)
    pictures = [Picture(reference.q[k], f"{k * reference.period:.2f} s") for k in which]
    job = Job("film_strip", pictures, PANEL, SIDE, robot=robot)
    return draw_file(job, folder / "film_strip.png")
