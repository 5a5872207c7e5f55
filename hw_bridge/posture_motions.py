"""The ways the bridge moves the robot: up to the stand, back to the stand, down to the ground.

A robot rests on its belly with its shins folded under its thighs and its hips spread: folded legs
below the hips are longer (0.13 m) than the trunk is deep (0.06 m), so a robot left on them would
drop. Up and down lead through the pose of lying, feet below the hips, where the legs take the
weight, or have it last.
"""

import numpy as np
from numpy.typing import NDArray

from hw_bridge.motion import Motion, Stage
from hw_bridge.motion_options import MotionOptions
from robots.a1.constants import LEG_SIDE, LIE_JOINTS, STAND_JOINTS

Array = NDArray[np.float64]
SPREAD = 0.65  # [rad] of the hips: feet of folded legs just reach the floor that the belly is on


def _rest_joints() -> Array:
    joints = LIE_JOINTS.copy()
    joints[::3] = SPREAD * LEG_SIDE
    return joints


REST_JOINTS = _rest_joints()  # [rad] lying on the belly


def stand_up(options: MotionOptions, q: Array) -> Motion:
    """From a robot that lies, joints q (12) [rad], to the stand.

    Shins fold first, then thighs turn: with spread hips a folded leg turns clear of the floor
    wherever it lay. Hips swing in, so that the feet are below them before the legs take the
    weight; then all push straight up. It knows no attitude: a trunk that leans on a leg by less
    than 0.6 rad comes to lie flat on the way (simulated, legs drawn at random), one that leans
    further may roll over.
    """
    shins_folded = REST_JOINTS.copy()
    shins_folded[1::3] = q[1::3]
    v = options.joint_speed
    stages = (
        Stage(shins_folded, 0.0, v, waits="each"),
        Stage(REST_JOINTS, 0.0, v, waits="each"),
        Stage(LIE_JOINTS, 0.0, v),
        Stage(LIE_JOINTS, 1.0, v, options.load_s),
        Stage(STAND_JOINTS, 1.0, v),
    )
    return Motion(options, q, 0.0, stages)


def recover(options: MotionOptions, q: Array, torque: Array) -> Motion:
    """From a walk's pose q (12) [rad] and torque (12) [N m] to the stand.

    Fast first, and at least as long as legs take to change the weight they carry; then a joint that
    has been left behind is fetched from where it is.
    """
    stages = (
        Stage(STAND_JOINTS, 1.0, options.recover_speed, options.load_s, waits="none"),
        Stage(STAND_JOINTS, 1.0, options.joint_speed),
    )
    return Motion(options, q, 1.0, stages, torque)


def sit_down(options: MotionOptions, q: Array, torque: Array) -> Motion:
    """From the stand or lower, joints q (12) [rad] under a torque (12) [N m], to the ground."""
    return Motion(options, q, 1.0, _down(options), torque)


def is_low(q: Array) -> bool:
    """Whether a robot with joints q (12) [rad] is nearer to lying on its feet than to the stand."""
    return float(np.mean(q[2::3])) < 0.5 * (STAND_JOINTS[2] + LIE_JOINTS[2])


def give_up(options: MotionOptions, q: Array, load: float) -> Motion:
    """From wherever standing up has come to, joints q (12) [rad] under `load`, to the ground."""
    down = _down(options)
    return Motion(options, q, load, down if load > 0.0 else down[1:])


def _down(options: MotionOptions) -> tuple[Stage, Stage]:
    """Fold the legs under the weight, then spread the hips until the belly carries it."""
    folded = Stage(LIE_JOINTS, 1.0, options.joint_speed)
    return folded, Stage(REST_JOINTS, 0.0, options.joint_speed)
