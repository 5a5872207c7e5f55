"""What the machine says of itself."""

import math
from pathlib import Path

import pytest

from saltus.common.processes import quota
from saltus.doctor import checks

CGROUP = "/sys/fs/cgroup/"


@pytest.mark.parametrize(
    "files, cores",
    [
        ({"cpu.max": "150000 100000\n"}, 1.5), ({"cpu.max": "max 100000\n"}, math.inf),
        ({}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
    ],
)  # fmt: skip
def test_a_quota_is_that_of_cgroups(monkeypatch, files, cores):
    def read(path):
        if (name := str(path).removeprefix(CGROUP)) not in files:
            raise FileNotFoundError
        return files[name]

    monkeypatch.setattr(Path, "read_text", read)
    assert quota() == cores


def test_the_doctor_names_a_quota_and_what_helps(monkeypatch):
    monkeypatch.setattr(checks, "cores", lambda: 4)
    monkeypatch.setattr(checks, "quota", lambda: 1.5)
    ok, found = checks._cores()
    assert not ok and "the time of 1.5" in found and "--cpuset-cpus" in found
