"""Load the A1 into Pinocchio, from the same file as into MuJoCo."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

import numpy as np
import pinocchio as pin

from robots.a1.constants import FOOT_NAMES, GRAVITY, MJCF_PATH, TORQUE_LIMIT, VELOCITY_LIMIT


def load_pinocchio() -> pin.Model:
    """Return the A1 with a free-flyer root: nq 19, nv 18, joints in motor order, armature included.

    The free joint of the MJCF becomes Pinocchio's free flyer, so no second root is added. Limits of
    effort [N m] and velocity [rad/s] are filled in here because Pinocchio does not read them from
    the actuators.
    """
    model = pin.buildModelFromMJCF(str(MJCF_PATH))
    model.gravity = pin.Motion(np.array([0.0, 0.0, -GRAVITY]), np.zeros(3))
    model.effortLimit = np.concatenate((np.zeros(6), np.full(12, TORQUE_LIMIT)))
    model.velocityLimit = np.concatenate((np.full(6, np.inf), np.full(12, VELOCITY_LIMIT)))
    return model


def foot_frame_ids(model: pin.Model) -> tuple[int, int, int, int]:
    """Return the frames at the centres of the foot spheres, in the order FR, FL, RR, RL.

    Their axes are the calves'.
    """
    fr, fl, rr, rl = (model.getFrameId(f"{foot}_foot", pin.FrameType.BODY) for foot in FOOT_NAMES)
    return fr, fl, rr, rl
