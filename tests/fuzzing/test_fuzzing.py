"""Decoders take mutated inputs, and those that once were too much; the fuzzer sees what fails."""

import os
import signal
import time
import zipfile
from io import BytesIO
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, mmap
from random import Random

import numpy as np
import pytest

from runtime.topics import PACE
from tests.fuzzing import run
from tests.fuzzing.decoder import Decoder, plain
from tests.fuzzing.decoders import DECODERS
from tests.fuzzing.file_decoders import FILE_DECODERS, uncompressed
from tests.fuzzing.fuzz import Tally, check_seeds, fuzz, try_input
from tests.fuzzing.mutation import mutated
from tests.fuzzing.run import Job

FEW, MANY = 30, 250  # inputs of a decoder of files, and of any other


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("decoder", DECODERS.values(), ids=list(DECODERS))
def test_a_decoder_takes_mutated_inputs(decoder, tmp_path):
    check_seeds(decoder, tmp_path)
    tally, count = Tally(), FEW if decoder in FILE_DECODERS else MANY
    assert list(fuzz(decoder, tmp_path, count, f"1 {decoder.name}", tally)) == []
    assert tally.inputs == count


def seed_of(name):
    return next(iter(DECODERS[name].seeds()))


def archive(name, at, value):
    """An archive with a number of its directory's first entry changed."""
    data = bytearray(seed_of(name))
    data[data.index(b"PK\x01\x02") + at] = value
    return bytes(data)


def archive_without_arrays(name):
    """An archive whose members are no NPY files."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for member in np.load(BytesIO(seed_of(name))).files:
            file.writestr(f"{member}.npy", b"nothing")
    return out.getvalue()


DAMAGED_ARCHIVES = [
    (name, make)
    for name in ("reference npz", "trace npz")
    for make in (
        lambda name: archive(name, 6, 109),  # of a later version
        lambda name: archive(name, 8, 1),  # encrypted
        lambda name: archive(name, 10, 99),  # another compression
        lambda name: archive(name, 8, 0x20),  # patched data
        archive_without_arrays,
    )
]


def reference_with(**arrays):
    """A reference with other arrays."""
    form = DECODERS["reference npz"].form
    return form.pack(form.unpack(seed_of("reference npz")) | arrays)


NO_UTF8 = b'{"pid": 1, "configuration": "\xff", "sockets": "", "planner": "\xff", "trial": 1}\n'
FOUND = [
    *((name, make(name)) for name, make in DAMAGED_ARCHIVES),
    *(("reference npz", reference_with(period=each)) for each in (0.0, -1.0, 1e-323, 1e9, np.nan)),
    ("reference npz", reference_with(q=np.zeros((4, 19)))),
    ("heights npy", seed_of("heights npy").replace(b"(40, 40)", b"(40, 40 ")),
    ("heights png", seed_of("heights png").replace(b"IDAT", b"\xd9\x02\xac2")),
    *((name, NO_UTF8) for name in ("summary json", "announcement", "sweep json", "sweep rows")),
    ("announcement", b'{"pid": 1, "configuration": "a\\u0000b", "sockets": ""}'),
    *(("sweep json", b'{"suite_text": "", "mode": "paused", "settings": [], "code": "x"%s}' % rest)
      for rest in (b"", b', "trials": 1', b', "trials": {"hilqr": [[1]]}', b', "trials": "x"',
                   b', "trials": {}, "plugins": []')),
]  # fmt: skip


@pytest.mark.parametrize("name, data", FOUND)
def test_what_was_too_much_once_is_within_the_boundary(name, data, tmp_path):
    decoder = DECODERS[name]
    assert try_input(decoder, decoder.make(tmp_path), data, Tally()) is None


@pytest.mark.parametrize("word", [2**31, 2**63])
def test_lengths_in_recordings_that_are_none(tmp_path, word):
    decoder, small = DECODERS["recording"], uncompressed([PACE], 1)
    read = decoder.make(tmp_path)
    for at in range(8, len(small) - 8):
        data = small[:at] + word.to_bytes(8, "little") + small[at + 8 :]
        assert try_input(decoder, read, data, Tally()) is None


def takes_memory(data):
    """Touch 320 MB of new pages: numpy's might come from what earlier tests gave back."""
    with mmap(-1, 320_000_000, flags=MAP_PRIVATE | MAP_ANONYMOUS) as pages:
        pages[::PAGESIZE] = bytes(len(pages[::PAGESIZE]))


def raises(data):
    raise KeyError("no such key")


def one(decode, refusals=()):
    return Decoder("one", plain(decode), lambda: [b"seed", b"another"], refusals)


def test_an_error_that_is_not_documented_is_a_failure(tmp_path):
    failures = list(fuzz(one(raises), tmp_path, 5, "1", Tally()))
    assert len(failures) == 5 and failures[0].what.startswith("KeyError at fuzzing/test_fuzzing.py")
    tally = Tally()
    assert list(fuzz(one(raises, (KeyError,)), tmp_path, 5, "1", tally)) == []
    assert tally.refused == 5


def test_an_input_that_takes_memory_is_a_failure(tmp_path):
    tally = Tally()
    failures = list(fuzz(one(takes_memory), tmp_path, 6, "1", tally))
    assert [each.what for each in failures] == ["takes memory"] * 3 and 300 < tally.peak_mb < 340


def ends(data):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    "decode, what",
    [(lambda data: time.sleep(60.0), "hangs"), (ends, "ends the process (SIGKILL)")],
)
def test_the_input_that_ends_a_process_is_kept_and_the_next_ones_tried(
    monkeypatch, tmp_path, decode, what
):
    monkeypatch.setattr(run, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(run, "HANG_S", 0.3)
    job = Job(one(decode), count=2, seed=1, limit_s=60.0)
    run.run([job], 1)
    assert job.failures == {what: 2} and job.tally.inputs == 2
    (file,) = (tmp_path / "kept").iterdir()
    assert file.read_bytes() == next(mutated(job.decoder.seeds(), Random("1 one 0")))
