"""Do decoders take any input? ``python -m tests.fuzzing.run --count 1000000``, or ``make fuzz``.

Each decoder runs in a process of its own, which is watched: an input that takes longer than five
seconds is a hang, and one that ends the process is kept too. Inputs that failed are files in
``.fuzz/``; ``python -m tests.fuzzing.run --replay FILE`` gives one to its decoder again.
"""

import argparse
import logging
import mmap
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path

import saltus as saltus  # before numba compiles: it says where compiled code is kept
from tests.fuzzing.decoder import Decoder
from tests.fuzzing.decoders import DECODERS
from tests.fuzzing.fuzz import Failure, Tally, check_seeds, fuzz
from tests.fuzzing.mutation import LONGEST

KEPT = Path(__file__).parents[2] / ".fuzz"
HANG_S = 5.0  # of one input
REPORT_S = 0.5
MOST_ENDS = 20  # of a decoder's process, after which it is not begun again
_FORK = multiprocessing.get_context("fork")


@dataclass
class Job:
    """A decoder, and what came of its inputs."""

    decoder: Decoder
    count: int
    seed: int
    limit_s: float
    tally: Tally = field(default_factory=Tally)
    failures: Counter[str] = field(default_factory=Counter)
    ends: int = 0

    @property
    def remaining(self) -> int:
        """Inputs that it is still to have."""
        return self.count - self.tally.inputs

    def keep(self, failure: Failure) -> None:
        """Count a failure; the first input of each kind is kept in a file."""
        self.failures[failure.what] += 1
        if self.failures[failure.what] == 1:
            KEPT.mkdir(exist_ok=True)
            mark = sha256(failure.data).hexdigest()[:12]
            file = KEPT / f"{self.decoder.name.replace(' ', '-')}-{mark}"
            file.write_bytes(failure.data)
            print(f"{self.decoder.name}: {failure.what}: {file}", flush=True)


class Child:
    """The process of one decoder, and the input that it has now, which outlives it."""

    def __init__(self, job: Job, folder: Path) -> None:
        """Begin with the inputs that remain."""
        self.job, self._before = job, Tally(**vars(job.tally))
        self._current = mmap.mmap(-1, 16 + LONGEST)
        self._pipe, theirs = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_work, args=(job, folder, self._current, theirs))
        self._process.start()
        theirs.close()
        self._number, self._since = -1, time.monotonic()

    def is_over(self) -> bool:
        """Take what the process reports; whether it has ended, or was ended because it hangs."""
        number = int.from_bytes(self._current[:8], "little")
        if number != self._number:
            self._number, self._since = number, time.monotonic()
        hangs = number > 0 and time.monotonic() - self._since > HANG_S
        if hangs:
            self._process.kill()
        self._take()
        if self._process.is_alive():
            return False
        self._process.join()
        self._take()
        if self._process.exitcode:
            end = "hangs" if hangs else f"ends the process ({_named(self._process.exitcode)})"
            self.job.keep(Failure(end, self._input()))
            self.job.ends += 1
            self.job.tally.inputs = self._before.inputs + number
        return True

    def _take(self) -> None:
        try:
            while self._pipe.poll():
                report = self._pipe.recv()
                if isinstance(report, Failure):
                    self.job.keep(report)
                else:
                    self.job.tally = _sum(self._before, report)
        except EOFError:
            pass

    def _input(self) -> bytes:
        size = int.from_bytes(self._current[8:16], "little")
        return self._current[16 : 16 + size]


def _work(job: Job, folder: Path, current: mmap.mmap, pipe: Connection) -> None:
    """Fuzz in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tally, reported = Tally(), time.monotonic()

    def note(data: bytes) -> None:
        nonlocal reported
        current[8 : 16 + len(data)] = len(data).to_bytes(8, "little") + data
        current[:8] = (tally.inputs + 1).to_bytes(8, "little")
        if time.monotonic() - reported > REPORT_S:
            reported = time.monotonic()
            pipe.send(tally)

    own = folder / f"{job.decoder.name.replace(' ', '-')}-{job.ends}"
    own.mkdir()
    left_s = job.limit_s - job.tally.seconds
    seed = f"{job.seed} {job.decoder.name} {job.ends}"
    for failure in fuzz(job.decoder, own, job.remaining, seed, tally, note, left_s):
        pipe.send(failure)
    pipe.send(tally)


def _sum(one: Tally, other: Tally) -> Tally:
    """Of two processes of a decoder, one after the other."""
    return Tally(
        one.inputs + other.inputs, one.refused + other.refused, one.seconds + other.seconds,
        max(one.slowest_s, other.slowest_s), max(one.peak_mb, other.peak_mb),
        max(one.growth_mb, other.growth_mb),
    )  # fmt: skip


def _named(exitcode: int) -> str:
    return signal.Signals(-exitcode).name if exitcode < 0 else f"status {exitcode}"


def run(jobs: list[Job], processes: int) -> None:
    """Run all, so many at a time."""
    waiting, running = list(jobs), list[Child]()
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < processes:
                running.append(Child(waiting.pop(0), Path(folder)))
            time.sleep(0.1)
            for child in [each for each in running if each.is_over()]:
                running.remove(child)
                job = child.job
                if job.remaining and job.tally.seconds < job.limit_s and 0 < job.ends < MOST_ENDS:
                    waiting.insert(0, job)
                else:
                    print(_line(job), flush=True)


HEADER = f"{'decoder':26}{'inputs':>9}{'refused':>9}{'per s':>8}{'slowest':>10}{'most':>8}" \
         f"{'growth':>8}  failures"  # fmt: skip


def _line(job: Job) -> str:
    tally = job.tally
    return (
        f"{job.decoder.name:26}{tally.inputs:9}{tally.refused / max(1, tally.inputs):9.1%}"
        f"{tally.inputs / max(1e-3, tally.seconds):8.0f}{1e3 * tally.slowest_s:7.0f} ms"
        f"{tally.peak_mb:5.0f} MB{tally.growth_mb:5.0f} MB  {job.failures.total() or ''}"
    )


def replay(file: Path) -> int:
    """Give an input to its decoder again, in this process: what it raises is seen."""
    name = file.name.rpartition("-")[0].replace("-", " ")
    decoder = DECODERS[name]
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(decoder.make(Path(folder))(file.read_bytes()))
        except decoder.refusals as error:
            print(f"refused: {type(error).__name__}: {error}")
    return 0


def main() -> int:
    """Fuzz all decoders, or those named; 1 where an input failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="inputs of each decoder")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of each decoder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--replay", type=Path, help="a file of .fuzz/")
    parser.add_argument("names", nargs="*", metavar="DECODER", help=", ".join(DECODERS))
    asked = parser.parse_args()
    if asked.replay:
        return replay(asked.replay)
    if unknown := [name for name in asked.names if name not in DECODERS]:
        parser.error(f"no decoder {unknown[0]!r}; there are: {', '.join(DECODERS)}")
    logging.basicConfig(stream=open(os.devnull, "w"))  # written, and read by nobody
    for name in asked.names or DECODERS:
        with tempfile.TemporaryDirectory() as folder:
            check_seeds(DECODERS[name], Path(folder))
    print(HEADER, flush=True)
    jobs = [Job(DECODERS[name], asked.count, asked.seed, asked.limit)
            for name in asked.names or DECODERS]  # fmt: skip
    run(jobs, asked.jobs)
    total, failed = sum(job.tally.inputs for job in jobs), sum(len(job.failures) for job in jobs)
    print(f"{total} inputs, {failed} kinds of failure")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
