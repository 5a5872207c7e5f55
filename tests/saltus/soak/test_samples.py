"""Samples on disk, the growth of memory in them, and the figure of a soak."""

import os
import resource

import numpy as np
import pytest

from saltus.common.figures import png
from saltus.soak.figure import soak_figure
from saltus.soak.samples import SampleFile, memory_growth, read_samples, use_of
from saltus.soak.soak import LaunchEnd
from saltus.soak.stalls import Stall

KEYS = ("missed", "state_age_ms", "plan_ms")


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
        "handles_a": np.full(running.shape, 9.0), "handles_b": np.full(running.shape, 7.0),
        **{key: np.zeros(running.shape) for key in KEYS},
    }  # fmt: skip


def together(*parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("slope", [0.0, 12.0, -3.0])
def test_growth_is_that_after_ten_minutes(slope):
    assert memory_growth(columns(slope, 3600.0)) == pytest.approx(slope, abs=1e-9)
    assert memory_growth(columns(slope, 3600.0, noise=1.0)) == pytest.approx(slope, abs=0.1)


def test_launches_share_the_slope_and_not_the_level():
    both = together(columns(6.0, 1800.0), columns(6.0, 1500.0, 1, 1900.0, 300.0))
    assert memory_growth(both) == pytest.approx(6.0)


def test_no_growth_is_told_of_less_than_fifteen_minutes_in_a_launch():
    assert memory_growth(columns(6.0, 890.0)) is None
    assert memory_growth(columns(6.0, 910.0)) == pytest.approx(6.0)
    assert memory_growth(together(*(columns(6.0, 800.0, k, 800.0 * k) for k in range(5)))) is None
    assert memory_growth({}) is None


def test_a_sample_without_a_process_counts_for_nothing():
    samples = columns(6.0, 1800.0)
    samples["memory_mb_b"][-1] = np.nan
    assert memory_growth(samples) == pytest.approx(6.0)


def test_samples_are_on_disk_at_once_and_a_line_cut_short_is_left_out(tmp_path):
    path = tmp_path / "samples.csv"
    file = SampleFile(path)
    assert read_samples(path) == {}
    file.write({"elapsed_s": 1.0, "state": "running", "handles_a": None})
    file.write({"elapsed_s": 3.25, "state": "off", "handles_a": 4})
    assert list(read_samples(path)["elapsed_s"]) == [1.0, 3.25]
    file.close()
    path.write_text(path.read_text() + "5.0,ru")
    read = read_samples(path)
    assert list(read["elapsed_s"]) == [1.0, 3.25]
    assert np.isnan(read["handles_a"][0]) and read["handles_a"][1] == 4.0
    assert np.isnan(read["state"]).all()


def test_use_of_this_process_and_of_none(tmp_path):
    before = use_of(os.getpid())
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    assert before.memory_mb is not None and before.handles is not None
    assert 1.0 < before.memory_mb <= 1.05 * peak_mb
    with (tmp_path / "file").open("w"):
        assert use_of(os.getpid()).handles == before.handles + 1
    assert use_of(2**22 + 1) == (None, None)


def test_the_figure_shows_two_launches_why_the_first_ended_and_where_a_robot_fell():
    both = together(columns(0.0, 700.0), columns(0.0, 60.0, 1, 720.0))
    both["missed"][:] = both["running_s"]
    ends = [
        LaunchEnd(0, 700.0, False, False, False, None, "a hot motor", 1.2, 0.4),
        LaunchEnd(1, 60.0, True, True, False, 40.0, "the robot fell", None, None),
    ]
    stalls = [Stall(30.0, 0, 12.0)]
    drawing = soak_figure(both, ends, [(0, 20.0), (1, 30.0), (1, 90.0)], stalls)
    assert drawing.axes[4].lines[2].get_ydata() == [12.0]
    missed = drawing.axes[3].lines[0].get_ydata()
    assert missed[-1] == pytest.approx(698.0 + 58.0)  # each launch counts from 0
    title = drawing.axes[0].get_title(loc="left")
    assert title.startswith("launch 0 of 700 s: a hot motor (0.4 s after")
    assert title.endswith("launch 1 of 60 s: the robot fell")
    marks = [line.get_xdata()[0] for line in drawing.axes[2].lines if line.get_color() == "tab:red"]
    assert marks == pytest.approx([698.0 / 3600.0, (720.0 + 40.0) / 3600.0])
    assert png(drawing).startswith(b"\x89PNG")
