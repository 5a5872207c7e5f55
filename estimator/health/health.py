"""The verdict on one reading, and the words for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimator.health.layout import (
    ACCELEROMETER,
    ATTITUDE_SENSOR,
    FORCE_SENSOR,
    GYRO_SENSOR,
    POSITION_SENSOR,
    SENSORS,
    TORQUE_SENSOR,
    VELOCITY_SENSOR,
)
from robots.a1.constants import FOOT_NAMES, JOINT_NAMES

Mask = NDArray[np.bool_]

_MOTORS = tuple(name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES)


class Health(NamedTuple):
    """Which sensors of one reading may be used.

    `any_fault` is true while a sensor is left out because it is faulty. An accelerometer at its
    rail is left out for that reading and is no fault: a blow does that to a sound one.
    """

    orientation: bool
    gyroscope: bool
    accelerometer: bool
    joint_position: Mask  # (12)
    joint_velocity: Mask  # (12)
    joint_torque: Mask  # (12)
    foot_force: Mask  # (4)
    any_fault: bool


def health(usable: Mask, any_fault: bool) -> Health:
    """The verdict from the mask (43) in the order of `layout`; the mask is copied."""
    usable = usable.copy()
    return Health(
        bool(usable[ATTITUDE_SENSOR]),
        bool(usable[GYRO_SENSOR]),
        bool(usable[ACCELEROMETER]),
        usable[POSITION_SENSOR:VELOCITY_SENSOR],
        usable[VELOCITY_SENSOR:TORQUE_SENSOR],
        usable[TORQUE_SENSOR:FORCE_SENSOR],
        usable[FORCE_SENSOR:SENSORS],
        any_fault,
    )


def fault_names(verdict: Health) -> tuple[str, ...]:
    """The sensors that are left out, in words; a group of which all are is named once."""
    if not verdict.any_fault:
        return ()
    names = [
        name
        for name, sound in (
            ("orientation", verdict.orientation),
            ("gyroscope", verdict.gyroscope),
            ("accelerometer", verdict.accelerometer),
        )
        if not sound
    ]
    names += _named("joint position", verdict.joint_position, _MOTORS)
    names += _named("joint velocity", verdict.joint_velocity, _MOTORS)
    names += _named("joint torque", verdict.joint_torque, _MOTORS)
    names += _named("foot force", verdict.foot_force, FOOT_NAMES)
    return tuple(names)


def _named(group: str, sound: Mask, members: tuple[str, ...]) -> list[str]:
    if not sound.any():
        return [group]
    return [f"{group} {members[i]}" for i in np.flatnonzero(~sound)]
