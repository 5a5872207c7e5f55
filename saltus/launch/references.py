"""References that are made once and kept in the user's cache: planned motions, recorded walks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from controller.gaits import GAITS
from controller.options import FEASIBLE
from saltus.common.compiled_code import LOCK_STEP, code_version, fingerprint
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.files import cache_folder, keep_in_cache
from saltus.configuration.launch import TICK_S, LaunchConfig, robot_named
from saltus.configuration.motions import motion_file, motion_names, own_file
from saltus.configuration.options import read_mapping, to_options
from saltus.configuration.planners import entry_of
from sim_bridge.options import SensorOptions, SimulationOptions

if TYPE_CHECKING:
    from controller.motions import MotionPlan
    from controller.options import Motion
    from controller.references import ReferenceTrajectory
    from saltus.launch.lock_step import Tick


TILT_PERIOD = 0.01  # of the samples of a reference whose tilt is asked for [s]
PERIOD, SUBSTEPS = 0.01, 5  # between knots [s], and physics steps within one
SOURCES = ("controller/**/*", "saltation/**/*", "robots/**/*", "sim_bridge/**/*")


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
            raise BadRequest(
                f"reference: {stem} cannot be done by {robot}: {plan.solution.message}; give it a "
                f"motion of its own in {own_file(stem, robot)} (docs/motions.md)"
            )
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
    mark = fingerprint((replace(motion, hilqr={}), robot_named(robot).mjcf), code_version(SOURCES))
    return cache_folder() / "motions" / f"{stem}-{mark}.npz"


def reference_file(name: str, robot: str) -> str:
    """A reference's name; of a motion the path of its file, see `planned_motion`."""
    return str(planned_motion(name, robot)) if name in motion_names() else name


def tilt_allowance(config: LaunchConfig) -> Callable[[float], float]:
    """Tilt of the trunk in the reference of a launch around a time [s]: [rad]; 0 in gaits."""
    if config.reference in GAITS or config.is_driven:
        return lambda _: 0.0
    from controller.references import make_reference

    file = reference_file(config.reference, config.robot)
    return make_reference(config.robot_model, file, 0.0, TILT_PERIOD).tilt


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


RECORDER = "convex_mpc"
STRIDES = 8  # at full speed; each is nearer to a limit cycle, and no suite is longer than all


def recorded_walk(config: LaunchConfig, recorder: str = RECORDER) -> Path:
    """The file of the walk that this launch tracks, walked first where there is none yet.

    Processes that find none at the same time walk each for itself and keep equal files.

    Args:
        config: the launch; its gait, command and options count, its world and perturbations do not.
        recorder: name of the planner that walks.

    Raises:
        BadRequest: the planner falls, or the cache cannot be written.
    """
    walk = walk_of(config, recorder)
    path = _path(walk)
    if not path.is_file():
        from controller.references import save_reference  # loads the physics

        say(f"recording the walk of {entry_of(recorder).label} (once)")
        trajectory = record(walk)
        keep_in_cache(
            path, lambda part: save_reference(trajectory, part),
            "reference_from: the recorded walk",
        )  # fmt: skip
    return path


def walk_of(config: LaunchConfig, recorder: str = RECORDER) -> LaunchConfig:
    """The launch that is recorded for a launch; its length is the gait's, so that many share it."""
    gait = GAITS[config.reference]
    return LaunchConfig(
        duration=gait.start + gait.ramp + STRIDES * gait.period,
        planner=recorder,
        reference=config.reference,
        command=config.command,
        tracker=replace(config.tracker, command_delay=0.0),  # as its world
        estimator=config.estimator,
        simulation=SimulationOptions(sensors=SensorOptions(noise=0.0)),
        **{name: getattr(config, name) for name in (recorder, config.estimator)},
    )


def record(walk: LaunchConfig) -> ReferenceTrajectory:
    """Run a launch in lock step; the true motion and the motors' torque at every tick.

    The last stride loops; a run that is no longer than a stride holds its end.

    Raises:
        BadRequest: the robot falls.
    """
    from controller.references import ReferenceTrajectory
    from saltus.launch.lock_step import LockStep  # imports this module

    run = LockStep(walk)
    truths, torques = [], []

    def keep(tick: Tick) -> None:
        truths.append(tick.truth)
        torques.append(run.simulation.reading().joint_torque)  # of the tick that has just ended

    if run.run(keep).fell:
        raise BadRequest(
            f"reference_from: {walk.planner_entry.label} fell within {run.simulation.time:.1f} s "
            f"while its walk was recorded; change {walk.planner}'s options or the command, or set "
            "reference_from=kinematic"
        )
    q, stride = np.array([truth.q for truth in truths]), GAITS[walk.reference].period
    loop = round(stride / TICK_S) if stride < walk.duration else 1
    shift = run.simulation.truth().q[:3] - q[-loop, :3] if loop > 1 else np.zeros(3)
    return ReferenceTrajectory(
        name=f"{walk.reference} of {walk.planner_entry.label}",
        period=TICK_S,
        q=q,
        v=np.array([truth.v for truth in truths]),
        inputs=np.array(torques),
        contacts=np.array([truth.contact for truth in truths]),
        loop=loop,
        loop_shift=shift * (1.0, 1.0, 0.0),  # over level ground, however long
    )


def _path(walk: LaunchConfig) -> Path:
    """A file whose name changes with the code, the physics engine and every option of the walk."""
    mark = fingerprint((walk, walk.robot_model.mjcf), code_version(LOCK_STEP))
    return cache_folder() / "walks" / f"{mark}.npz"
