"""Ends of a pipe for keys, and a gamepad's device."""

import os
from contextlib import suppress

import pytest


@pytest.fixture
def pipe():
    """Where keys are read and where they are written."""
    ends = os.pipe()
    yield ends
    for fd in ends:
        with suppress(OSError):
            os.close(fd)


@pytest.fixture
def device(tmp_path):
    """Path of a gamepad and where its events are written; opening either end never waits."""
    path = tmp_path / "js0"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)
    yield str(path), writing
    with suppress(OSError):
        os.close(writing)
