"""Runs one launch, does harm to it, and judges how it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from runtime.recording import read_frames
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch, make_config, write_config
from saltus.export.black_box import segments_of
from saltus.launch.supervisor import free_port
from studies.a1.chaos import leap, stack
from studies.a1.chaos.acts import do
from studies.a1.chaos.draw import LEAP_S, Harm

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


@dataclass(frozen=True)
class ChaosRow:
    """One trial.

    Attributes:
        harm: in words.
        ended: posture of the robot, ", damped" where no motor was asked for anything.
        why: the one line that says what happened; empty where all went on well.
        left: processes that still ran afterwards.
        recorded: messages in the recording that reads; -1 where it does not.
        kept: frames in the black box, likewise.
        ok: all is as it must be.
        wrong: what is not.
        seconds: that the launch took to end, after the harm.
    """

    harm: str
    ended: str
    why: str
    left: int
    recorded: int
    kept: int
    ok: bool
    wrong: str
    seconds: float


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


def run_trial(harm: Harm, folder: Path) -> ChaosRow:
    """Run one trial with all its files in `folder`, which is made here."""
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
    return ChaosRow(
        in_words(harm), posture + (", damped" if passive else ""), why, len(end.left), recorded,
        kept, not wrong, wrong, end.seconds,
    )  # fmt: skip


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
