"""A recording as a page reads it."""

import pytest
from numpy.testing import assert_array_equal
from pytest import approx

from saltus.launch.recorded import RecordedRun
from tests.saltus.film.fake_run import HAND_AT, HOLD_AT, PUSH_AT, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view") / "run"
    return RecordedRun(make_run(folder, every=1, plans=range(0, 1000, 10)))


@pytest.mark.parametrize("time", [0.0, 0.333, 1.0])
def test_an_instant_is_the_newest_of_everything(run, time):
    instant = run.at(time)
    assert instant.plan is not None
    assert instant.truth.tick == instant.estimate.tick
    assert instant.truth.q[0] == approx(0.5 * time, abs=0.5 * 0.01)
    assert 0.0 <= time - instant.plan.time <= 0.03 + 1e-9
    assert instant.plan.states_q.shape == (51, 19)


def test_what_happened_is_marked(run):
    assert [(mark.kind, mark.text, mark.time) for mark in run.marks] == [
        ("push", "by the script", approx(PUSH_AT)), ("push", "FL by hand", approx(HAND_AT)),
        ("fault", "tracker: hold", approx(HOLD_AT)),
    ]  # fmt: skip


def test_a_recording_that_was_cut_off_shows_what_it_holds(tmp_path, capsys):
    folder = make_run(tmp_path / "run", seconds=30.0)
    file = folder / "run.mcap"
    whole = RecordedRun(folder)
    file.write_bytes(file.read_bytes()[: 2 * file.stat().st_size // 3])
    cut = RecordedRun(folder)
    assert 0.0 < cut.duration < whole.duration
    assert capsys.readouterr().err.splitlines() == [f"{file} was cut off; what it holds is taken"]
    assert_array_equal(cut.at(0.5).truth.q, whole.at(0.5).truth.q)  # type: ignore[union-attr]
