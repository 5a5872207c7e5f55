"""A launch of the emulated A1 that comes to harm, in a process of its own, and how it ended.

``python -m studies.a1.harmed FILE FOLDER STATE [PROCESS=MODULE]`` is that process. It prints two
lines of JSON: the ids of its processes by name once the robot is in STATE, and how it ended.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hw_bridge.operator.keyboard import QUERY, REPLY
from runtime.recording import read_frames
from saltus.common.errors import BadRequest
from saltus.common.processes import stolen_s
from saltus.configuration.launch import LaunchConfig, load_launch, make_config, write_config
from saltus.configuration.options import merged, read_mapping
from saltus.export.black_box import segments_of
from saltus.launch.launcher import launch
from saltus.launch.listener import Listener
from saltus.launch.supervisor import Supervisor, free_port
from saltus.soak.harm import Harm, do
from studies.a1 import chaos_leap as leap
from studies.study import Criterion, Row, StudyOptions, StudyResult

MARK = "SALTUS_HARM"  # environment variable of all processes of a trial
USER_S = 15.0  # after which the user of a launch that is stopped for ever kills it
END_S = 60.0  # in which a launch ends after the harm
LAST_S = 15.0  # in which its processes end after it
POLL_S, LIFE_PERIOD_S = 0.05, 0.05
USER = "the launcher stood still, and its user killed it"
STOP_KEY = b" "
GAMEPAD_STOP = struct.pack("<IhBB", 0, 1, 1, 1)  # linux/joystick.h: time, value, button, number
GAMEPAD_MOVES = struct.pack("<IhBB", 0, 1, 2, 0)  # axis 0


class Trial(NamedTuple):
    """One launch.

    Attributes:
        name: for people.
        harms: in this order; those of the operator are ``press key``, ``press gamepad``, ``silence
            gamepad`` and ``silence terminal``.
        keys: over those of the launch file, nested as there.
        state: of the robot, in which the harms are done.
        at: when, since that state began [s].
        modules: of processes that run in place of their own, as ``PROCESS=MODULE``.
        environment: variables of all processes.
    """

    name: str
    harms: Sequence[Harm]
    keys: Mapping[str, Any]
    state: str = "running"
    at: float = 0.0
    modules: Sequence[str] = ()
    environment: Mapping[str, str] = {}

    def uses(self, device: str) -> bool:
        """Whether a harm is done by or to a device of the operator."""
        return any(device in harm.victims for harm in self.harms)


class End(NamedTuple):
    """End of a trial.

    Attributes:
        config: of the launch.
        robot: its summary.
        emulator: report of the emulator.
        why: cause in one line.
        done_at: time of the harm, monotonic [s]; None where none was done.
        left: processes that still ran after all.
        recorded: messages in the recording; -1 where it does not read.
        kept: frames in the black box; -1 where it does not read.
        seconds: that the launch took to end, after the harm.
        stolen_ms: see `stolen_s`.
        wrong: what must not be, in words; empty where all is as it must be.
    """

    config: LaunchConfig
    robot: Row
    emulator: Row
    why: str
    done_at: float | None
    left: list[str]
    recorded: int
    kept: int
    seconds: float
    stolen_ms: float
    wrong: list[str]


class _Operator:
    """Keyboard and gamepad. They show life until they fall silent: a stick moves, a terminal
    answers. A thread of its own does that, as a busy machine lets the trial wait."""

    def __init__(self, folder: Path, of_terminal: bool) -> None:
        """The keyboard is a terminal or a pipe; the gamepad is a named pipe in the folder."""
        self._keys, self.keyboard = pty.openpty() if of_terminal else reversed(os.pipe())
        os.set_blocking(self._keys, False)
        self.gamepad = folder / "gamepad"
        os.mkfifo(self.gamepad)
        self._pad = os.open(self.gamepad, os.O_RDWR | os.O_NONBLOCK)
        self._of_terminal, self._silent = of_terminal, threading.Event()
        self._life = threading.Thread(target=self._show_life, daemon=True)
        self._life.start()

    def do(self, harm: Harm) -> None:
        """Press the stop, or fall silent."""
        if harm.kind == "silence":
            self._silent.set()
        elif harm.victims == ("key",):
            os.write(self._keys, STOP_KEY)
        else:
            os.write(self._pad, GAMEPAD_STOP)

    def _show_life(self) -> None:
        while not self._silent.wait(LIFE_PERIOD_S):
            with suppress(BlockingIOError):
                os.write(self._pad, GAMEPAD_MOVES)
            with suppress(BlockingIOError):
                if self._of_terminal:
                    os.write(self._keys, os.read(self._keys, 4096).count(QUERY) * REPLY)

    def close(self) -> None:
        """Close the devices."""
        self._silent.set()
        self._life.join()
        for descriptor in (self._keys, self.keyboard, self._pad):
            os.close(descriptor)


def run_trial(trial: Trial, folder: Path, settings: Sequence[str] = ()) -> End:
    """Run one trial of a launch with `settings`, with all its files in `folder`, made here."""
    (folder / "temporary").mkdir(parents=True)
    operator = _Operator(folder, trial.uses("terminal"))
    try:
        return _run(trial, folder, operator, settings)
    finally:
        operator.close()


def _run(trial: Trial, folder: Path, operator: _Operator, settings: Sequence[str]) -> End:
    """Launch, wait for the robot's state, do the harm, and wait for the end of all."""
    ports, mark = {"emulator": free_port(), "tracker": free_port()}, str(folder)
    config = _config(trial, ports, operator.gamepad, settings)
    write_config(config, folder / "launch.yaml")
    shutil.copy(leap.__file__, folder / "sitecustomize.py")
    for_ever = Harm("stop", ("launcher",)) in trial.harms  # then it cannot end by itself
    stolen, done_at = stolen_s(), None
    with _launched(trial, folder, mark, operator.keyboard) as process:
        last = _next_line(process)
        pids = last.get("pids", {})
        if pids and trial.harms:
            time.sleep(trial.at)
            alive = processes_with(mark)  # a process may have ended, and its number be another's
            pids = {name: pid for name, pid in pids.items() if pid in alive}
            done_at = time.monotonic()
            for harm in trial.harms:
                if harm.kind in ("press", "silence"):
                    operator.do(harm)
                else:
                    do(harm, pids, ports)
        begun = done_at or time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.wait(USER_S if for_ever else END_S)
        hung = process.returncode is None
        process.kill()
        last = _next_line(process) or last
        seconds = time.monotonic() - begun
        end = time.monotonic() + LAST_S
        while (left := processes_with(mark)) and time.monotonic() < end:
            time.sleep(POLL_S)
    run = folder / "run"
    log, emulator, kept = run / "logs" / "tracker.log", {"posture": "unknown", "passive": False}, -1
    text = log.read_text(errors="replace") if log.exists() else ""
    why = last.get("why") or "".join(re.findall(r" robot: \w+ -> off: (.+)", text)[-1:])
    why = why or (USER if for_ever and hung else "")
    with suppress(OSError, ValueError):
        emulator = msgspec.json.decode((run / "reports" / "emulator.json").read_bytes())
    with suppress(BadRequest):
        kept = sum(sum(segment.counts.values()) for segment in segments_of(run))
    recorded = _count(run / "run.mcap")
    wrong = {
        "the robot never came to that state": bool(trial.harms) and done_at is None,
        "the launch hung": hung and not for_ever,
        "nobody says why": not (last.get("ok") or why),
        f"still running: {', '.join(left.values())}": left,
        "no recording": recorded <= 0,
        "no black box": kept <= 0,
    }
    return End(
        config, last.get("robot", {}), emulator, why, done_at, list(left.values()), recorded, kept,
        seconds, 1e3 * (stolen_s() - stolen), [words for words, is_so in wrong.items() if is_so]
    )  # fmt: skip


def _config(
    trial: Trial, ports: Mapping[str, int], gamepad: Path, settings: Sequence[str]
) -> LaunchConfig:
    plain = msgspec.to_builtins(load_launch("a1-emulated", settings))
    emulator = {"port": ports["emulator"], "domain": 1 + ports["emulator"] % 230}
    device = str(gamepad) if trial.uses("gamepad") else None
    plain = merged(plain, {
        "perturbations": [], "emulator": emulator | {"events": []},
        "hardware": {
            "link": {"local_port": ports["tracker"]}, "operator": {"gamepad": device}
        }
    })  # fmt: skip
    return make_config(merged(plain, dict(trial.keys)), trial.name)


@contextmanager
def _launched(
    trial: Trial, folder: Path, mark: str, keyboard: int
) -> Iterator[subprocess.Popen[bytes]]:
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {
        leap.SECONDS: "0", MARK: mark, "TMPDIR": str(folder / "temporary"), "PYTHONPATH": path,
        **trial.environment
    }  # fmt: skip
    command = [sys.executable, "-m", __name__, str(folder / "launch.yaml"), str(folder / "run"),
               trial.state, *trial.modules]  # fmt: skip
    with (folder / "launcher.log").open("wb") as log, subprocess.Popen(
        command, stdin=keyboard, stdout=subprocess.PIPE, stderr=log, env=environment,
        start_new_session=True
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            for pid in processes_with(mark):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _next_line(process: subprocess.Popen[bytes]) -> Row:
    """Next line that the launch prints; empty once it has ended."""
    assert process.stdout is not None
    return msgspec.json.decode(process.stdout.readline() or b"{}")


def processes_with(mark: str) -> dict[int, str]:
    """Processes with this mark in their environment: id, and command line."""
    wanted, found = f"{MARK}={mark}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found[int(folder.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


def _count(recording: Path) -> int:
    """Messages up to where a recording was cut off; -1 where it does not read."""
    count = 0
    try:
        for _ in read_frames(recording):
            count += 1
    except (OSError, ValueError):
        return count or -1
    return count


def run_trials(
    trials: Sequence[Trial], options: StudyOptions, row_of: Callable[[int, End], Row],
    columns: str
) -> StudyResult:  # fmt: skip
    """Run every trial: a row of each, by its number and end; files are kept of those that fail."""
    folder, rows = Path(tempfile.mkdtemp(prefix="saltus-harm-")), []
    for number, trial in enumerate(options.track(trials)):
        files = folder / str(number)
        row = row_of(number, run_trial(trial, files, options.settings))
        rows.append(row | {"ok": not row["wrong"], "files": str(files) if row["wrong"] else ""})
        if rows[-1]["ok"]:
            shutil.rmtree(files, ignore_errors=True)
    with suppress(OSError):  # it is not empty
        folder.rmdir()
    passed = sum(row["ok"] for row in rows)
    criteria = [Criterion("launches that ended as required", passed, ">=", len(rows))]
    return StudyResult(rows, columns=columns, criteria=criteria)


def main(arguments: list[str]) -> int:
    """Run the launch of a trial."""
    file, folder, state, *modules = arguments
    config, is_due = make_config(read_mapping(Path(file)), file), True

    def announce(supervisor: Supervisor, listener: Listener) -> None:
        nonlocal is_due
        if is_due and listener.status is not None and listener.status.state == state:
            is_due = False
            pids = {child.name: child.pid for child in supervisor.children}
            _print_line({"pids": pids | {"launcher": os.getpid()}})

    own = dict(each.split("=") for each in modules)
    outcome = launch(config, Path(folder), announce, own)
    robot = outcome.summary["robot"]
    words = [robot.get("cause"), *(each.words for each in outcome.problems)]
    _print_line({"ok": outcome.ok, "why": next(filter(None, words), ""), "robot": robot})
    return 0


def _print_line(record: object) -> None:
    """Print one line of JSON at once."""
    print(msgspec.json.encode(record).decode(), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
