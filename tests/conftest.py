"""Property tests draw the same examples everywhere, so a run can be repeated.

``pytest --hypothesis-profile=explore`` draws new ones.
"""

import gc
import json
import os
import resource
import shlex
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

import saltus as saltus  # before numba compiles: it says where compiled code is kept
from tests.stalls import pytest_runtest_protocol as pytest_runtest_protocol
from tests.stalls import pytest_terminal_summary as pytest_terminal_summary

# What a terminal, a shell or a home folder may say otherwise, here and in processes begun.
for _variable in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(_variable, None)
os.environ["TERM"], os.environ["MPLBACKEND"] = "xterm", "agg"
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parents[1] / ".kernels" / "cache")
os.environ["MPLCONFIGDIR"] = str(Path(__file__).parents[1] / ".kernels" / "matplotlib")

# A shell that runs tests in the background has them, and processes begun, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What imports leave stays: during collection the collector would look at it again and again.
gc.disable()


def pytest_collection_finish():
    """Collect garbage again, but not what modules hold."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path, config):
    """Import nothing for ``-m quiet`` but the few files that have such tests."""
    if config.option.markexpr == "quiet" and collection_path.suffix == ".py":
        return "mark.quiet" not in collection_path.read_text() or None
    return None


settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("repeatable")


@contextmanager
def _room_for(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python would keep cut files
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="session")
def room_for():
    """``with room_for(size)``: no file grows beyond `size` [bytes], here and in processes begun.

    It stands for a full disk, and refuses as one does: a part of a write first, then OSError (EFBIG
    instead of ENOSPC; Python ignores the signal that goes with it).
    """
    return _room_for


@pytest.fixture
def printed(capsys):
    """The object that a command prints on its last line."""
    from saltus.cli.main import run

    def take(*arguments, status=0):
        assert run([*arguments, "--json"]) == status
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return take


@pytest.fixture
def refused(capsys):
    """The one line that a bad command line gives; nothing may come on standard output."""
    from saltus.cli.main import run

    def refuse(*arguments):
        assert run(arguments) == 2
        out, err = capsys.readouterr()
        (line,) = err.strip().splitlines()
        assert out == ""
        return line

    return refuse


@pytest.fixture
def refuses(refused):
    """Check that a command, as a shell reads it, is refused in a line with all `words`.

    They stand in one text, with " | " between them.
    """

    def check(command, words):
        line = refused(*shlex.split(command))
        assert all(word in line for word in words.split(" | ")), line
        return line

    return check
