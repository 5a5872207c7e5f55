"""Gives one decoder mutated inputs, and says what each did that it should not."""

import resource
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzzing.mutation import mutated

MOST_MB = 200.0  # of memory that an input, or all of them, may take
WARM_UP = 200  # inputs before memory counts


class Failure(NamedTuple):
    """What an input did beyond the decoder's boundary.

    Attributes:
        what: an error and the line that raised it, a hang, an end of the process, or memory; equal
            for inputs that failed alike.
        data: the input.
    """

    what: str
    data: bytes


@dataclass
class Tally:
    """What became of the inputs so far."""

    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    peak_mb: float = 0.0  # of an input
    growth_mb: float = 0.0  # of all of them


def fuzz(
    decoder, folder, count, seed, tally,
    before = lambda _: None, limit_s = 1e9,
):  # fmt: skip
    """Give a decoder `count` inputs, or as many as fit into `limit_s` [s].

    Args:
        decoder: what is fuzzed.
        folder: for its files.
        count: of inputs.
        seed: of the random numbers.
        tally: counts on the way.
        before: is given each input before the decoder is.
        limit_s: time after which there are no more.

    Yields:
        Each failure; the same decoder goes on.
    """
    random, decode = Random(seed), decoder.make(folder)
    inputs = mutated([*decoder.seeds()], random, decoder.form, decoder.seal)
    begin, first, warm = time.monotonic() - tally.seconds, resident_mb(), min(WARM_UP, count // 2)
    until = begin + tally.seconds + limit_s
    for number in range(count):
        if number == warm:
            first = resident_mb()
            reset_peak()
        data, start, peak = next(inputs), time.monotonic(), peak_mb()
        if start > until:
            break
        before(data)
        failure = try_input(decoder, decode, data, tally)
        end, tally.inputs = time.monotonic(), tally.inputs + 1
        tally.slowest_s, tally.seconds = max(tally.slowest_s, end - start), end - begin
        if number >= warm:
            rise = peak_mb() - peak
            tally.peak_mb = max(tally.peak_mb, rise)
            if rise > MOST_MB:
                reset_peak()
                failure = failure or Failure("takes memory", data)
        if failure is not None:
            yield failure
    tally.growth_mb = max(tally.growth_mb, resident_mb() - first)
    if tally.growth_mb > MOST_MB:
        yield Failure("grew without bound", b"")


def try_input(decoder, decode, data, tally):
    """Give it one input; what it raised that it does not document."""
    try:
        decode(data)
    except decoder.refusals:
        tally.refused += 1
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what is no Exception, such as a panic of compiled code
        return Failure(_described(error), data)
    return None


def check_seeds(decoder, folder):
    """Raise where a good input is refused: its mutations would try little."""
    decode = decoder.make(folder)
    for data in decoder.seeds():
        decode(data)


def resident_mb():
    """Memory of this process now [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return 1e-6 * pages * resource.getpagesize()


def peak_mb():
    """The most memory that this process had since `reset_peak` [MB].

    `ru_maxrss` begins with that of the process which started this one, and stays.
    """
    status = Path("/proc/self/status").read_text()
    return 1e-3 * int(status.partition("VmHWM:")[2].split()[0])


def reset_peak():
    """Begin `peak_mb` anew where the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def _described(error):
    """Kind of an error and where our code raised it: equal for equal defects."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if "/site-packages/" not in each.filename] or frames
    place = f"{'/'.join(Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno}"
    return f"{type(error).__name__} at {place}"
