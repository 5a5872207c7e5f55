"""What the machine says of itself."""

import math
from pathlib import Path

import pytest

from saltus.common.processes import quota, stolen_s
from saltus.doctor import checks

CGROUP = "/sys/fs/cgroup/"


def test_stolen_time_is_the_eighth_number_of_the_first_line(monkeypatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda _: 100)
    monkeypatch.setattr(Path, "read_text", lambda _: "cpu  1 2 3 4 5 6 7 250 9 0\ncpu0 1\n")
    assert stolen_s() == pytest.approx(2.5)


@pytest.mark.parametrize("text", ["", "cpu 1 2", "cpu a b c d e f g h i"])
def test_a_machine_that_does_not_say_so_is_no_error(monkeypatch, text: str) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: text)
    assert stolen_s() == 0.0


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5), ({"cpu.max": "max 100000\n"}, math.inf),
        ({}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
    ],
)  # fmt: skip
def test_a_quota_is_that_of_cgroups(monkeypatch, files: dict[str, str], cores: float) -> None:
    def read(path: Path) -> str:
        if (name := str(path).removeprefix(CGROUP)) not in files:
            raise FileNotFoundError
        return files[name]

    monkeypatch.setattr(Path, "read_text", read)
    assert quota() == cores


def test_the_doctor_names_a_quota_and_what_helps(monkeypatch) -> None:
    monkeypatch.setattr(checks, "cores", lambda: 4)
    monkeypatch.setattr(checks, "quota", lambda: 1.5)
    ok, found = checks._cores()
    assert not ok and "the time of 1.5" in found and "--cpuset-cpus" in found
