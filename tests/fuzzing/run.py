"""Do decoders take any input? ``python -m tests.fuzzing.run --count 1000000``, or ``make fuzz``.

Each decoder runs in a process of its own, which is watched: an input that takes longer than five
seconds is a hang, and one that ends the process is kept too. Inputs that failed are files in
``.fuzz/``; ``python -m tests.fuzzing.run --replay FILE`` gives one to its decoder again.
"""

import argparse
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import wait
from pathlib import Path

import saltus as saltus  # before numba compiles: it says where compiled code is kept
from tests.fuzzing.decoder import Decoder
from tests.fuzzing.decoders import DECODERS
from tests.fuzzing.fuzz import Failure, Tally, fuzz

KEPT = Path(__file__).parents[2] / ".fuzz"
HANG_S = 5.0  # of one input
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
    def name(self):
        """For files."""
        return self.decoder.name.replace(" ", "-")

    def keep(self, failure):
        """Count a failure; the first input of each kind is kept in a file."""
        self.failures[failure.what] += 1
        if self.failures[failure.what] == 1:
            KEPT.mkdir(exist_ok=True)
            file = KEPT / f"{self.name}-{sha256(failure.data).hexdigest()[:12]}"
            file.write_bytes(failure.data)
            print(f"{self.decoder.name}: {failure.what}: {file}", flush=True)

    def work(self, folder):
        """Fuzz in a process of its own; the input that it has now is in a file."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, also compiled code
        current = os.open(folder / "current", os.O_CREAT | os.O_RDWR)

        def note(data):
            numbers = self.tally.inputs + 1, len(data)
            os.pwrite(current, b"".join(n.to_bytes(8, "little") for n in numbers) + data, 0)
            signal.setitimer(signal.ITIMER_REAL, HANG_S)

        def report():
            (folder / "report").write_bytes(pickle.dumps((self.tally, self.failures)))

        seed = f"{self.seed} {self.decoder.name} {self.ends}"
        left, left_s = self.count - self.tally.inputs, self.limit_s - self.tally.seconds
        for failure in fuzz(self.decoder, folder, left, seed, self.tally, note, left_s):
            self.keep(failure)
            report()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        report()

    def take(self, folder, exitcode):
        """Take what a process left; whether another is to go on."""
        if (folder / "report").exists():
            self.tally, self.failures = pickle.loads((folder / "report").read_bytes())
        if not exitcode:
            return False
        ends = signal.Signals(-exitcode).name if exitcode < 0 else f"status {exitcode}"
        what = "hangs" if ends == "SIGALRM" else f"ends the process ({ends})"
        found = (folder / "current").read_bytes()
        number, size = (int.from_bytes(found[at : at + 8], "little") for at in (0, 8))
        self.keep(Failure(what, found[16 : 16 + size]))
        self.tally.inputs, self.ends = number, self.ends + 1
        return number < self.count and self.ends < MOST_ENDS


def run(jobs, processes):
    """Run all, so many at a time."""
    waiting, running = list(jobs), {}
    with tempfile.TemporaryDirectory() as base:
        while waiting or running:
            while waiting and len(running) < processes:
                job = waiting.pop(0)
                (folder := Path(base, f"{job.name}-{job.ends}")).mkdir()
                process = _FORK.Process(target=job.work, args=(folder,))
                process.start()
                running[process.sentinel] = job, process, folder
            for sentinel in wait(list(running)):
                job, process, folder = running.pop(sentinel)
                process.join()
                if job.take(folder, process.exitcode):
                    waiting.insert(0, job)
                else:
                    print(_line(job), flush=True)


HEADER = f"{'decoder':26}{'inputs':>9}{'refused':>9}{'per s':>8}{'slowest':>10}{'most':>8}" \
         f"{'growth':>8}  failures"  # fmt: skip


def _line(job):
    tally = job.tally
    return (
        f"{job.decoder.name:26}{tally.inputs:9}{tally.refused / max(1, tally.inputs):9.1%}"
        f"{tally.inputs / max(1e-3, tally.seconds):8.0f}{1e3 * tally.slowest_s:7.0f} ms"
        f"{tally.peak_mb:5.0f} MB{tally.growth_mb:5.0f} MB  {job.failures.total() or ''}"
    )


def replay(file):
    """Give an input to its decoder again, in this process: what it raises is seen."""
    decoder = DECODERS[file.name.rpartition("-")[0].replace("-", " ")]
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(decoder.make(Path(folder))(file.read_bytes()))
        except decoder.refusals as error:
            print(f"refused: {type(error).__name__}: {error}")
    return 0


def main():
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
    print(HEADER, flush=True)
    jobs = [Job(DECODERS[name], asked.count, asked.seed, asked.limit)
            for name in asked.names or DECODERS]  # fmt: skip
    run(jobs, asked.jobs)
    total, failed = sum(job.tally.inputs for job in jobs), sum(len(job.failures) for job in jobs)
    print(f"{total} inputs, {failed} kinds of failure")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
