"""What the machine says of itself."""

import math
from pathlib import Path

import pytest

from runtime.realtime import quota
from saltus.doctor import checks

CGROUP = "/sys/fs/cgroup/"


@pytest.mark.parametrize(
    "mine, files, cores",
    [
        ("0::/", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/", {"cpu.max": "max 100000\n"}, math.inf),
        ("0::/", {}, math.inf),
        ("0::/a/b", {"a/cpu.max": "50000 100000", "cpu.max": "150000 100000"}, 0.5),
        ("0::/c", {"a/cpu.max": "50000 100000"}, math.inf),
        (
            "9:memory:/b\n1:cpu,cpuacct:/a",
            {"cpu/a/cpu.cfs_quota_us": "150000", "cpu/a/cpu.cfs_period_us": "100000"},
            1.5,
        ),
        (
            "1:cpu:/elsewhere",
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
            math.inf,
        ),
    ],
)
def test_a_quota_is_that_of_all_groups_of_the_process(monkeypatch, mine, files, cores):
    files = {f"{CGROUP}{name}": text for name, text in files.items()} | {"/proc/self/cgroup": mine}

    def read(path):
        if str(path) not in files:
            raise FileNotFoundError
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read)
    assert quota() == cores


def test_the_doctor_names_a_quota_and_what_helps(monkeypatch):
    monkeypatch.setattr(checks, "cores", lambda: 4)
    monkeypatch.setattr(checks, "quota", lambda: 1.5)
    ok, found = checks._cores()
    assert not ok and "the time of 1.5" in found and "--cpuset-cpus" in found
