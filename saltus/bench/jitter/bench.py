"""``saltus bench jitter``: the tracker at 1 kHz beside loops in C with the same system calls.

All wait with the same timer for absolute times, on one core, at the same priority, in short blocks
by turns: what disturbs the computer hits all of them. One loop in C does nothing else in a tick;
the other computes for as long as the tracker's tick takes, so that as much can disturb it.
"""

from __future__ import annotations

import gc
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.bus import Bus, Endpoints
from runtime.clock import RealTimeClock
from runtime.realtime import avoid_huge_pages, request_realtime, set_cpu_affinity
from saltus.bench.contest import US, quantiles
from saltus.bench.jitter.c_loop import compile_loop, find_compiler, run_loop, steps_for
from saltus.bench.result import BenchResult
from saltus.bench.tick import RECORDED_S, WARM_UP, PlayedTracker, Walk, recorded_walk
from saltus.common.console import say
from saltus.common.criterion import Criterion
from saltus.configuration.connections import CONNECTIONS
from saltus.configuration.launch import TICK_S, load_launch
from saltus.launch.cores import URGENCY, cores_of
from saltus.launch.lock_step import LockStep

MOST_RATIO = 2.0  # of the 99.9 % quantiles
BLOCKS, BLOCK_TICKS, SETTLE = 10, 3000, 200  # of each; the first ticks of a block are left out
TRACKER, C_LOOP, C_AS_LONG = "tracker", "C", "C, as long a tick"
WAKE_UP, TICK = "wake-up", "tick"

Array = NDArray[np.float64]
Loop = Callable[[int], "Block"]  # serves so many ticks
Block = tuple[Array, Array]  # lateness of wake-ups, NaN without a sleep; length of ticks [s]


class NotedClock(RealTimeClock):
    """Real time that notes how late each wake-up was.

    Attributes:
        late: of the ticks so far [s]; NaN where the tick was due before the loop could sleep.
    """

    def __init__(self, period_s: float) -> None:
        """Nothing is noted yet."""
        super().__init__(period_s)
        self.late: list[float] = []

    def begin_anew(self) -> None:
        """Count ticks from now on: nobody shall make up for a pause."""
        self._tick, self.late = -1, []

    def _sleep_until(self, due: float) -> float:
        sleeps = monotonic() < due
        now = super()._sleep_until(due)
        self.late.append(now - due if sleeps else np.nan)
        return now


def run(blocks: int = BLOCKS, ticks: int = BLOCK_TICKS) -> BenchResult:
    """Measure; the ratio is the tracker's 99.9 % quantile of the wake-up to that of C."""
    say("recording a walk (compiles on the first run)")
    config = load_launch("a1-emulated")
    walk = recorded_walk(LockStep(load_launch("push", duration=RECORDED_S)))
    core = max(cores_of("tracker", os.sched_getaffinity(0), CONNECTIONS["real"]))
    set_cpu_affinity({core})
    avoid_huge_pages()
    priority = config.realtime.priority
    granted = request_realtime(None if priority is None else priority + URGENCY["tracker"])
    with tempfile.TemporaryDirectory() as folder, Bus(Endpoints.ipc(Path(folder))) as bus:
        tracker = _Tracker(bus, walk)
        loops: dict[str, Loop] = {TRACKER: tracker.serve}
        if compiler := find_compiler():
            program = compile_loop(compiler, Path(folder))
            steps = steps_for(program, TICK_S, granted.locked, tracker.warm_up())
            loops[C_LOOP] = lambda n: run_loop(program, n, TICK_S, granted.locked)
            loops[C_AS_LONG] = lambda n: run_loop(program, n, TICK_S, granted.locked, steps)
        measured = _measure(loops, blocks, ticks)
        tracker.close()
    rows = [row for name, found in measured.items() for row in _rows(name, found)]
    note = (
        f"{blocks} blocks of {ticks} ticks of each, by turns, on core {core}; scheduler "
        f"{granted.scheduler}, memory {'locked' if granted.locked else 'not locked'}"
    )
    if not compiler:
        return BenchResult(rows, None, f"{note}; no C compiler (cc, gcc, clang or $CC), so no peer")
    ratios = _ratios(rows)
    criteria = [
        Criterion(f"{what}, 99.9 % quantile over that of {loop}", ratio, "<=", MOST_RATIO)
        for loop, by_what in ratios.items() for what, ratio in by_what.items()
    ]  # fmt: skip
    return BenchResult(
        rows, ratios[C_LOOP][WAKE_UP], note, extra={"ratios": ratios}, criteria=criteria
    )


class _Tracker:
    """A tracker whose robot walks."""

    def __init__(self, bus: Bus, walk: Walk) -> None:
        self._clock = NotedClock(TICK_S)
        self._played = PlayedTracker(bus, walk.recorded, walk.plans, self._clock)
        self._begin, self._number = monotonic(), 0

    def serve(self, ticks: int) -> Block:
        """Serve a block of ticks."""
        took, clock, tick = np.empty(ticks), self._clock, -1
        self._wait_for_the_walk()
        self._played.resume(self._number)
        self._number += 1
        clock.begin_anew()
        for i in range(ticks):
            self._played.prepare(self._number + tick + 1)
            tick = clock.wait_tick()
            begin = monotonic()
            self._played.loop.tick(self._number + tick)
            took[i] = monotonic() - begin
        self._number += tick + 1
        return np.array(clock.late), took

    def _wait_for_the_walk(self) -> None:
        """Sleep until the robot is where it was: its clock has gone on, and no joint may leap."""
        period = self._played.period
        paused = (monotonic() - self._begin) / TICK_S - self._number
        self._number += period * max(0, math.ceil(paused / period))
        sleep(max(0.0, self._begin + self._number * TICK_S - monotonic()))

    def warm_up(self) -> float:
        """How long a tick takes in the median [s]."""
        self.serve(WARM_UP)
        return float(np.median(self.serve(WARM_UP)[1]))

    def close(self) -> None:
        """Let go of the sockets."""
        self._played.close()


def _measure(loops: dict[str, Loop], blocks: int, ticks: int) -> dict[str, list[Block]]:
    """Blocks of each, by turns, in reverse order in every other round."""
    measured: dict[str, list[Block]] = {name: [] for name in loops}
    for number in range(blocks):
        say(f"block {number + 1} of {blocks}")
        gc.collect()
        for name in list(loops)[:: -1 if number % 2 else 1]:
            late, took = loops[name](SETTLE + ticks)
            measured[name].append((late[SETTLE:], took[SETTLE:]))
    return measured


def _rows(name: str, blocks: list[Block]) -> list[dict[str, Any]]:
    """Quantiles of a loop's wake-ups and ticks, and how those of single blocks spread."""
    late, took = ([block[i] for block in blocks] for i in range(2))
    slept = [each[~np.isnan(each)] for each in late]
    return [_row(name, WAKE_UP, slept), _row(name, TICK, took)]


def _row(name: str, what: str, blocks: list[Array]) -> dict[str, Any]:
    by_block = [US * float(np.percentile(block, 99.9)) for block in blocks if len(block)]
    return {
        "loop": name, "what": what,
        **quantiles(np.concatenate(blocks), US, us_p50=50.0, us_p99=99.0, us_p999=99.9,
                    us_max=100.0),
        "block_p999_least": min(by_block), "block_p999_median": float(np.median(by_block)),
        "block_p999_most": max(by_block), "n": sum(map(len, blocks)),
    }  # fmt: skip


def _ratios(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The tracker's 99.9 % quantiles over those of each loop in C."""
    p999 = {(row["loop"], row["what"]): row["us_p999"] for row in rows}
    return {
        loop: {what: p999[TRACKER, what] / p999[loop, what] for what in (WAKE_UP, TICK)}
        for loop in (C_LOOP, C_AS_LONG)
    }
