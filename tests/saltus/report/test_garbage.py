"""What a report makes of broken files: it leaves them out, says so, and replaces no device."""

import json
import os
import stat

import numpy as np
import pytest

from saltus.cli import main
from saltus.common.files import write_file
from saltus.launch.trace import load_trace
from saltus.report import page
from tests.saltus.report.fake_sweep import make_sweep


@pytest.fixture
def sweep(tmp_path):
    return make_sweep(tmp_path / "sweep", traces=False)


def change_rows(sweep, change) -> None:
    rows = [json.loads(line) for line in (sweep / "rows.jsonl").read_text().splitlines()]
    (sweep / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in change(rows)))


@pytest.mark.parametrize(("key", "value"), [
    ("trial", "x"), ("trial", None), ("fell", None), ("value", "abc"), ("value", ["a"]), ("at", []),
    ("max_lateral_deviation_m", "far"), ("plans_failed", "many"), ("planner", 3), ("kind", {}),
    ("for", "long"), ("simulation", {"friction": []}), ("timing", 3), ("command", "walk"),
])  # fmt: skip
def test_a_row_with_a_value_of_a_wrong_type_is_left_out(sweep, key, value):
    change_rows(sweep, lambda rows: [rows[0] | {key: value}, *rows[1:]])
    subject = page.read_subject(sweep)
    assert len(subject.trials) == 11 and "1 line(s) of rows.jsonl are damaged" in subject.missing[0]
    page.page(subject)


def test_a_trial_counts_once_and_its_last_row_holds(sweep):
    change_rows(sweep, lambda rows: [*rows, rows[0] | {"max_lateral_deviation_m": 7.0}])
    subject = page.read_subject(sweep)
    assert len(subject.trials) == 12 and subject.trials[0].deviation == 7.0


@pytest.mark.parametrize("change", [
    {"suite_text": 3}, {"trials": "all"}, {"trials": {"hilqr": [{}]}}, {"settings": 3},
    {"suite": None},
])  # fmt: skip
def test_a_description_with_wrong_types_is_named_and_the_rows_are_kept(sweep, change):
    file = sweep / "sweep.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    subject = page.read_subject(sweep)
    assert len(subject.trials) == 12 and "sweep.json) is missing or damaged" in subject.missing[0]
    page.page(subject)


def test_what_is_lacking_comes_with_the_command_that_runs_it(sweep):
    change_rows(sweep, lambda rows: rows[::2])
    told = page.read_subject(sweep).missing[0]
    assert "6 of 12 requested trials are finished" in told
    assert "saltus perturb table-6.1 --planner hilqr,convex_mpc,instant_qp --mode paused" in told
    assert f"--output {sweep}`: it goes on" in told


def describe(sweep, **changes) -> None:
    file = sweep / "sweep.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_two_planners_are_not_told_to_run_the_third(tmp_path):
    sweep = make_sweep(tmp_path / "s", traces=False, planners=("hilqr", "instant_qp"))
    change_rows(sweep, lambda rows: [rows[0], rows[4]])
    told = page.read_subject(sweep).missing[0]
    assert "2 of 8" in told and "--planner all" not in told and "convex_mpc" not in told
    assert told.count("saltus perturb") == 1 and "--planner hilqr,instant_qp " in told
    change_rows(sweep, lambda rows: [rows[0], *(rows[1] | {"trial": i} for i in range(4))])
    told = page.read_subject(sweep).missing[0]
    assert told.count("saltus perturb") == 1 and "--planner hilqr " in told


GROUPS = """groups:
  - {name: left, reference: walk, duration: 3.0,
     trials: {kind: base_velocity, at: [1.0, 1.2], value: [0, 1, 0]}}
  - {name: right, reference: walk, duration: 3.0, seeds: 2,
     trials: {kind: base_velocity, at: 1.0, value: [0, -1, 0]}}
"""


@pytest.mark.parametrize(("asked", "words"), [
    ([2, 3], "--trial 2 --trial 3"), ([1, 2], "--trial 1 --trial 2"),
    ([0, 1, 2, 3], "--mode paused --set"),
])  # fmt: skip
def test_a_part_of_a_suite_is_whole_when_that_part_is_done(tmp_path, asked, words):
    """Of a sweep with `--group` or `--trial`, no other trial is lacking."""
    sweep = make_sweep(tmp_path / "s", traces=False, planners=("hilqr",))
    describe(sweep, suite_text=GROUPS, trials={"hilqr": asked})
    change_rows(sweep, lambda rows: [rows[number] for number in asked])
    whole = page.read_subject(sweep)
    assert not whole.unfinished and not any("are finished" in text for text in whole.missing)
    change_rows(sweep, lambda rows: rows[1:] or [rows[0] | {"trial": 7}])
    told = page.read_subject(sweep).missing[0]
    assert words in told and f"of {len(asked)} requested trials" in told


def test_a_sweep_whose_rows_name_a_controller_is_refused_in_one_line(sweep, capsys):
    change_rows(sweep, lambda rows: [
        {"controller" if key == "planner" else key: value for key, value in row.items()}
        for row in rows
    ])  # fmt: skip
    assert main.run(["report", str(sweep)]) == main.BAD_REQUEST
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and "run the sweep again" in lines[0]


@pytest.mark.parametrize(("name", "value"), [
    ("q", np.zeros((5, 3))), ("q", np.full((301, 19), np.nan)), ("time", np.zeros(4)),
    ("contact", np.zeros(3)), ("costs", np.zeros((2, 9))), ("statuses", np.array("[1]")),
])  # fmt: skip
def test_a_trace_whose_arrays_do_not_fit_is_none(tmp_path, name, value):
    path = make_sweep(tmp_path / "s", planners=("hilqr",)) / "traces" / "hilqr-0.npz"
    with np.load(path) as file:
        members = dict(file)
    assert load_trace(path).q.shape == (301, 19)
    np.savez(path, **(members | {name: value}))
    with pytest.raises(ValueError, match="not a trace"):
        load_trace(path)


def test_no_device_is_replaced_by_a_page(sweep, tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (pipe, tmp_path / ("x" * 400)):
        assert main.run(["report", str(sweep), "--output", str(target)]) == main.BAD_REQUEST
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    with pytest.raises(OSError, match="no regular file"):
        write_file(pipe, b"page")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_with_an_impossible_name_is_one_line(capsys):
    assert main.run(["report", "x" * 5000]) == main.BAD_REQUEST
    assert "neither a recorded run nor a sweep" in capsys.readouterr().err
