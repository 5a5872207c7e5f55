"""The ten bytes that both frames begin with."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.layout import HEADER, LOW_LEVEL


class Header(NamedTuple):
    """Who speaks, and at which level.

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
