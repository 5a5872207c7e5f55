"""Parts of the report: published figures, cells, lines and strips."""

import pytest
from pytest import approx

from saltus.report import figures, page
from saltus.report.figures import since_event
from saltus.report.measures import PUBLISHED, cells, success
from saltus.report.pictures import AFTER_FALL_S, strip_times
from saltus.report.reading import TrialRecord
from tests.saltus.report.fake_sweep import make_sweep


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    return page.read_sweep(make_sweep(tmp_path_factory.mktemp("parts") / "sweep"))


def test_black_is_where_a_foot_stands(subject, monkeypatch):
    monkeypatch.setattr(figures, "drawn", lambda made, _: made)
    trial = subject.trials[0]
    *_, axes = figures.contacts(trial).axes
    for patch, contact in zip(axes.patches, trial.trace.contact.T, strict=True):
        values, edges, low = patch.get_data()
        assert ((values > low) == (contact > 0.5)).all()
        assert edges[:-1] == approx(trial.trace.time - trial.begin)


def test_cells_hold_every_trial_once(subject):
    found = cells(subject)
    assert len(found) == 6
    assert sorted(t.label for cell in found for t in cell.trials) == sorted(
        t.label for t in subject.trials
    )
    assert [cell.condition.magnitude for cell in found] == [1.0] * 3 + [1.5] * 3
    fallen = success(subject)[-1]
    assert fallen["planner"] == "instant_qp" and fallen["mean_max_lateral_deviation_m"] is None
    of_all = fallen["mean_max_lateral_deviation_of_all_m"]
    assert of_all == approx(0.8 * 1.5**2, rel=1e-3)


def test_a_fall_ends_the_line_and_the_strip(subject):
    fallen = next(trial for trial in subject.trials if trial.fell)
    survivor = next(trial for trial in subject.trials if not trial.fell)
    assert survivor.trace is not None
    time, side = since_event(fallen)
    assert time[-1] <= fallen.fall_time - fallen.begin + 1e-9 < fallen.trace.time[-1]
    assert len(time) == len(side)
    assert strip_times(fallen)[-1] <= fallen.fall_time + AFTER_FALL_S + 1e-9
    for trial in (fallen, survivor):
        times = strip_times(trial)
        assert min(times) >= trial.trace.time[0] and max(times) <= trial.trace.time[-1] + 1e-9


def test_published_figures_are_the_thesis_percentages():
    percent = {
        ("hilqr", 1.0): 100, ("convex_mpc", 1.0): 88, ("instant_qp", 1.0): 50,
        ("hilqr", 1.5): 88, ("convex_mpc", 1.5): 50, ("instant_qp", 1.5): 25,
    }  # fmt: skip
    for (planner, speed), rate in percent.items():
        cell = PUBLISHED["table-6.1", "base_velocity", planner, speed]
        assert round(100 * cell.success / cell.trials + 1e-9) == rate
    block = PUBLISHED["table-6.2", "motor_block", "instant_qp", 0.0]
    assert block.success == 0 and "40 %" in block.remark


def test_diagonal_pushes_are_of_one_magnitude():
    pushes = ([1.5, 0.0, 0.0], [1.0607, 1.0607, 0.0], [1.3858, -0.5740, 0.0])
    assert {TrialRecord({"value": push}).magnitude for push in pushes} == {1.5}
