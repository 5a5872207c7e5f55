"""Load a robot into Pinocchio, from the same text as into MuJoCo."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin

from robots.conventions import FOOT_NAMES, GRAVITY
from robots.robot import Robot


def load_pinocchio(robot: Robot) -> pin.Model:
    """Return the robot with a free-flyer root: nq 19, nv 18, joints in motor order, with armature.

    The free joint of the MJCF becomes Pinocchio's free flyer, so no second root is added. Limits of
    effort [N m] and velocity [rad/s] are filled in here because Pinocchio does not read them from
    the actuators.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.xml")
        file.write_text(robot.mjcf)
        model = pin.buildModelFromMJCF(str(file))
    model.gravity = pin.Motion(np.array([0.0, 0.0, -GRAVITY]), np.zeros(3))
    model.effortLimit = np.concatenate((np.zeros(6), robot.torque_limit))
    model.velocityLimit = np.concatenate((np.full(6, np.inf), robot.velocity_limit))
    return model


def foot_frame_ids(model: pin.Model) -> tuple[int, int, int, int]:
    """Return the frames at the centres of the foot spheres, in the order FR, FL, RR, RL.

    Their axes are the calves'.
    """
    fr, fl, rr, rl = (model.getFrameId(f"{foot}_foot", pin.FrameType.BODY) for foot in FOOT_NAMES)
    return fr, fl, rr, rl
