"""How an A1 talks: what `saltus doctor a1` says of its frames. Each check is (passed, its line)."""

from collections import Counter
from typing import Final

import numpy as np

from hw_bridge.options import HardwareOptions
from hw_bridge.wire.layout import LOW_LEVEL
from saltus.a1.exchange import in_words, no_answer
from saltus.a1.survey import Phase, Survey, round_trips
from saltus.a1.ticks import judge_unit

LEAST_HZ: Final = 300.0  # users of the A1 need it (yxyang/locomotion_simulation thread 1)
LATEST_BRAKE_S: Final = 0.05  # [s] for which a robot may go on without commands
ALIKE: Final = 0.2  # by which rates may differ and count as the same

Found = tuple[bool, str]


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
    if not counts:
        return False, "no frame"
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


def tick_unit(survey: Survey, options: HardwareOptions) -> Found:
    """Whether `hardware.tick_unit_s` is the robot's."""
    return judge_unit(survey.exchange.ticks.unit_s, options.tick_unit_s)


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
