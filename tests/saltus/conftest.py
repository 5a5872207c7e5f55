"""What a command prints, and launches of a test's own."""

import json
import tempfile
from pathlib import Path

import pytest

from saltus.cli.main import run
from saltus.doctor import checks


@pytest.fixture
def temporary(monkeypatch):
    """A folder of temporary files of its own: no other launch is found; short, for sockets.

    Those of pytest are made before.
    """
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture(scope="session")
def graphics():
    """Pictures can be drawn here."""
    can_draw, reason = checks._rendering()
    if not can_draw:
        pytest.skip(reason)


@pytest.fixture
def printed(capsys):
    """The object that a command prints."""

    def take(*arguments, status=0):
        assert run([*arguments, "--json"]) == status
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return take
