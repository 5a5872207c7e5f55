"""Folders with short names: the path of a socket has at most 107 characters."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
