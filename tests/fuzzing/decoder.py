"""What is fuzzed: a decoder, inputs that it takes, and the errors by which it may refuse others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzzing.mutation import Format

Decode = Callable[[bytes], object]


@dataclass(frozen=True)
class Decoder:
    """A decoder.

    Attributes:
        name: for commands and tables.
        make: of a folder for files, the function that takes an input; it may keep state, as its
            process does.
        seeds: makes inputs that are good.
        refusals: the errors that it documents; none for what never raises.
        form: of its inputs, where they hold plain data.
        seal: writes an input's checksum.
    """

    name: str
    make: Callable[[Path], Decode]
    seeds: Callable[[], Sequence[bytes]]
    refusals: tuple[type[Exception], ...] = ()
    form: Format | None = None
    seal: Callable[[bytearray], bytes] | None = None


def through_file(name, read):
    """A decoder of files: each input is written to a file `name` first."""

    def make(folder):
        file = folder / name

        def decode(data):
            file.touch(0o600)  # as key files must be
            file.write_bytes(data)
            return read(file)

        return decode

    return make


def plain(decode):
    """A decoder of bytes, which needs no folder."""
    return lambda _: decode
