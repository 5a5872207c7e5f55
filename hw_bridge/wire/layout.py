"""What stands where in the A1's two low-level UDP frames.

Records are packed and little endian. They are shorter than the structs of the vendor's header
(730 and 891 bytes), which its library packs into these before it sends. Sources: names and types
from unitree_legged_sdk v3.3.1 comm.h; offsets, scales and sizes observed of the vendor's library
3.3.4 on loopback, the same for v3.2 to 3.3.4.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOTORS: Final = 20  # in a frame
JOINTS: Final = 12  # of them the A1 has: motor 3 leg + joint (quadruped.h); the others are unused
REMOTE_BYTES: Final = 40

LOW_LEVEL: Final = 0xFF  # level_flag of motor commands (comm.h)
SERVO: Final = 0x0A  # motor mode: the motor follows its setpoint (comm.h)
BRAKE: Final = 0x00  # motor mode: electronic brake (comm.h)
OVERHEATED: Final = 0x08  # motor mode seen after a shutdown (unitree_legged_sdk thread 54)
POS_STOP: Final = 2.146e9  # as q: no position loop (comm.h PosStopF); a float32 holds it exactly
VEL_STOP: Final = 16000.0  # as dq: no velocity loop (comm.h VelStopF)

TORQUE_SCALE: Final = 256.0  # [counts/(N m)] of tau and tau_est
KP_SCALE: Final = 32.0  # [counts/(N m/rad)]
KD_SCALE: Final = 16.0  # [counts/(N m s/rad)]

HEADER: Final = np.dtype(
    [
        ("level_flag", "u1"),
        ("comm_version", "<u2"),
        ("robot_id", "<u2"),
        ("serial", "<u4"),
        ("bandwidth", "u1"),
    ]
)

MOTOR_COMMAND: Final = np.dtype(
    [
        ("mode", "u1"),
        ("q", "<f4"),  # [rad]
        ("dq", "<f4"),  # [rad/s]
        ("tau", "<i2"),  # TORQUE_SCALE
        ("kp", "<i2"),  # KP_SCALE
        ("kd", "<i2"),  # KD_SCALE
        ("reserve", "<u4", 3),
    ]
)

LOW_COMMAND: Final = np.dtype(
    [
        ("header", HEADER),
        ("motors", MOTOR_COMMAND, MOTORS),
        ("led", "u1", 12),  # four, red green blue
        ("remote", "u1", REMOTE_BYTES),
        ("reserve", "<u4"),
        ("crc", "<u4"),
    ]
)

MOTOR_STATE: Final = np.dtype(
    [
        ("mode", "u1"),
        ("q", "<f4"),  # [rad]
        ("dq", "<f4"),  # [rad/s]
        ("ddq", "<i2"),  # [rad/s^2]
        ("tau_est", "<i2"),  # TORQUE_SCALE
        ("q_raw", "<f4"),
        ("dq_raw", "<f4"),
        ("ddq_raw", "<i2"),
        ("temperature", "i1"),  # [deg C]
        ("reserve", "<u4", 2),
    ]
)

LOW_STATE: Final = np.dtype(
    [
        ("header", HEADER),
        ("quaternion_wxyz", "<f4", 4),
        ("gyroscope", "<f4", 3),  # [rad/s]
        ("accelerometer", "<f4", 3),  # specific force [m/s^2]
        ("rpy", "<f4", 3),  # [rad]
        ("imu_temperature", "i1"),  # [deg C]
        ("motors", MOTOR_STATE, MOTORS),
        ("foot_force", "<i2", 4),  # [counts] FR, FL, RR, RL
        # The vendor's library skips these 8 bytes; comm.h has footForceEst in this place.
        ("foot_force_est", "<i2", 4),
        ("tick", "<u4"),
        ("remote", "u1", REMOTE_BYTES),
        ("reserve", "<u4"),
        ("crc", "<u4"),
    ]
)

LOW_COMMAND_SIZE: Final = LOW_COMMAND.itemsize  # 610
LOW_STATE_SIZE: Final = LOW_STATE.itemsize  # 771


class Header(NamedTuple):
    """Identity of the robot, and the level of commands.

    Named after unitree_legged_sdk v3.3.1 comm.h: levelFlag, commVersion, robotID, SN, bandWidth.
    """

    level_flag: int = LOW_LEVEL  # 8 bits
    comm_version: int = 0  # 16 bits
    robot_id: int = 0  # 16 bits
    serial: int = 0  # 32 bits
    bandwidth: int = 0  # 8 bits


_MASKS = tuple((1 << 8 * HEADER[name].itemsize) - 1 for name in Header._fields)


def command_header(robot: Header) -> Header:
    """What commands to a robot with this header begin with: its own values, at the low level.

    unitree_ros_real copies all five; the vendor's InitCmdData sets the level whatever the robot
    says, and motor commands under another one would be a guess.
    """
    return robot._replace(level_flag=LOW_LEVEL)


def read_header(record: NDArray[np.void]) -> Header:
    """The header of a LOW_COMMAND or LOW_STATE record, an array of no dimension."""
    return Header(*record["header"].item())


def write_header(record: NDArray[np.void], header: Header) -> None:
    """Write it into a record; of a number too large for its field the low bits are sent."""
    record["header"] = tuple(int(value) & mask for value, mask in zip(header, _MASKS, strict=True))
