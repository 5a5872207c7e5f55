"""``saltus bench watchdog``: from a harm to the tracker, to damping on the wire.

Real processes over UDP on this computer, without a robot's physics: a tracker that asks for motion
at 1 kHz, the watchdog, and a robot that stamps what arrives.
"""

import signal
from dataclasses import asdict, dataclass

import numpy as np

from saltus.bench.result import BenchResult
from saltus.bench.watchdog.trial import Harm, Outcome, run_trial
from saltus.common.console import say
from saltus.common.criterion import Criterion

TRIALS = 10
HANG_MS, STOP_MS = 15.0, 3.0  # bounds: after a hang, and after a stop while the tracker hangs
HARMS = (
    Harm("stopped for 20 ms", resume_s=0.02),
    Harm("stopped for 60 ms", resume_s=0.06),
    Harm("stopped for 200 ms", resume_s=0.2),
    Harm("stopped for ever"),
    Harm("a thread keeps Python's lock", signal.SIGUSR1),
    Harm("killed", signal.SIGKILL),
    Harm("killed, and a log that takes nothing", signal.SIGKILL, has_log=False),
    Harm("stopped, then the stop key", press="key"),
    Harm("stopped, then the gamepad's stop", press="gamepad"),
    Harm("stopped, then the remote's stop", press="remote"),
    Harm("the stop key alone", 0, press="key"),
)


@dataclass(frozen=True)
class Row:
    """Trials of one harm: time to the first damping frame, frames after it."""

    harm: str
    trials: int
    damped_ms_p50: float
    damped_ms_max: float
    motion_after: int
    damping_least: int
    watchdog_left: int


def run() -> BenchResult:
    """Every harm `TRIALS` times, one after the other."""
    found: dict[Harm, list[Outcome]] = {harm: [] for harm in HARMS}
    for trial in range(TRIALS):
        say(f"round {trial + 1} of {TRIALS}")
        for harm in HARMS:
            found[harm].append(run_trial(harm))
    rows = [_row(harm, outcomes) for harm, outcomes in found.items()]
    criteria = [_criterion(harm, row) for harm, row in zip(HARMS, rows, strict=True)]
    left = sum(row.watchdog_left + row.motion_after for row in rows)
    criteria.append(
        Criterion("commands of motion after damping, watchdogs left", left, "<=", 0)
    )
    return BenchResult([asdict(row) for row in rows], None, criteria=criteria)


def _row(harm: Harm, outcomes: list[Outcome]) -> Row:
    damped_ms = 1e3 * np.array([outcome.damped_s for outcome in outcomes])
    return Row(
        harm.name, len(outcomes), float(np.median(damped_ms)), float(damped_ms.max()),
        sum(outcome.motion_after for outcome in outcomes),
        min(outcome.damping for outcome in outcomes),
        sum(not outcome.ended for outcome in outcomes),
    )  # fmt: skip


def _criterion(harm: Harm, row: Row) -> Criterion:
    bound = STOP_MS if harm.press else HANG_MS
    return Criterion(f"{harm.name}: longest time to damping [ms]", row.damped_ms_max, "<=", bound)
