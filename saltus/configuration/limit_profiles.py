"""Profiles of limits: `hardware.limits` names what a robot may do at most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from hw_bridge.options import motor_limits

if TYPE_CHECKING:
    from robots.robot import Robot
    from saltus.configuration.launch import LaunchConfig

Limits = TypeVar("Limits", bound=msgspec.Struct)

# Of first_run. The profile full leaves everything as it is configured.
SAFETY: Final = {
    "torque_limit": 20.0, "velocity_limit": 10.0, "torque_slew": 5000.0, "motor_power": 150.0,
    "total_power": 400.0, "jam_torque": 18.0,  # below the torque's limit, or nothing would jam
}  # fmt: skip
GAIT: Final = {"forward": 0.2, "left": 0.1, "yaw_rate": 0.4}  # [m/s], [m/s], [rad/s]


def within_profile(config: LaunchConfig) -> LaunchConfig:
    """The launch with the smaller of each configured limit and its profile's.

    A speed along a straight line is brought within the limits; steps of a script and commands of
    who drives are, once they are followed.
    """
    if not config.kind.bridged or config.limit_profile == "full":
        return config
    safety = _smaller(config.hardware.safety, SAFETY)
    names = ("walk", "trot", "bound")
    gaits = {name: _smaller(getattr(config.drive, name), GAIT) for name in names}
    command = config.command
    if not isinstance(command, tuple):
        most = GAIT["forward"]
        command = msgspec.structs.replace(
            command, velocity_x=min(most, max(-most, command.velocity_x))
        )
    return msgspec.structs.replace(
        config, hardware=msgspec.structs.replace(config.hardware, safety=safety),
        drive=msgspec.structs.replace(config.drive, **gaits), command=command,
    )  # fmt: skip


def limits_in_words(config: LaunchConfig, robot: Robot) -> str:
    """One line: the limits of the robot that are in force, and how to ask for full ones."""
    safety, walk, profile = config.hardware.safety, config.drive.walk, config.limit_profile
    torque, velocity = motor_limits(safety, robot)
    found = (
        f"limits {profile}: {torque.max():g} N m, {safety.torque_slew:g} N m/s, "
        f"{velocity.max():g} rad/s, {safety.motor_power:g} W a motor, "
        f"{safety.total_power:g} W in all"
    )
    if profile == "full":
        return found
    return (
        f"{found}; commands up to {walk.forward:g} m/s forward, {walk.left:g} m/s sideways, "
        f"{walk.yaw_rate:g} rad/s; --set hardware.limits=full asks for full ones"
    )


def _smaller(limits: Limits, most: Mapping[str, float]) -> Limits:
    """The same limits, those named no larger than `most`; None is the robot's own, above it."""
    own = {name: getattr(limits, name) for name in most}
    lower = {name: most[name] if own[name] is None else min(own[name], most[name]) for name in most}
    return msgspec.structs.replace(limits, **lower)
