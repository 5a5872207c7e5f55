"""A suite of six trials, and sweeps of it."""

import pytest

from saltus.sweep.sweep import SweepRequest

SUITE = """
reference: stand
duration: 1.0
trials: {kind: base_velocity, at: [0.1, 0.2, 0.3], value: [[0, 1, 0], [0, -1, 0]]}
"""


@pytest.fixture
def suite(tmp_path):
    """The suite's file."""
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    return file


@pytest.fixture
def request_of(suite):
    """Requests of a sweep into the folder `sweep`."""
    usual = {"jobs": 1, "output": suite.with_name("sweep")}
    return lambda **more: SweepRequest(str(suite), **usual | more)
