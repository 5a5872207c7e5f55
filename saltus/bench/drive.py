"""How soon a key shows in a plan, in real time, from `saltus drive` on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from runtime.bus import Bus, Subscriber
from runtime.messages import Command, Plan
from runtime.topics import COMMAND, PLAN
from saltus.bench.result import BenchResult
from saltus.common.criterion import Criterion
from saltus.launch.announcement import RunningLaunch, running_launches
from saltus.launch.cores import serve_commands

BOUND_MS = 60.0  # 95 % of the keys are to show sooner
PRESSES = 40
GAP_S = (0.25, 0.75)  # between presses: at random, or all would meet the planner at one point
FIRST_KEYS = b"3iiiii"  # a trot of 0.5 m/s
PATIENCE_S = 90.0  # with a start that compiles
LONGEST_S = 2.0  # for a plan that obeys


def run() -> BenchResult:
    """Launch `sim` with a client, press i and k in turn while it trots, and wait for the plans.

    A row is one key: milliseconds until its command arrived, and until the first plan that obeys
    it, or a later one, did. The ratio is the 95 % quantile over the bound.
    """
    with _folder() as folder:
        environment = os.environ | {"TMPDIR": folder}
        with _launch(environment), _terminal(environment) as keys:
            launch = _wait_for_launch(folder)
            serve_commands(launch.config)  # or the time until we look would count
            with Bus(launch.endpoints) as bus:
                commands = bus.subscriber(COMMAND, conflate=False)
                plans = bus.subscriber(PLAN, conflate=False)
                rows = _press_all(keys, commands, plans)
    to_plan = [row["plan_ms"] for row in rows]
    p50, p95 = np.percentile(to_plan, [50, 95])
    to_command = [row["command_ms"] for row in rows]
    table = [{
        "presses": len(rows), "plan_ms_p50": p50, "plan_ms_p95": p95, "plan_ms_max": max(to_plan),
        "command_ms_p95": np.percentile(to_command, 95),
    }]  # fmt: skip
    criteria = [Criterion("from key to plan, 95th percentile [ms]", p95, "<=", BOUND_MS)]
    return BenchResult(rows, p95 / BOUND_MS, table=table, criteria=criteria)


def _press_all(
    keys: int, commands: Subscriber[Command], plans: Subscriber[Plan]
) -> list[dict[str, Any]]:
    for key in FIRST_KEYS:
        os.write(keys, bytes([key]))
        time.sleep(GAP_S[0])
    time.sleep(1.0)
    chance = random.Random(1)
    rows = []
    for number in range(PRESSES):
        time.sleep(chance.uniform(*GAP_S))
        rows.append(_press(keys, b"ik"[number % 2 :][:1], commands, plans))
    return rows


def _press(
    keys: int, key: bytes, commands: Subscriber[Command], plans: Subscriber[Plan]
) -> dict[str, Any]:
    """Press one key and wait for the first plan that obeys it."""
    plans.take()
    before = commands.all()[-1].forward
    begin = time.monotonic()
    os.write(keys, key)
    command = commands.wait_for(lambda command: command.forward != before, LONGEST_S)
    command_at = time.monotonic()
    if command is None:
        raise RuntimeError(f"no command of the key {key!r} within {LONGEST_S:g} s")
    plan = plans.wait_for(lambda plan: plan.command >= command.sequence, LONGEST_S)
    if plan is None:
        raise RuntimeError(
            f"no plan obeyed command {command.sequence} within {LONGEST_S:g} s; `saltus doctor` "
            "tells whether this machine is fit for real time"
        )
    end = time.monotonic()
    return {"key": key.decode(), "command_ms": 1e3 * (command_at - begin),
            "plan_ms": 1e3 * (end - begin), "solve_ms": 1e3 * plan.solve_s}  # fmt: skip


def _wait_for_launch(folder: str) -> RunningLaunch:
    """The launch in `folder`, once its robot moves and somebody drives it."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for launch in running_launches(Path(folder)):
            if launch.is_moving:
                return launch
        time.sleep(0.05)
    raise RuntimeError(f"the launch has not begun within {PATIENCE_S:g} s")


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """A folder for temporary files, so that no other launch is driven; short, for its sockets."""
    with tempfile.TemporaryDirectory(prefix="sb-") as folder:
        yield folder


@contextlib.contextmanager
def _launch(environment: dict[str, str]) -> Iterator[None]:
    """A launch that clients drive, until the end."""
    command = [sys.executable, "-m", "saltus.cli.main", "launch", "sim", "--drive", "client"]
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def _terminal(environment: dict[str, str]) -> Iterator[int]:
    """`saltus drive` in a terminal; the end at which keys are pressed."""
    _wait_for_file(environment["TMPDIR"])
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "saltus.cli.main", "drive"],
        env=environment, stdin=inner, stdout=inner,
        stderr=inner,
    )  # fmt: skip
    os.close(inner)
    threading.Thread(target=_swallow, args=(outer,), daemon=True).start()
    try:
        yield outer
    finally:
        process.terminate()
        process.wait()
        os.close(outer)


def _swallow(terminal: int) -> None:
    """Read what is shown, so that the terminal never is full."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass


def _wait_for_file(folder: str) -> None:
    """Wait until the launch in `folder` can be found."""
    end = time.monotonic() + PATIENCE_S
    while not running_launches(Path(folder)):
        if time.monotonic() > end:
            raise RuntimeError(f"no launch within {PATIENCE_S:g} s")
        time.sleep(0.05)
