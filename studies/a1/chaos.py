"""Chaos: processes are killed, stopped, starved; disks filled, clocks changed, sockets flooded.

All that at random instants of a walk of the emulated A1. Each time the robot must end on its feet,
on the ground or damped; one line says why, nothing is left running, and recording and black box
can be read.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from runtime.recording import read_frames
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch, make_config, write_config
from saltus.export.black_box import segments_of
from saltus.launch.supervisor import free_port, send_as_stranger
from studies.a1 import chaos_leap as leap
from studies.a1 import chaos_stack as stack
from studies.study import Criterion, StudyOptions, StudyResult, study

STACK: Final = ("tracker", "planner", "estimator", "watchdog", "black_box", "launcher")
# The watchdog reads no wall clock. The emulator stands for the robot, which comes to no harm.
VICTIMS: Final[dict[str, tuple[str, ...]]] = {
    "kill": STACK,
    "stop": STACK,  # for ever
    "pause": STACK,
    "starve": STACK,
    "fill": STACK,
    "clock": tuple(name for name in STACK if name != "watchdog"),
    "flood": ("tracker", "emulator"),
}
LENGTH_S: Final = {"pause": (0.005, 0.5), "starve": (0.2, 2.0), "flood": (0.5, 2.0)}
LEAP_S: Final = 3600.0
# Share of the trials by the robot's state, and the latest instant after it has begun [s].
STATES: Final = {"stand_up": (0.1, 1.0), "running": (0.8, 3.5), "sit_down": (0.1, 0.8)}


class Harm(NamedTuple):
    """What happens in one trial.

    Attributes:
        kind: of `VICTIMS`.
        victim: the process.
        state: of the robot, in which it happens.
        at_s: since that state began.
        value: how long it lasts, or how far the clock leaps [s]; 0 where neither applies.
    """

    kind: str
    victim: str
    state: str
    at_s: float
    value: float


def draw_harms(seed: int, count: int) -> list[Harm]:
    """Harms of `count` trials: every kind with every victim in turn, in random order.

    More trials begin with those of fewer.
    """
    draw = np.random.default_rng(seed)
    pairs = [(kind, victim) for kind, victims in VICTIMS.items() for victim in victims]
    harms: list[Harm] = []
    while len(harms) < count:
        harms += [_draw_harm(draw, *pairs[index]) for index in draw.permutation(len(pairs))]
    return harms[:count]


def _draw_harm(draw: np.random.Generator, kind: str, victim: str) -> Harm:
    state = str(draw.choice(list(STATES), p=[share for share, _ in STATES.values()]))
    at_s = float(draw.uniform(0.0, STATES[state][1]))
    value = 0.0
    if kind in LENGTH_S:
        shortest, longest = LENGTH_S[kind]
        value = float(np.exp(draw.uniform(np.log(shortest), np.log(longest))))
    elif kind == "clock":
        value = float(draw.choice((-LEAP_S, LEAP_S)))
    return Harm(kind, victim, state, at_s, value)


STRANGER_PACKETS = 50  # of each kind, between two looks at the clock
SPIN = "while True: pass"


def do(harm: Harm, pids: Mapping[str, int], ports: Mapping[str, int]) -> None:
    """Do harm to a process; returns when what does not last for ever is over.

    Args:
        harm: what is done.
        pids: process ids by name.
        ports: UDP ports by the name of the process that has them.

    Raises:
        ProcessLookupError: the process has ended before.
    """
    if harm.kind == "flood":
        _flood(ports[harm.victim], harm.value)
    else:
        _ACTS[harm.kind](pids[harm.victim], harm.value)


def _kill(pid: int, _: float) -> None:
    os.kill(pid, signal.SIGKILL)


def _stop(pid: int, _: float) -> None:
    os.kill(pid, signal.SIGSTOP)


def _pause(pid: int, seconds: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def _starve(pid: int, seconds: float) -> None:
    """Give it only the time that spinning processes leave: next to none."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            spinner = stack.enter_context(subprocess.Popen([sys.executable, "-c", SPIN]))
            stack.callback(spinner.kill)
        stack.enter_context(_idle_priority(pid))
        time.sleep(seconds)


@contextmanager
def _idle_priority(pid: int) -> Iterator[None]:
    """All threads of a process run when nobody else wants to."""
    before = {}
    for thread in map(int, os.listdir(f"/proc/{pid}/task")):
        with suppress(ProcessLookupError):
            before[thread] = os.sched_getscheduler(thread), os.sched_getparam(thread)
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
    try:
        yield
    finally:
        for thread, (policy, parameters) in before.items():
            with suppress(ProcessLookupError, PermissionError):
                os.sched_setscheduler(thread, policy, parameters)


def _fill(pid: int, _: float) -> None:
    """Let no file of a process grow any more: as a full disk does."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def _leap(pid: int, _: float) -> None:
    os.kill(pid, signal.SIGUSR2)


def _flood(port: int, seconds: float) -> None:
    """Send to a socket as fast as this process can."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        send_as_stranger(port, STRANGER_PACKETS)


_ACTS: dict[str, Callable[[int, float], None]] = {
    "kill": _kill, "stop": _stop, "pause": _pause, "starve": _starve, "fill": _fill, "clock": _leap,
}  # fmt: skip


MARK = "SALTUS_CHAOS"  # environment variable of all processes of a trial
RUN_S = 4.0
USER_S = 15.0  # after which the user of a launch that is stopped for ever kills it
END_S = 60.0  # in which a launch ends after the harm
LAST_S = 15.0  # in which its processes end after it
POLL_S = 0.05
RESTS = ("standing", "lying")
USER = "the launcher stood still, and its user killed it"
# Quick motions: a trial is long enough as it is. The trunk sinks a little in a shorter damping.
MOTION = {"joint_speed": 3.0, "damping_s": 0.2, "damping_timeout_s": 2.0, "sit_down_timeout_s": 5.0}


def in_words(harm: Harm) -> str:
    """Harm in words: ``pause tracker for 0.02 s, 1.30 s into running``."""
    what = f"{harm.kind} {harm.victim}"
    if harm.value:
        what += f" by {harm.value:+.0f} s" if harm.kind == "clock" else f" for {harm.value:.3g} s"
    return f"{what}, {harm.at_s:.2f} s into {harm.state}"


class _End(NamedTuple):
    """How a launch ended: what it said last, whether it hung, which processes it left."""

    last: dict[str, Any]
    reached: bool  # the state in which the harm was due
    hung: bool
    left: list[str]
    seconds: float


def run_trial(harm: Harm, folder: Path) -> dict[str, Any]:
    """Run one trial with all its files in `folder`, which is made here: its row.

    `ended` is the posture of the robot, ", damped" where no motor was asked for anything, and
    `left` the number of processes that still ran. `recorded` counts messages in the recording that
    reads and `kept` frames in the black box; -1 where it does not. `seconds` are those that the
    launch took to end, after the harm.
    """
    end, run = _run(harm, folder), folder / "run"
    by_user = end.hung and _is_for_ever(harm)
    cause = end.last.get("why") or _cause_in(run / "logs" / "tracker.log")
    why = cause or (USER if by_user else "")
    posture, passive = _end_of(run / "reports" / "emulator.json")
    recorded, kept = _count(run / "run.mcap"), _count_black_box(run)
    faults = {
        "the robot never came to that state": not end.reached,
        "the launch hung": end.hung and not by_user,
        f"the robot was {posture}": posture not in RESTS and not passive,
        "nobody says why": not (end.last.get("ok") or why),
        f"still running: {', '.join(end.left)}": bool(end.left),
        "no recording": recorded <= 0,
        "no black box": kept <= 0,
    }
    wrong = "; ".join(words for words, is_so in faults.items() if is_so)
    return {
        "harm": in_words(harm),
        "ended": posture + (", damped" if passive else ""),
        "why": why,
        "left": len(end.left),
        "recorded": recorded,
        "kept": kept,
        "ok": not wrong,
        "wrong": wrong,
        "seconds": end.seconds,
        "files": str(folder) if wrong else "",
    }


def _run(harm: Harm, folder: Path) -> _End:
    """Launch, wait for the robot's state, do the harm, and wait for the end of all."""
    ports, mark = _prepare(folder), str(folder)
    with _launch(harm, folder, mark) as process:
        last = _next_line(process)
        pids, begun = last.get("pids", {}), time.monotonic()
        if pids:
            time.sleep(harm.at_s)
            begun = time.monotonic()
            # A process may have ended, and its number be another's.
            if harm.kind == "flood" or pids[harm.victim] in processes_with(mark):
                with suppress(ProcessLookupError, FileNotFoundError):
                    do(harm, pids, ports)
        hung = not _ends(process, USER_S if _is_for_ever(harm) else END_S)
        process.kill()
        last = _next_line(process) or last
        seconds = time.monotonic() - begun
        return _End(last, bool(pids), hung, _wait_for_the_rest(mark), seconds)


def _is_for_ever(harm: Harm) -> bool:
    """Whether the launch itself cannot end any more."""
    return (harm.kind, harm.victim) == ("stop", "launcher")


def _prepare(folder: Path) -> dict[str, int]:
    """Write what a trial needs; the ports by the name of the process that has them."""
    ports = {"emulator": free_port(), "tracker": free_port()}
    (folder / "temporary").mkdir(parents=True)
    shutil.copy(leap.__file__, folder / "sitecustomize.py")
    plain: dict[str, Any] = msgspec.to_builtins(load_launch("a1-emulated"))
    plain |= {"duration": RUN_S, "perturbations": []}
    plain["emulator"] |= {"port": ports["emulator"], "events": []}
    plain["hardware"]["link"]["local_port"] = ports["tracker"]
    plain["hardware"]["operator"]["keyboard"] = False
    plain["hardware"]["motion"] |= MOTION
    write_config(make_config(plain, "chaos"), folder / "launch.yaml")
    return ports


@contextmanager
def _launch(harm: Harm, folder: Path, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {
        MARK: mark, "TMPDIR": str(folder / "temporary"), "PYTHONPATH": path,
        leap.SECONDS: str(harm.value if harm.kind == "clock" else LEAP_S),
    }  # fmt: skip
    command = [sys.executable, "-m", stack.__name__, str(folder / "launch.yaml"),
               str(folder / "run"), harm.state]  # fmt: skip
    with (folder / "launcher.log").open("wb") as log, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            for pid in processes_with(mark):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _next_line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What the launch prints next; empty once it has ended."""
    assert process.stdout is not None
    return msgspec.json.decode(process.stdout.readline() or b"{}")


def _ends(process: subprocess.Popen[bytes], within_s: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(within_s)
    return process.returncode is not None


def _wait_for_the_rest(mark: str) -> list[str]:
    """The processes that have not ended by themselves after a while."""
    end = time.monotonic() + LAST_S
    while (left := processes_with(mark)) and time.monotonic() < end:
        time.sleep(POLL_S)
    return list(left.values())


def processes_with(mark: str) -> dict[int, str]:
    """Processes with this mark in their environment: id, and command line."""
    wanted, found = f"{MARK}={mark}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found[int(folder.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


def _end_of(report: Path) -> tuple[str, bool]:
    """The robot's posture, and whether its motors are passive, as the emulator reports."""
    try:
        record: Mapping[str, Any] = msgspec.json.decode(report.read_bytes())
    except (OSError, ValueError):
        return "unknown", False
    return record["posture"], record["passive"]


def _cause_in(log: Path) -> str:
    """Why the robot went off, as the tracker's log says."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "".join(re.findall(r" robot: \w+ -> off: (.+)", text)[-1:])


def _count(recording: Path) -> int:
    """Messages up to where a recording was cut off; -1 where it does not read."""
    count = 0
    try:
        for _ in read_frames(recording):
            count += 1
    except (OSError, ValueError):
        return count or -1
    return count


def _count_black_box(run: Path) -> int:
    try:
        return sum(sum(segment.counts.values()) for segment in segments_of(run))
    except BadRequest:
        return -1


TRIALS = 200
SHOWN = ("harm", "ended", "ok", "why", "wrong", "files")


@study("the emulated A1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch; the files of those that fail are kept."""
    harms = draw_harms(options.seed, options.count(TRIALS))
    folder = Path(tempfile.mkdtemp(prefix="saltus-chaos-"))
    rows = []
    for number, harm in enumerate(options.track(harms, in_words)):
        rows.append(run_trial(harm, folder / str(number)))
        if rows[-1]["ok"]:
            shutil.rmtree(folder / str(number), ignore_errors=True)
    with suppress(OSError):  # it is not empty
        folder.rmdir()
    passed = sum(row["ok"] for row in rows)
    criteria = [Criterion("trials that ended as required", passed, ">=", len(rows))]
    return StudyResult(rows, columns=SHOWN, criteria=criteria)
