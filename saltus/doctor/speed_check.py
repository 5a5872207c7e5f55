"""Whether this machine is fast enough for plans and ticks in real time."""

from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from saltus.common.timing import MS, Times
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from saltus.launch.warmup import ensure_compiled

# docs/realtime.md: all pushes of table-6.1 are survived with solves of 25 ms, estimates 2 ms old
# and commands 10 ms late.
SOLVE_BOUND_MS = 25.0  # of the median solve
TICK_BOUND_MS = 0.8  # of tracker and estimator in each millisecond: a core must have some room
LEAST_CORES = 2  # one for the planner, one for the processes of 1 kHz
WALK_S = 1.0  # from a stand to a walk
SOLVES = 40  # the last ones of that walk


class Speed(NamedTuple):
    """Measured times of this machine."""

    solve_ms: float  # median duration of a solve
    solve_p99_ms: float
    tracker_ms: float  # median duration of a command
    estimator_ms: float  # median duration of an update

    @property
    def tick_ms(self) -> float:
        """Time of tracker and estimator in each millisecond."""
        return self.tracker_ms + self.estimator_ms


def measure(duration: float = WALK_S) -> Speed:
    """Measure on a walk in lock step, on which HiLQR searches as in real time, on one thread.

    Args:
        duration: of the walk [s].
    """
    config = load_launch("sim", duration=duration)
    search = config.hilqr.realtime.without_limit()
    as_run = replace(config.hilqr, paused=search)
    config = replace(config, hilqr=as_run)
    ensure_compiled(config)
    run, times = LockStep(config), Times()
    times.watch(run.tracker, "command")
    times.watch(run.estimator, "update")
    run.run()
    p50, p99 = np.percentile(run.solve_ms[-SOLVES:], [50.0, 99.0]).tolist()
    return Speed(p50, p99, times.median("command", MS), times.median("update", MS))


def verdict(speed: Speed, cores: int) -> tuple[bool, str]:
    """Whether that is fast enough, and in words what was measured and what helps."""
    plan = f"a plan takes {speed.solve_ms:.1f} ms (p99 {speed.solve_p99_ms:.0f})"
    text = f"{plan}, a tick {speed.tick_ms:.2f} ms of each 1 ms"
    faults = [fault for is_slow, fault in (
        (speed.solve_ms > SOLVE_BOUND_MS,
         f"a plan is too slow, {SOLVE_BOUND_MS:g} ms is the most: take a faster core, "
         "`rollout: remote` (docs/remote.md) or a lower hilqr.knots"),
        (speed.tick_ms >= TICK_BOUND_MS,
         f"a tick is too slow, less than {TICK_BOUND_MS:g} ms are needed: take a faster core or "
         "another estimator (`saltus bench estimators` has their times)"),
        (cores < LEAST_CORES,
         f"{cores} core is too few: the planner needs one of its own beside those of 1 kHz; "
         f"take a machine with {LEAST_CORES} or more"),
    ) if is_slow]  # fmt: skip
    if faults:
        return False, "; ".join([text, *faults])
    return True, f"{text} (up to {SOLVE_BOUND_MS:g} and {TICK_BOUND_MS:g} ms are fast enough)"
