"""What a report makes of broken files: it leaves them out, says so, and replaces no device."""

import json
import os
import stat

import numpy as np
import pytest

from saltus import cli
from saltus.figures import write_whole
from saltus.report import page
from saltus.trace import load_trace
from tests.saltus.fake_sweep import make_sweep


@pytest.fixture
def sweep(tmp_path):
    return make_sweep(tmp_path / "sweep", traces=False)


def change_rows(sweep, change) -> None:
    rows = [json.loads(line) for line in (sweep / "rows.jsonl").read_text().splitlines()]
    (sweep / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in change(rows)))


@pytest.mark.parametrize(("key", "value"), [
    ("trial", "x"), ("trial", None), ("fell", None), ("value", "abc"), ("value", ["a"]), ("at", []),
    ("max_lateral_deviation_m", "far"), ("plans_failed", "many"), ("controller", 3), ("kind", {}),
])  # fmt: skip
def test_a_row_with_a_value_of_a_wrong_type_is_left_out(sweep, key, value):
    change_rows(sweep, lambda rows: [rows[0] | {key: value}, *rows[1:]])
    subject = page.read_subject(sweep)
    assert len(subject.trials) == 11 and "1 line(s) of rows.jsonl are no rows" in subject.missing[0]
    page.page(subject)


def test_a_trial_counts_once_and_its_last_row_holds(sweep):
    change_rows(sweep, lambda rows: [*rows, rows[0] | {"max_lateral_deviation_m": 7.0}])
    subject = page.read_subject(sweep)
    assert len(subject.trials) == 12 and subject.trials[0].deviation == 7.0


@pytest.mark.parametrize("change", [
    {"suite_text": 3}, {"controllers": "all"}, {"controllers": [1]}, {"settings": 3},
    {"suite": None},
])  # fmt: skip
def test_a_description_with_wrong_types_is_named_and_the_rows_are_kept(sweep, change):
    file = sweep / "sweep.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    subject = page.read_subject(sweep)
    assert len(subject.trials) == 12 and "sweep.json) is missing or broken" in subject.missing[0]
    page.page(subject)


def test_what_is_lacking_comes_with_the_command_that_runs_it(sweep):
    change_rows(sweep, lambda rows: rows[:5])
    told = page.read_subject(sweep).missing[0]
    assert "saltus perturb table-6.1 --controller all --mode paused" in told
    assert f"--output {sweep}`: it goes on" in told


@pytest.mark.parametrize(("name", "value"), [
    ("q", np.zeros((5, 3))), ("q", np.full((301, 19), np.nan)), ("time", np.zeros(4)),
    ("contact", np.zeros(3)), ("costs", np.zeros((2, 9))), ("statuses", np.array("[1]")),
])  # fmt: skip
def test_a_trace_whose_arrays_do_not_fit_is_none(tmp_path, name, value):
    path = make_sweep(tmp_path / "s", controllers=("hilqr",)) / "traces" / "hilqr-0.npz"
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
        assert cli.run(["report", str(sweep), "--output", str(target)]) == cli.BAD_REQUEST
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    with pytest.raises(OSError, match="no regular file"):
        write_whole(pipe, b"page")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_with_an_impossible_name_is_one_line(capsys):
    assert cli.run(["report", "x" * 5000]) == cli.BAD_REQUEST
    assert "neither a recorded run nor a sweep" in capsys.readouterr().err
