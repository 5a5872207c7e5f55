"""What a command prints, and launches of a test's own."""

import tempfile
from pathlib import Path

import pytest

from saltus.doctor import checks
from tests.saltus.short_walk import record_walk


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


@pytest.fixture(scope="session")
def walk(tmp_path_factory):
    """The folder of a recorded walk, which no test changes."""
    folder = tmp_path_factory.mktemp("walk")
    record_walk(folder)
    return folder
