"""The walk that HiLQR tracks in the thesis (6.5.2): what Convex MPC makes of a gait, undisturbed.

It is walked once in lock step, without noise and in the default world, until it repeats from stride
to stride; the last stride loops for ever. The user's cache keeps it under a name that changes with
everything that the walk depends on.
"""

import logging
from pathlib import Path

import msgspec
import numpy as np

from controller.gaits import GAITS
from controller.references import ReferenceTrajectory, save_reference
from saltus.common.code_version import LOCK_STEP, code_version, fingerprint
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.folders import cache_folder, keep_in_cache
from saltus.configuration.launch import TICK_S, LaunchConfig
from saltus.configuration.planners import entry_of
from saltus.launch.lock_step import LockStep, Tick
from sim_bridge.options import SensorOptions, SimulationOptions

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
        tracker=msgspec.structs.replace(config.tracker, command_delay=0.0),  # as its world
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
    logging.getLogger("controller").addHandler(logging.NullHandler())  # that it starts is no news
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
