"""The ways the bridge moves the robot: up to the stand, back to the stand, down to the ground."""

import numpy as np
from numpy.typing import NDArray

from hw_bridge.motion import Motion, Stage
from hw_bridge.motion_options import MotionOptions
from robots.a1.constants import LIE_JOINTS, STAND_JOINTS

Array = NDArray[np.float64]


def stand_up(options: MotionOptions, q: Array) -> Motion:
    """From a robot that lies, joints q (12) [rad], to the stand.

    The legs fold first and the hips swing in, so that the feet are below the hips before the legs
    take the weight; then they push straight up.
    """
    folded = LIE_JOINTS.copy()
    folded[::3] = q[::3]
    v = options.joint_speed
    stages = (
        Stage(folded, 0.0, v),
        Stage(LIE_JOINTS, 0.0, v),
        Stage(LIE_JOINTS, 1.0, v, options.load_s),
        Stage(STAND_JOINTS, 1.0, v),
    )
    return Motion(options, q, 0.0, stages)


def recover(options: MotionOptions, q: Array, torque: Array, then_fold: bool = False) -> Motion:
    """From a walk's pose q (12) [rad] and torque (12) [N m] to the stand, and to the ground."""
    back = Stage(STAND_JOINTS, 1.0, options.recover_speed, options.load_s)
    down = _down(options) if then_fold else ()
    return Motion(options, q, 1.0, (back, *down), torque)


def fold(options: MotionOptions, q: Array, load: float) -> Motion:
    """From wherever standing up has come to, joints q (12) [rad] under `load`, to the ground."""
    return Motion(options, q, load, _down(options))


def _down(options: MotionOptions) -> tuple[Stage, Stage]:
    """Fold the legs under the weight, then give it to the ground."""
    down = Stage(LIE_JOINTS, 1.0, options.joint_speed)
    return down, Stage(LIE_JOINTS, 0.0, options.joint_speed, options.load_s)
