"""Launches of a test's own."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def temporary(monkeypatch):
    """A folder of temporary files of its own: no other launch is found; short, for sockets.

    Those of pytest are made before.
    """
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)
