"""What a report makes of broken files: it leaves them out, says so, and replaces no device."""

import json

import pytest
import yaml

from saltus.report import page
from tests.saltus.report.fake_sweep import change_rows, make_sweep


@pytest.fixture
def sweep(tmp_path):
    return make_sweep(tmp_path / "sweep", traces=False)


@pytest.mark.parametrize("key", ["planner", "trial", "fell"])
def test_a_row_without_a_key_is_left_out(sweep, key):
    change_rows(sweep, lambda rows: [{k: rows[0][k] for k in rows[0] if k != key}, *rows[1:]])
    subject = page.read_sweep(sweep)
    assert len(subject.trials) == 11 and "1 line(s) of rows.jsonl are damaged" in subject.missing[0]
    page.page(subject)


def test_a_trial_counts_once_and_its_last_row_holds(sweep):
    change_rows(sweep, lambda rows: [*rows, rows[0] | {"max_lateral_deviation_m": 7.0}])
    subject = page.read_sweep(sweep)
    assert len(subject.trials) == 12 and subject.trials[0].deviation == 7.0


@pytest.mark.parametrize("change", yaml.safe_load("""
    [{suite_text: 3}, {trials: all}, {trials: {hilqr: [{}]}}, {settings: 3}, {suite: null}]
"""))  # fmt: skip
def test_a_description_with_wrong_types_is_named_and_the_rows_are_kept(sweep, change):
    file = sweep / "sweep.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    subject = page.read_sweep(sweep)
    assert len(subject.trials) == 12 and "sweep.json) is missing or damaged" in subject.missing[0]
    page.page(subject)


def test_what_is_lacking_comes_with_the_command_that_runs_it(sweep):
    change_rows(sweep, lambda rows: rows[::2])
    told = page.read_sweep(sweep).missing[0]
    assert "6 of 12 requested trials are finished" in told
    assert "saltus perturb table-6.1 --planner hilqr,convex_mpc,instant_qp --output" in told
    assert f"--output {sweep}`: it goes on" in told


def test_a_sweep_whose_rows_name_a_controller_is_refused_in_one_line(sweep, refused):
    change_rows(sweep, lambda rows: [
        {"controller" if key == "planner" else key: value for key, value in row.items()}
        for row in rows
    ])  # fmt: skip
    assert "run the sweep again" in refused("report", str(sweep))
