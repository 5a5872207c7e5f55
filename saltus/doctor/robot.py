"""Checks of `saltus doctor a1`: how a robot talks, and what it measures at rest.

Each returns (passed, its line). Means are over the two seconds in which it was asked at 500 Hz.
"""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from hw_bridge.options import HardwareOptions
from hw_bridge.wire.layout import JOINTS, LOW_LEVEL, SERVO, wire_of
from hw_bridge.wire.remote import decode_remote
from robots.conventions import FOOT_NAMES, GRAVITY, JOINT_LABELS
from robots.imu_units import doubt_at_rest
from robots.robot import Robot
from saltus.common.console import say
from saltus.common.criterion import Check, guarded
from saltus.common.errors import BadRequest
from saltus.common.heading import base_rotation
from saltus.configuration.launch import LaunchConfig
from saltus.doctor.checks import machine_checks
from saltus.doctor.read_only_view import head_of, mode_name
from saltus.doctor.survey import (
    Phase,
    Survey,
    in_words,
    judge_unit,
    no_answer,
    round_trips,
    survey,
)
from saltus.launch.hardware import (
    LIMP,
    DoctorPass,
    black_box_link,
    hardware_options,
    store_pass,
    today,
    withdraw_pass,
)

LEAST_HZ: Final = 300.0  # users of the A1 need it (yxyang/locomotion_simulation thread 1)
LATEST_BRAKE_S: Final = 0.05  # [s] for which a robot may go on without commands
ALIKE: Final = 0.2  # by which rates may differ and count as the same

Found = tuple[bool, str]
Judge = Callable[[Survey, HardwareOptions], Found]


def reachability(survey: Survey, options: HardwareOptions) -> Found:
    """Whether the robot answers, and how fast."""
    if not survey.fast.replies:
        refused = survey.exchange.refused
        unsent = f"; {survey.send_errors} frames could not be sent" if survey.send_errors else ""
        return False, no_answer(options, refused) + unsent
    address, port = options.link.robot
    trips = 1e3 * np.array(round_trips(survey.slow))
    if trips.size:
        trip = f"first frame {np.median(trips):.1f} ms after a question, at most {trips.max():.1f}"
    else:
        trip = "no frame soon after a question"
    others = {k: n for k, n in survey.exchange.refused.items() if k in ("wrong_sender", "length")}
    strangers = f"; not the robot's, and ignored: {in_words(others)}" if others else ""
    return True, f"{address} port {port} answers, {trip}{strangers}"


def cadence(survey: Survey, options: HardwareOptions) -> Found:
    """Whether frames come often and evenly enough to walk on."""
    fast = survey.fast
    gaps = 1e3 * np.diff([one.arrival for one in fast.replies])
    if gaps.size < 2:
        return False, "too few frames to say"
    p50, p99, longest = *np.quantile(gaps, (0.5, 0.99)), gaps.max()
    safety = options.safety
    hold, most = 1e3 * safety.state_age_hold_s, 1e3 * safety.state_age_max_s
    found = (
        f"{fast.replies_hz:.0f} Hz for {fast.questions_hz:.0f} commands/s, gaps p50 {p50:.1f}, p99 "
        f"{p99:.1f}, max {longest:.1f} ms; {pattern(fast, survey.slow)}"
    )
    if fast.replies_hz < LEAST_HZ:
        return False, f"{found}; {LEAST_HZ:.0f} Hz are needed: use a cable, stop other programs"
    if p99 > hold or longest > most:
        bounds = f"p99 {hold:.0f}, max {most:.0f} ms are the bridge's bounds"
        return False, f"{found}; {bounds}: use a cable, stop other programs"
    return True, found


def pattern(fast: Phase, slow: Phase) -> str:
    """Whether each command has its answer, or states flow by themselves."""
    per_command = (len(phase.replies) / max(1, len(phase.questions)) for phase in (fast, slow))
    if all(abs(share - 1.0) < ALIKE for share in per_command):
        return "one state per command"
    if slow.replies_hz and abs(fast.replies_hz / slow.replies_hz - 1.0) < ALIKE:
        return f"a stream of {slow.replies_hz:.0f} Hz, whatever is asked"
    return (
        f"neither one state per command nor a stream ({slow.replies_hz:.0f} Hz for "
        f"{slow.questions_hz:.0f} commands/s)"
    )


def header(survey: Survey, options: HardwareOptions) -> Found:
    """Whether all frames begin alike; commands are sent under the same values but the level."""
    counts = Counter(one.state.header for one in (*survey.fast.replies, *survey.slow.replies))
    usual = counts.most_common(1)[0][0]
    values = ", ".join(f"{name} {value}" for name, value in usual._asdict().items())
    if len(counts) > 1:
        return False, f"{len(counts)} different ones, most often {values}: are there two robots?"
    if usual.level_flag != LOW_LEVEL:
        return False, (
            f"constant, {values}; level_flag {LOW_LEVEL} is the low level's, under which commands "
            "are sent: settle what it means before anything moves"
        )
    return True, f"constant, {values}"


def lost_commands(survey: Survey, options: HardwareOptions) -> Found:
    """Whether the robot brakes its motors after a silence, and neither too soon nor too late.

    It is known to brake by the end of the first silence that was too long for it.
    """
    borne_s, braked_s, tried = survey.silences
    if not tried:
        return False, "not to be seen: motors are not in servo mode"
    if braked_s is None:
        return False, (
            f"silences up to {1e3 * borne_s:.0f} ms leave the motors in servo mode: where this "
            "machine dies, the robot goes on with its last command"
        )
    found = f"brakes after {1e3 * braked_s:.0f} ms without a command, not after {1e3 * borne_s:.0f}"
    if borne_s < 5e-3 * options.send_every:
        return False, f"{found}; the bridge needs {5 * options.send_every} ms"
    if not braked_s <= LATEST_BRAKE_S:
        return False, (
            f"{found}; {1e3 * LATEST_BRAKE_S:.0f} ms at most are safe: where this machine dies, "
            "the robot goes on with its last command for that long"
        )
    return True, found


# Bounds of a robot at rest, ours: generous to a cheap IMU's bias, far below what a wrong unit,
# order or sign of an axis gives.
GRAVITY_OFF: Final = 0.7  # [m/s^2]
TURNING: Final = 0.1  # [rad/s]
LENGTH_OFF: Final = 0.01  # of the quaternion
TILT_OFF: Final = math.radians(8.0)  # [rad] between the attitude's down and the accelerometer's
COLDEST: Final = -20  # [deg C]
FOOT_OFF: Final = 10.0  # [N] that an unloaded foot may show


def _column(survey: Survey, name: str, count: int) -> np.ndarray:
    """One field of all frames (n, count)."""
    return np.array([getattr(one.state, name)[:count] for one in survey.fast.replies])


def imu(survey: Survey, options: HardwareOptions) -> Found:
    """Whether gravity, rate and attitude are those of a robot at rest."""
    acceleration = _column(survey, "accelerometer", 3).mean(axis=0)
    turning = float(np.sqrt((_column(survey, "gyroscope", 3) ** 2).sum(axis=1).mean()))
    quaternion = _column(survey, "quaternion_wxyz", 4)[-1]
    norm, length = float(np.linalg.norm(acceleration)), float(np.linalg.norm(quaternion))
    up = base_rotation(quaternion[[1, 2, 3, 0]])[2]  # in the body: where the accelerometer points
    with np.errstate(all="ignore"):  # NaN where one has no direction
        cosine = up @ acceleration / np.linalg.norm(up) / norm
    off = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
    found = (
        f"|acceleration| {norm:.2f} m/s2 ({GRAVITY:.2f} at rest), |rate| {turning:.3f} rad/s, "
        f"|quaternion| {length:.4f}, the two ideas of up {np.degrees(off):.1f} deg apart"
    )
    doubt = doubt_at_rest(norm, turning)
    well = not doubt and abs(norm - GRAVITY) < GRAVITY_OFF and off < TILT_OFF
    well = well and abs(length - 1.0) < LENGTH_OFF
    remedy = doubt or "hold the robot still and try again"
    return well, found if well else f"{found}: {remedy}"


def joints(robot: Robot, survey: Survey, options: HardwareOptions) -> Found:
    """Whether all joints are where joints can be."""
    q = _column(survey, "q", JOINTS)[-1]
    speed = float(np.abs(_column(survey, "dq", JOINTS).mean(axis=0)).max())
    lower, upper = robot.legs.lower, robot.legs.upper
    outside = np.maximum(lower - q, q - upper)
    if not q.any():
        return False, "all read zero: the motors have no power, or the robot still boots"
    if not (outside <= options.safety.excursion_max).all():
        i = int(np.where(np.isnan(outside), np.inf, outside).argmax())
        return False, (
            f"{JOINT_LABELS[i]} reads {q[i]:.2f} rad (range {lower[i]:.2f} to "
            f"{upper[i]:.2f}): lay the legs as the robot boots and switch it on again"
        )
    if not speed < TURNING:
        return False, f"within their ranges, but one moves at {speed:.2f} rad/s: let it rest"
    return True, f"12 within their ranges, none moves faster than {speed:.3f} rad/s"


def temperatures(survey: Survey, options: HardwareOptions) -> Found:
    """Whether the motors are cool enough to begin."""
    state = survey.fast.replies[-1].state
    degrees = state.temperature[:JOINTS]
    hottest, warn = int(degrees.argmax()), options.safety.temperature_warn
    found = (
        f"motors {degrees.min()} to {degrees.max()} degC, {JOINT_LABELS[hottest]} the warmest; "
        f"IMU {state.imu_temperature} degC"
    )
    if not degrees.any():
        return False, f"{found}: none is measured"
    if degrees.min() < COLDEST or degrees.max() >= warn:
        return False, f"{found}: begin below {warn:.0f} degC"
    return True, found


def motors(survey: Survey, options: HardwareOptions) -> Found:
    """Whether the motors take commands."""
    mode = survey.fast.replies[-1].state.mode[:JOINTS]
    off = [i for i in range(JOINTS) if mode[i] != SERVO]
    if not off:
        return True, "12 in servo mode, without torque"
    named = ", ".join(f"{JOINT_LABELS[i]} {mode_name(int(mode[i]))}" for i in off[:3])
    more = f" and {len(off) - 3} more" if len(off) > 3 else ""
    longest = 1e3 * float(np.diff(survey.fast.questions).max(initial=0.0))
    return False, (
        f"not in servo mode: {named}{more}; braked motors lost commands (the longest pause of this "
        f"machine was {longest:.0f} ms), others have a fault: switch the robot off and on"
    )


def feet(survey: Survey, options: HardwareOptions) -> Found:
    """Whether `hardware.sensing.foot_force_offset` is what the feet show."""
    counts = _column(survey, "foot_force", 4)
    mean, noise = counts.mean(axis=0), counts.std(axis=0).max()
    whole = [round(value) for value in mean.tolist()]
    shown = ", ".join(f"{n} {count}" for n, count in zip(FOOT_NAMES, whole, strict=True))
    found = f"counts {shown}, noise {noise:.1f}"
    load = (mean - np.array(options.sensing.foot_force_offset)) * options.sensing.foot_force_scale
    if np.abs(load).max() <= FOOT_OFF:
        return True, found
    offset = "[" + ",".join(map(str, whole)) + "]"
    return False, (
        f"{found}: {np.abs(load).max():.0f} N by the configuration; with all feet in the air, "
        f"--set hardware.sensing.foot_force_offset={offset}"
    )


def remote(survey: Survey, options: HardwareOptions) -> Found:
    """Whether the remote's buttons would be seen."""
    heard = (*survey.fast.replies, *survey.slow.replies)
    spoke = [one.state.remote for one in heard if any(one.state.remote)]
    stops = " and ".join("+".join(buttons) for buttons in options.operator.remote_stop)
    if not spoke:
        return False, (
            f"all its bytes are zero: the stops {stops or '(none)'} of the remote may not work; "
            "hold a button while this runs, and stop by key or gamepad until it shows"
        )
    held = sorted(set().union(*(decode_remote(data).buttons for data in spoke)))
    return True, f"alive, head bytes {head_of(spoke[-1])}, held: {', '.join(held) or 'nothing'}"


def examine(config: LaunchConfig) -> tuple[list[Check], dict[str, Any]]:
    """Ask the robot of a launch for some seconds, without torque, then look at this machine.

    Where every essential check passes, the robot gets a pass for the day; else it loses its own.

    Returns:
        The verdicts, and what they rest on, ready for JSON.

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
    return checks, _measured(found)


def judges_of(robot: Robot) -> tuple[tuple[str, bool, Judge], ...]:
    """Name of each check, whether nothing may move while it fails, and its function."""
    return (
        ("reachability", True, reachability),
        ("cadence", True, cadence),
        ("header", True, header),
        (
            "tick unit",
            True,
            lambda found, options: judge_unit(found.exchange.ticks.unit_s, options.tick_unit_s),
        ),
        ("IMU", True, imu),
        ("joints", True, partial(joints, robot)),
        ("temperatures", True, temperatures),
        ("motor modes", True, motors),
        ("foot forces", False, feet),
        ("remote", False, remote),
        ("lost commands", True, lost_commands),
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
    """The survey as numbers of the JSON output; null where nothing was seen."""
    fast, silences = found.fast, found.silences
    return found.exchange.counts() | {
        "rate_hz": fast.replies_hz, "questions_hz": fast.questions_hz,
        "cadence": pattern(fast, found.slow) if fast.replies else None,
        "foot_force_counts": (
            _column(found, "foot_force", 4).mean(axis=0) if fast.replies else None
        ),
        "silence_borne_s": silences.borne_s if silences.were_tried else None,
        "silence_braked_s": silences.braked_s,
    }  # fmt: skip
