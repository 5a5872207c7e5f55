"""Motions of `config/motions` by name: read, planned once, and kept in the user's cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from controller.gaits import GAITS
from saltus.common.code_version import code_version, fingerprint
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.folders import cache_folder, keep_in_cache
from saltus.configuration.motions import motion_file, motion_names
from saltus.configuration.options import read_mapping, to_options
from saltus.configuration.robot import robot_named

if TYPE_CHECKING:
    from controller.motions import MotionPlan
    from controller.options import Motion
    from saltus.configuration.launch import LaunchConfig

TILT_PERIOD = 0.01  # of the samples of a reference whose tilt is asked for [s]
PERIOD, SUBSTEPS = 0.01, 5  # between knots [s], and physics steps within one
FEASIBLE = ("converged", "settled")  # statuses of a plan that keeps the limits
SOURCES = ("controller/**/*", "hybrid/**/*", "robots/**/*", "sim_bridge/**/*")


def read_motion(name: str, robot: str = "a1") -> tuple[str, Motion]:
    """A motion's name and the motion of a robot, by its name or its file.

    Raises:
        BadRequest: there is none, or its file describes none.
    """
    from controller.options import Motion

    path = motion_file(name, robot)
    return path.stem, to_options(read_mapping(path), Motion, str(path))


def planned_motion(name: str, robot: str) -> Path:
    """The file of a motion's reference for a robot, planned first where there is none yet.

    Raises:
        BadRequest: there is no such motion, it cannot be done, or the cache cannot be written.
    """
    stem, motion = read_motion(name, robot)
    path = _kept_file(stem, motion, robot)
    if not path.is_file():
        say(f"planning the motion {stem} (once)")
        plan = make_plan(motion, robot)
        if plan.solution.status not in FEASIBLE:
            raise BadRequest(f"reference: {stem} cannot be done: {plan.solution.message}")
        keep_plan(stem, motion, plan, robot)
    return path


def keep_plan(stem: str, motion: Motion, plan: MotionPlan, robot: str) -> None:
    """Keep a plan that can be done for the launches to come.

    Raises:
        BadRequest: the cache cannot be written.
    """
    from controller.references import save_reference

    path = _kept_file(stem, motion, robot)
    keep_in_cache(path, lambda part: save_reference(plan.reference, part), "the motion")


def _kept_file(stem: str, motion: Motion, robot: str) -> Path:
    mark = fingerprint(
        (motion.phases, motion.cost, motion.limits, robot_named(robot).mjcf), code_version(SOURCES)
    )
    return cache_folder() / "motions" / f"{stem}-{mark}.npz"


def reference_file(name: str, robot: str) -> str:
    """A reference's name; of a motion the path of its file, see `planned_motion`."""
    return str(planned_motion(name, robot)) if name in motion_names() else name


def tilt_allowance(config: LaunchConfig) -> Callable[[float], float]:
    """How far the reference of a launch tilts the trunk around a time [s]: [rad]; gaits do not."""
    if config.reference in GAITS or config.is_driven:
        return lambda _: 0.0
    from controller.references import make_reference

    file = reference_file(config.reference, config.robot)
    return make_reference(config.robot_model, file, 0.0, TILT_PERIOD).tilt


def tilt_allowance_of_run(config: LaunchConfig) -> Callable[[float], float]:
    """The `tilt_allowance` of a launch that is over: none where its reference is gone since."""
    try:
        return tilt_allowance(config)
    except (BadRequest, ValueError):
        return lambda _: 0.0


def make_plan(
    motion: Motion,
    robot: str,
    threads: int = 1,
    report: Callable[[float, float], None] | None = None,
) -> MotionPlan:  # fmt: skip
    """Plan a motion on MuJoCo's physics; see `plan_motion`."""
    from controller.motions import plan_motion
    from sim_bridge.rollouts.derivatives import RolloutDerivatives
    from sim_bridge.rollouts.threaded import ThreadedRollout

    model = robot_named(robot)

    def backend(knots: int) -> ThreadedRollout:
        return ThreadedRollout(model, knots, PERIOD, SUBSTEPS, threads)

    derivatives = RolloutDerivatives(model, PERIOD, SUBSTEPS, threads)
    return plan_motion(motion, model, PERIOD, backend, derivatives, report)
