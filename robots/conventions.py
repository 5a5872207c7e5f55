"""Conventions for every robot of this project: names, their order, gravity and a fall.

Legs are ordered FR, FL, RR, RL, joints of a leg hip, thigh, calf: the order of the motors on
Unitree's wires (quadruped.h of the vendor's SDK). With all joints at zero the legs point straight
down; the hip turns about x (forward), thigh and calf about y (left).
"""

from typing import Final

import numpy as np

FOOT_NAMES: Final = ("FR", "FL", "RR", "RL")
JOINT_NAMES: Final = tuple(
    f"{foot}_{joint}_joint" for foot in FOOT_NAMES for joint in ("hip", "thigh", "calf")
)
JOINT_LABELS: Final = tuple(
    name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES
)  # for people
GRAVITY: Final = 9.81  # [m/s^2] ISO 80000-3 rounded, as in scene.xml
FALLEN_TILT: Final = float(np.deg2rad(60.0))  # [rad] of the trunk, past which a robot has fallen
