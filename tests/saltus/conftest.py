"""What a command prints, and launches of a test's own."""

import json
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
def printed(capsys):
    """The object that a command prints."""

    def take(*arguments, status=0):
        assert run([*arguments, "--json"]) == status
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return take
