"""What a page that is open costs a launch in real time, and whether its memory stays flat."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from saltus.bench.contest import Contest, Contestant
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.launch.announcement import running_launches

PAIRS = 3
RUN_S = 120.0  # a browser on the same two cores takes half of it to open the page
MINUTES = 30
SLOW = 0.1  # simulated seconds a second
PATIENCE_S = 300.0  # with a start that compiles
WINDOW = "480,320"
SALTUS = (sys.executable, "-m", "saltus.cli.main")


def run() -> BenchResult:
    """Launch `sim` in real time without a page and with one in Chromium, in turns.

    A row is one run: plans a second, ticks that the tracker missed, and, with a page, its frames a
    second and the share of a core that the view took. The ratio is plans a second with a page over
    those without.
    """
    chromium = _chromium()
    rows: list[dict[str, Any]] = []

    def observe(contestant: Contestant, pair: int, row: dict[str, Any]) -> None:
        rows.append({"pair": pair, "page": contestant.name == "open", **row})
        say(", ".join(f"{name} {value}" for name, value in rows[-1].items()))

    Contest([
        Contestant("none", lambda k: _walk(None)), Contestant("open", lambda k: _walk(chromium)),
    ]).measure(PAIRS, observe)  # fmt: skip
    with_page, without = ([row for row in rows if row["page"] is page] for page in (True, False))
    ratio = _mean(with_page, "plans_per_s") / _mean(without, "plans_per_s")
    table = [
        {"page": name, "plans_per_s": _mean(half, "plans_per_s"), "missed": _mean(half, "missed"),
         "frames_per_s": _mean(half, "frames_per_s"), "core": _mean(half, "core")}
        for name, half in (("none", without), ("open", with_page))
    ]  # fmt: skip
    return BenchResult(rows, ratio, f"means over {PAIRS} runs of {RUN_S:g} s each", table=table)


def _walk(chromium: str | None) -> dict[str, Any]:
    """What one launch shows, with a page open in a browser or without."""
    row: dict[str, Any] = {}
    with _Launch(RUN_S, chromium) as launch:
        if chromium:
            launch.wait_for_view()
            row["core"] = _share_of_core(launch.view, 0.7 * RUN_S)
        result = launch.result()
    if chromium:
        row["frames_per_s"] = launch.frames_per_s()
    row["plans_per_s"] = result["planner"]["rate_hz"]
    return row | {"missed": result["tracker"]["missed"], "fell": result["fell"]}


def run_memory() -> BenchResult:
    """Leave a page open for half an hour and print the memory of the view each minute.

    In lock step and slow motion, so that two cores can draw the page too, thirty frames a second.
    The ratio is the memory of the last five minutes over that of the first five.
    """
    rows: list[dict[str, Any]] = []
    slow = ["--mode", "paused", "--set", f"view.speed={SLOW:g}"]
    with _Launch(SLOW * (60.0 * MINUTES + 30.0), _chromium(), slow) as launch:
        launch.wait_for_view()
        begin = time.monotonic()
        for minute in range(1, MINUTES + 1):
            time.sleep(max(0.0, begin + 60.0 * minute - time.monotonic()))
            rows.append({"minute": minute, "view_mb": _resident_mb(launch.view)})
            say(f"minute {minute}: {rows[-1]['view_mb']:.1f} MB")
        launch.result()
    first, last = (np.mean([r["view_mb"] for r in part]) for part in (rows[:5], rows[-5:]))
    note = (f"{first:.1f} MB in the first five minutes, {last:.1f} MB in the last; "
            f"{launch.frames_per_s():.1f} frames a second")  # fmt: skip
    return BenchResult(rows, float(last / first), note)


class _Launch:
    """A simulated robot that walks; with a browser, a page of it is open.

    Attributes:
        view: process of the view; 0 before there is one.
    """

    def __init__(
        self, seconds: float, chromium: str | None, options: Sequence[str] = ("--mode", "realtime")
    ) -> None:
        self.view, self._options = 0, options
        self._seconds, self._chromium = seconds, chromium
        self._lines: list[str] = []
        self._browser: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _Launch:
        viewed = ["--view", "--set", "view.port=0"] if self._chromium else []
        self._process = subprocess.Popen(
            [*SALTUS, "launch", "sim", *self._options, "--duration", str(self._seconds), "--json",
             *viewed],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._browser is not None:
            os.killpg(self._browser.pid, signal.SIGKILL)
            self._browser.wait()
        self._process.terminate()
        self._process.wait()
        self._profile.cleanup()

    def wait_for_view(self) -> None:
        """Open the page as soon as there is one, and wait until the robot moves."""
        assert self._chromium
        url = self._line("view: http").removeprefix("view: ")
        self._browser = subprocess.Popen(
            [self._chromium, "--headless=new", "--no-sandbox", "--use-angle=swiftshader",
             f"--user-data-dir={self._profile.name}", "--enable-unsafe-swiftshader",
             "--ignore-gpu-blocklist", f"--window-size={WINDOW}", "--remote-debugging-port=0", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        pid = self._process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if b"view" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
                self.view = int(child)
        self._wait(lambda: any(each.pid == pid and each.is_moving for each in running_launches()))

    def result(self) -> dict[str, Any]:
        """What the launch prints at its end."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readlines()[-1])

    def frames_per_s(self) -> float:
        """Of the page, after the end."""
        pattern = re.compile(r"(\d+) frames in ([\d.]+) s")
        self._reader.join()
        match = next(filter(None, map(pattern.search, self._lines)), None)
        return float(match[1]) / float(match[2]) if match else 0.0

    def _read(self) -> None:
        assert self._process.stderr is not None
        self._lines.extend(line.strip() for line in self._process.stderr)

    def _line(self, begin: str) -> str:
        """The first line on standard error that begins so."""
        self._wait(lambda: any(line.startswith(begin) for line in self._lines))
        return next(line for line in self._lines if line.startswith(begin))

    def _wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("the launch or its view has not begun")
            time.sleep(0.05)


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    """Over the runs; 0 for what they do not have."""
    return float(np.mean([row.get(name, 0.0) for row in rows]))


def _chromium() -> str:
    """The browser.

    Raises:
        BadRequest: there is none.
    """
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if program := shutil.which(name):
            return program
    raise BadRequest("this bench opens a page in Chromium; install it: sudo apt install chromium")


def _share_of_core(process: int, seconds: float) -> float:
    """Processor time of a process over the next seconds, as a share of one core."""
    before = _processor_s(process)
    time.sleep(seconds)
    return (_processor_s(process) - before) / seconds


def _processor_s(process: int) -> float:
    """Processor time of a process so far [s]."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mb(process: int) -> float:
    """Memory of a process [MB]."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return 1e-6 * pages * os.sysconf("SC_PAGE_SIZE")
