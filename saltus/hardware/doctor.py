"""``saltus doctor a1``: whether a robot and this machine are fit for each other."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hw_bridge.options import HardwareOptions
from hw_bridge.wire.layout import wire_of
from robots.robot import Robot
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.doctor.checks import Check, guarded, machine_checks
from saltus.hardware import checks
from saltus.hardware.survey import Survey, survey
from saltus.launch.black_box_link import black_box_link
from saltus.launch.doctor_pass import DoctorPass, store_pass, today, withdraw_pass
from saltus.launch.hardware import LIMP, hardware_options

Judge = Callable[[Survey, HardwareOptions], tuple[bool, str]]


class Diagnosis(NamedTuple):
    """The verdicts, and what they rest on, ready for JSON."""

    checks: list[Check]
    measured: dict[str, Any]


def examine(config: LaunchConfig) -> Diagnosis:
    """Ask the robot of a launch for some seconds, without torque, then look at this machine.

    Where every essential check passes, the robot gets a pass for the day; else it loses its own.

    Raises:
        BadRequest: the launch is not on a robot, or its address or port cannot be had.
    """
    if not config.kind.real:
        raise BadRequest(
            f"doctor checks a launch on a real robot, such as `saltus doctor a1`; this one is "
            f"{config.connection}"
        )
    options = hardware_options(config)
    with black_box_link(config) as link:
        say(LIMP.format(*options.link.robot))
        found = survey(wire_of(config.robot_model), options, link)
    checks = [*judge(found, options, config.robot_model), *machine_checks(real=True)]
    say(_settle_pass(found, options, checks))
    return Diagnosis(checks, _measured(found))


def judges_of(robot: Robot) -> tuple[tuple[str, bool, Judge], ...]:
    """Name of each check, whether nothing may move while it fails, and its function."""
    return (
        ("reachability", True, checks.reachability),
        ("cadence", True, checks.cadence),
        ("header", True, checks.header),
        ("tick unit", True, checks.tick_unit),
        ("IMU", True, checks.imu),
        ("joints", True, partial(checks.joints, robot)),
        ("temperatures", True, checks.temperatures),
        ("motor modes", True, checks.motors),
        ("foot forces", False, checks.feet),
        ("remote", False, checks.remote),
        ("lost commands", True, checks.lost_commands),
    )


def judge(found: Survey, options: HardwareOptions, robot: Robot) -> list[Check]:
    """The verdicts on a survey; on a robot that did not answer, only that."""
    judges = judges_of(robot)[: None if found.fast.replies else 1]
    return [
        guarded(name, essential, lambda check=check: check(found, options))
        for name, essential, check in judges
    ]


def _settle_pass(found: Survey, options: HardwareOptions, checks: list[Check]) -> str:
    """Store or remove the robot's pass; the line that says so."""
    header, braked_s = found.exchange.intake.header, found.silences.braked_s
    failed = [check.check for check in checks if check.essential and not check.ok]
    try:
        if failed or header is None or braked_s is None:
            gone = header is not None and withdraw_pass(header)
            older = "; its older one is removed" if gone else ""
            causes = ", ".join(failed) or "no frame was believed"
            return f"no pass for this robot ({causes}){older}"
        given = DoctorPass(
            header.robot_id, header.serial, today(), braked_s, options.link.robot_address
        )
        path = store_pass(given)
        return (
            f"pass for robot_id {given.robot_id}, serial {given.serial} stored in {path}: on "
            f"{given.day}, `saltus launch` may move this robot"
        )
    except OSError as error:
        return f"pass not stored or removed: {error}; set XDG_STATE_HOME to a writable folder"


def _measured(found: Survey) -> dict[str, Any]:
    """What a script or a note wants of the survey; null where nothing was seen."""
    exchange, fast, slow = found.exchange, found.fast, found.slow
    header, silences = exchange.intake.header, found.silences
    counts = np.array([one.state.foot_force for one in fast.replies])
    return {
        "frames": exchange.frames, "refused": exchange.refused, "sent": exchange.questions,
        "rate_hz": fast.replies_hz, "questions_hz": fast.questions_hz,
        "cadence": checks.pattern(fast, slow) if fast.replies else None,
        "header": None if header is None else header._asdict(),
        "tick_unit_s": exchange.ticks.unit_s,
        "foot_force_counts": counts.mean(axis=0) if len(counts) else None,
        "silence_borne_s": silences.borne_s if silences.were_tried else None,
        "silence_braked_s": silences.braked_s,
    }  # fmt: skip
