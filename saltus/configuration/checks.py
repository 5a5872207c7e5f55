"""What the values of a launch must be to each other, beyond what each may be by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from controller.driving.commands import CommandScript
from controller.gaits import GAITS, STAND
from robots.robot_file import is_own
from saltus.common.errors import BadRequest
from saltus.common.folders import is_file
from saltus.configuration.estimators import ESTIMATORS
from saltus.configuration.motions import motion_names
from saltus.configuration.planners import PLANNERS, PLUGIN_FORM, is_plugin
from saltus.configuration.timing import TimingOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from saltus.configuration.launch import LaunchConfig

ROLLOUTS = ("mujoco", "warp", "isaacgym", "remote")
# Accepted, by key.
NAMES = {"planner": tuple(PLANNERS), "estimator": tuple(ESTIMATORS), "rollout": ROLLOUTS}


def check_launch(config: LaunchConfig, blame: Callable[..., str]) -> None:
    """Find values that do not go together.

    Args:
        config: each of its values is accepted by itself.
        blame: what messages about some keys begin with.

    Raises:
        BadRequest: two values contradict each other, or a name is none.
    """

    def refuse(message: str, *keys: str) -> BadRequest:
        return BadRequest(f"{blame(*keys)}: {message}")

    for key, names in NAMES.items():
        if (name := getattr(config, key)) in names or (key != "rollout" and is_plugin(name)):
            continue
        accepted = names if key == "rollout" else (*names, PLUGIN_FORM)
        raise refuse(f"{key} is {name!r}; accepted: {', '.join(accepted)}", key)
    if not config.kind.simulated:
        _check_robot(config, refuse)
    if config.mode == "realtime" and config.timing != TimingOptions():
        raise refuse(
            "timing is for lock step; give mode: paused, or leave it out", "timing", "mode"
        )
    _check_reference(config, refuse)
    if config.terrain != "flat" or not config.knows_ground:
        _check_terrain(config, refuse)
    if config.is_driven:
        _check_driving(config, refuse)


def _check_robot(config: LaunchConfig, refuse: Callable[..., BadRequest]) -> None:
    """Refuse what is a simulated robot's alone."""
    if config.mode != "realtime":
        message = f"connection {config.connection} cannot be paused; give mode: realtime"
        raise refuse(message, "mode", "connection")
    if config.perturbations:
        raise refuse(
            "perturbations are a simulated robot's; an emulated one has emulator.events",
            "perturbations", "connection",
        )  # fmt: skip
    if config.kind.real and not is_own(config.robot):
        raise refuse("connection real speaks to robots of this project alone", "robot")
    if config.kind.emulated and config.simulation.engine != "mujoco":
        raise refuse(
            "an emulated robot's physics is MuJoCo's in its own process; give simulation.engine "
            "mujoco", "simulation.engine", "connection",
        )  # fmt: skip
    if config.needs_consent and not config.hardware.motions:
        raise refuse(
            f"reference {config.reference} is no gait, and may leave the ground: a real robot "
            "does it only with hardware.motions true (docs/hardware.md)",
            "reference", "hardware.motions",
        )  # fmt: skip
    moves = config.kind.bridged and config.hardware.mode == "full"
    if moves and config.reference not in GAITS and config.limit_profile == "first_run":
        raise refuse(
            f"reference {config.reference} is no gait, and needs more than the limits of first "
            "runs; give hardware.limits full", "reference", "hardware.limits",
        )  # fmt: skip


def _check_terrain(config: LaunchConfig, refuse: Callable[..., BadRequest]) -> None:
    """Refuse ground that a backend lacks."""
    if config.terrain != "flat" and config.simulation.engine != "mujoco":
        raise refuse(
            f"simulation.engine {config.simulation.engine} has a level floor alone; give mujoco, "
            "or terrain flat", "terrain", "simulation.engine",
        )  # fmt: skip
    if config.terrain != "flat" and config.simulation.floor_slope:
        raise refuse(
            "terrain and simulation.floor_slope are two grounds; give a part of kind slope instead",
            "terrain", "simulation.floor_slope",
        )  # fmt: skip
    if config.rollout == "isaacgym" and not config.knows_ground:
        raise refuse(
            "rollout isaacgym has ground that cannot move, as an estimate of it does; give "
            "terrain_belief known, or another rollout", "rollout", "terrain_belief",
        )  # fmt: skip


def _check_reference(config: LaunchConfig, refuse: Callable[..., BadRequest]) -> None:
    """Refuse a planner that cannot follow the reference, and a reference that there is not."""
    if config.reference in GAITS:
        most = config.drive.limits(config.reference).forward
        if config.reference != STAND.name and not config.is_driven and abs(config.speed) > most:
            raise refuse(
                f"command.velocity_x is {config.speed:g}; a {config.reference} takes {-most:g} to "
                f"{most:g} m/s", "command.velocity_x",
            )  # fmt: skip
        return
    gaits = ", ".join(GAITS)
    if not config.planner_entry.rolls_out:
        raise refuse(
            f"planner {config.planner} walks by a gait, not {config.reference!r}; give reference "
            f"one of {gaits}", "reference", "planner",
        )  # fmt: skip
    motions = motion_names()
    if config.reference in motions or config.is_driven:
        return
    if not is_file(Path(config.reference)):
        raise refuse(
            f"no reference {config.reference!r}: give one of {gaits}, a motion "
            f"({', '.join(motions)}) or the path of a recorded trajectory", "reference",
        )  # fmt: skip


def _check_driving(config: LaunchConfig, refuse: Callable[..., BadRequest]) -> None:
    if config.reference not in GAITS or config.reference_from != "kinematic":
        raise refuse(
            "a robot that is driven begins with a kinematic gait; give reference one of "
            f"{', '.join(GAITS)}, and reference_from kinematic",
            "reference", "reference_from", "drive", "command",
        )  # fmt: skip
    by_phase = any(not isinstance(event.at, int | float) for event in config.perturbations)
    if by_phase and (config.mode != "paused" or config.script is None):
        raise refuse(
            "perturbations of a robot that is driven need `at` in seconds, but for a script in "
            "mode paused", "perturbations", "mode", "drive",
        )  # fmt: skip
    if config.drive.source != "none":
        _check_source(config, refuse)
    _check_strides(config, refuse)
    if isinstance(config.command, tuple):
        try:
            CommandScript(config.command, config.drive, config.reference)
        except ValueError as error:
            raise refuse(f"command: {error}", "command") from error


def _check_source(config: LaunchConfig, refuse: Callable[..., BadRequest]) -> None:
    """Refuse who cannot drive this robot."""
    by = config.drive.source
    if isinstance(config.command, tuple):
        raise refuse(
            "one drives, not two: leave out the script in command, or drive.source",
            "drive.source", "command",
        )  # fmt: skip
    if config.mode != "realtime":
        raise refuse(
            f"drive.source {by} is for mode realtime; in lock step only a script drives",
            "mode", "drive.source",
        )  # fmt: skip
    if not config.kind.planned:
        raise refuse(
            f"drive.source {by} is for the launch that plans, not this one", "drive.source"
        )
    if by == "remote" and not config.kind.bridged:
        raise refuse(
            "drive.source remote needs a real or emulated robot; a simulated one takes keyboard, "
            "gamepad, client", "drive.source", "connection",
        )  # fmt: skip
    if by == "keyboard" and config.kind.bridged and not config.hardware.operator.keyboard:
        raise refuse(
            "drive.source keyboard needs hardware.operator.keyboard true",
            "drive.source", "hardware.operator.keyboard",
        )  # fmt: skip


def _check_strides(config: LaunchConfig, refuse: Callable[..., BadRequest]) -> None:
    """Refuse knots that do not fit every gait: commands may change it."""
    try:
        for gait in GAITS.values():
            if gait.duty < 1.0:
                gait.knots(config.planner_options.period)
    except ValueError as error:
        raise refuse(str(error), f"{config.planner}.period", "command", "drive") from error
