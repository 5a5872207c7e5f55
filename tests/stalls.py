"""Stalls of the host beside tests in real time, and a program that makes such a host.

The host of a virtual machine takes a core away now and then, for 100 ms say. No process of the
stack can answer for that. So a test marked ``quiet`` or ``realtime`` that fails beside a stall is
repeated, for a minute at most, and skipped where every attempt fails so. Without a stall it fails
at once. A host whose memory is slow for a while counts too: code that has not run for 100 ms then
takes up to 200 times as long as when it has (a log line 5 ms for 0.025 ms).

``python -m tests.stalls --seconds S`` takes each core away for 100 ms every 9 s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from runtime.realtime import HIGHEST, request_realtime, set_cpu_affinity
from saltus.common.processes import stolen_s
from saltus.common.stalls import StallWatch

MARKERS = ("quiet", "realtime")
ATTEMPTS = 5
PATIENCE_S = 60.0  # after which no attempt begins: some hosts are never calm
LEAST_MS = 5.0  # of a stall that counts: two of them are the silence after which the watchdog damps
SETTLE_S = 0.5  # after a failure: the stall of another core may not have ended; and to start
COLD_MS = 0.12  # from which `cold_ms` is slow; 0.2 to 0.5 on a host where log lines took 5
NAMED = 3  # stalls of an attempt that are named, the longest ones
PROPERTY = "stalls of the host"  # of a report
HOLD_S, EVERY_S = 0.1, 9.0  # for how long the program takes a core, and how often


class HostWatch:
    """Measures stalls by a loop on each core, or by the steal counter where loops are refused.

    `stalls` names the longest ones since `begin`, in words.
    """

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._watch = StallWatch(Path(self._folder.name) / "stalls.csv", 0.0)
        wait_for_loops(self._watch)
        self.begin()

    def begin(self):
        self._begun_s, self._stolen_s = time.monotonic(), stolen_s()

    def stalls(self):
        slow_ms = cold_ms()
        slow = [f"memory: {slow_ms:.2f} ms for cold code"] if slow_ms > COLD_MS else []
        return self._stalls() + slow

    def _stalls(self):
        noted = self._watch.stalls()
        if noted is None:
            stolen_ms = 1e3 * (stolen_s() - self._stolen_s)
            return [f"cores for {stolen_ms:.0f} ms altogether"] if stolen_ms >= LEAST_MS else []
        found = [s for s in noted if s.elapsed_s >= self._begun_s and s.late_ms >= LEAST_MS]
        found.sort(key=lambda stall: -stall.late_ms)
        words = [f"core {stall.core} for {stall.late_ms:.0f} ms" for stall in found[:NAMED]]
        return words + ([f"{len(found) - NAMED} times more"] if len(found) > NAMED else [])

    def close(self):
        self._watch.close()
        self._folder.cleanup()


def cold_ms():
    """Processor time of a little work after a sleep [ms], on average; SETTLE_S in all."""
    spent, times = 0.0, 8
    for _ in range(times):
        time.sleep(SETTLE_S / times)
        begin = time.thread_time()
        sum(range(100))
        spent += time.thread_time() - begin
    return 1e3 * spent / times


WATCH = pytest.StashKey()  # made anew for each test; else a HostWatch


def wait_for_loops(watch):
    """Wait until each loop has its priority, or has ended without it."""
    for loop in watch._loops:
        while loop.poll() is None and os.sched_getscheduler(loop.pid) != os.SCHED_FIFO:
            time.sleep(0.01)


def pytest_runtest_protocol(item):
    """Run a test in real time; again where it fails beside a stall."""
    if not any(item.get_closest_marker(name) for name in MARKERS):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    with closing(item.config.stash.get(WATCH, HostWatch)()) as watch:
        reports = _attempt(item, watch)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _attempt(item, watch):
    """Reports of the last attempt, which say what came before."""
    stalled = []
    last_begin = time.monotonic() + PATIENCE_S
    while True:
        watch.begin()
        reports = runtestprotocol(item, log=False, nextitem=None)  # all fixtures end with it
        failed = [report for report in reports if report.failed]
        stalls = watch.stalls() if failed else []
        stalled += [", ".join(stalls)] if stalls else []
        if not stalls or len(stalled) == ATTEMPTS or time.monotonic() > last_begin:
            break
    words = f"the host stopped {'; '.join(stalled)}"
    if stalls:
        words = f"skipped: {words}: in each of {len(stalled)} attempts"
        for report in failed:
            error = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
            words += f"; {error[0].removeprefix('E').strip()}" if error else ""
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.location[1] or 0, words)
    elif stalled:
        end = "failed without a stall" if failed else "passed"
        words = f"{end} in attempt {len(stalled) + 1}; before, {words}"
    if stalled:
        reports[0].user_properties.append((PROPERTY, words))
    return reports


def pytest_terminal_summary(terminalreporter):
    """Name the tests that were repeated, and the stalls."""
    lines = [
        f"{report.nodeid}: {words}"
        for reports in terminalreporter.stats.values() for report in reports
        for name, words in getattr(report, "user_properties", ()) if name == PROPERTY
    ]  # fmt: skip
    if lines:
        terminalreporter.section(PROPERTY)
        for line in lines:
            terminalreporter.line(line)


def hold_core(core, begin, end, every_s, parent):
    """Take a core away again and again, from one time to another, while the parent lives."""
    refusal = set_cpu_affinity([core])
    status = request_realtime(HIGHEST)
    if refusal or status.scheduler != "fifo":
        sys.exit(f"core {core} is not taken: {refusal or status.reason}")
    while begin < end:
        time.sleep(max(0.0, begin - time.monotonic()))
        if os.getppid() != parent:
            return
        while time.monotonic() < begin + HOLD_S:
            pass
        begin += every_s


def main():
    """Be such a host for a while."""
    parser = argparse.ArgumentParser(description="Take each core away for 100 ms again and again.")
    parser.add_argument("--seconds", type=float, required=True, help="for how long")
    parser.add_argument("--every", type=float, default=EVERY_S, help="from one time to the next")
    chosen, cores = parser.parse_args(), sorted(os.sched_getaffinity(0))
    begin = time.monotonic() + SETTLE_S  # in which processes start
    fork = multiprocessing.get_context("fork")
    holders = [
        fork.Process(
            target=hold_core, daemon=True,
            args=(core, begin + chosen.every * k / len(cores), begin + chosen.seconds,
                  chosen.every, os.getpid()),
        )
        for k, core in enumerate(cores)
    ]  # fmt: skip
    for holder in holders:
        holder.start()
    for holder in holders:
        holder.join()
    sys.exit(any(holder.exitcode for holder in holders))


if __name__ == "__main__":
    main()
