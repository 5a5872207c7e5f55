"""Samples on disk, and the growth of memory in them."""

import numpy as np
import pytest
from pytest import approx

from saltus.soak.samples import SampleFile, memory_growth, read_samples


def columns(slope, seconds, launch=0, begin=0.0, level=500.0, noise=0.0):
    """Samples of two processes, one of which grows after ten minutes, and fast before [MB/h]."""
    running = np.arange(0.0, seconds, 2.0)
    hours = np.maximum(running - 600.0, 0.0) / 3600.0
    warm_up = 50.0 * np.minimum(running / 600.0, 1.0)
    wave = noise * np.sin(running)
    return {
        "elapsed_s": begin + running, "launch": np.full(running.shape, float(launch)),
        "running_s": running, "memory_mb_a": level + warm_up + slope * hours + wave,
        "memory_mb_b": np.full(running.shape, 100.0),
    }  # fmt: skip


def together(*parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("slope", [0.0, 12.0, -3.0])
def test_growth_is_that_after_ten_minutes(slope):
    assert memory_growth(columns(slope, 3600.0)) == approx(slope, abs=1e-9)
    assert memory_growth(columns(slope, 3600.0, noise=1.0)) == approx(slope, abs=0.1)


def test_launches_share_the_slope_and_not_the_level():
    both = together(columns(6.0, 1800.0), columns(6.0, 1500.0, 1, 1900.0, 300.0))
    assert memory_growth(both) == approx(6.0)


def test_no_growth_is_told_of_less_than_fifteen_minutes_in_a_launch():
    assert memory_growth(columns(6.0, 890.0)) is None
    assert memory_growth(columns(6.0, 910.0)) == approx(6.0)
    assert memory_growth(together(*(columns(6.0, 800.0, k, 800.0 * k) for k in range(5)))) is None
    assert memory_growth({}) is None


def test_samples_are_on_disk_at_once_and_a_line_cut_short_is_left_out(tmp_path):
    path = tmp_path / "samples.csv"
    file = SampleFile(path)
    assert read_samples(path) == {}
    file.write({"elapsed_s": 1.0, "state": "running", "memory_mb_a": None})
    file.write({"elapsed_s": 3.25, "state": "off", "memory_mb_a": 4})
    assert list(read_samples(path)["elapsed_s"]) == [1.0, 3.25]
    file.close()
    path.write_text(path.read_text() + "5.0,ru")
    read = read_samples(path)
    assert list(read["elapsed_s"]) == [1.0, 3.25]
    assert np.isnan(read["memory_mb_a"][0]) and read["memory_mb_a"][1] == 4.0
    assert np.isnan(read["state"]).all()
