"""Numbers of the Unitree A1, each with its source on its line.

Sources: [E] Gepetto/example-robot-data 6.0.0 a1.urdf; [U] unitreerobotics/unitree_ros @ 49e936b9
const.xacro; [M] google-deepmind/mujoco_menagerie @ 1b428b08 unitree_a1/a1.xml; [S] chosen here. The
masses and inertias stand in `a1.xml` only. Legs are ordered FR, FL, RR, RL; joints of a leg hip,
thigh, calf: the A1's own motor order.
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _constant(values: object) -> Array:
    """Return `values` as a float64 array that cannot be written to by mistake."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


MJCF_PATH: Final = Path(__file__).with_name("a1.xml")

FOOT_NAMES: Final = ("FR", "FL", "RR", "RL")  # quadruped.h of the vendor's SDK: legs 0 to 3
JOINT_NAMES: Final = tuple(
    f"{foot}_{joint}_joint" for foot in FOOT_NAMES for joint in ("hip", "thigh", "calf")
)  # [E] joint names; the SDK's motor index is 3 leg + joint

GRAVITY: Final = 9.81  # [m/s^2] ISO 80000-3 rounded, as in a1.xml
TORQUE_LIMIT: Final = 33.5  # [N m] [E], [U] effort
VELOCITY_LIMIT: Final = 21.0  # [rad/s] [E], [U] velocity
ARMATURE: Final = 0.01  # [kg m^2] [M] rotor inertia seen at the joint
TOTAL_MASS: Final = 13.741  # [kg] [E] sum over all links
_HIP_RANGE = (-0.8028514559173915, 0.8028514559173915)  # [rad] [E] hip
_THIGH_RANGE = (-1.0471975511965976, 4.1887902047863905)  # [rad] [E] thigh
_CALF_RANGE = (-2.6965336943312392, -0.9162978572970231)  # [rad] [E] calf
JOINT_LOWER: Final = _constant([_HIP_RANGE[0], _THIGH_RANGE[0], _CALF_RANGE[0]] * 4)  # [rad] (12)
JOINT_UPPER: Final = _constant([_HIP_RANGE[1], _THIGH_RANGE[1], _CALF_RANGE[1]] * 4)  # [rad] (12)

HIP_POSITION_IN_BASE: Final = _constant(
    [[0.1805, -0.047, 0.0], [0.1805, 0.047, 0.0], [-0.1805, -0.047, 0.0], [-0.1805, 0.047, 0.0]]
)  # [m] (4, 3) [U] leg_offset_x, leg_offset_y
LEG_SIDE: Final = _constant([-1.0, 1.0, -1.0, 1.0])  # right legs reach to negative y
THIGH_OFFSET: Final = 0.0838  # [m] [U] thigh_offset, from hip axis to the leg's plane
LINK_LENGTH: Final = 0.2  # [m] [U] thigh_length, calf_length
FOOT_RADIUS: Final = 0.02  # [m] [U] foot_radius

STAND_JOINTS: Final = _constant([0.0, 0.8, -1.6] * 4)  # [rad] [S] foot below the hip axis
STAND_HEIGHT: Final = 2.0 * LINK_LENGTH * float(np.cos(0.8)) + FOOT_RADIUS  # [m] base, then
FALLEN_TILT: Final = float(np.deg2rad(60.0))  # [rad] [S] of the trunk, past which it has fallen
LIE_JOINTS: Final = _constant([0.0, 1.3, -2.6] * 4)  # [rad] [S] folded: foot below hip, base 0.13 m
