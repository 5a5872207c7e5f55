"""Command lines that are refused, and launches of a test's own."""

import tempfile
from pathlib import Path

import pytest

from saltus.cli.main import run


@pytest.fixture
def temporary(monkeypatch):
    """A folder of temporary files of its own: no other launch is found; short, for sockets.

    Those of pytest are made before.
    """
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def refused(capsys):
    """The one line that a bad command line gives; nothing may come on standard output."""

    def refuse(*arguments):
        assert run(arguments) == 2
        out, err = capsys.readouterr()
        (line,) = err.strip().splitlines()
        assert out == ""
        return line

    return refuse
