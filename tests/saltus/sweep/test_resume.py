"""A sweep that was cut off goes on where it stopped, and never mixes with another one."""

import json
import os
import signal
import time

import pytest

from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest
from saltus.sweep import sweep
from saltus.sweep.folder import SweepDescription, SweepFolder
from saltus.sweep.running import Finished
from saltus.sweep.sweep import run_sweep
from tests.refusals import refusal
from tests.saltus.programs import start

STOPPED, BROKEN = KeyboardInterrupt(), RuntimeError("a leg\ncame off")
STOPPED_IN_COMPILED_CODE = SystemError("in compiled code")
STOPPED_IN_COMPILED_CODE.__cause__ = STOPPED


class Counting:
    """Stands in for what runs a trial: the one with the number `at` raises an error."""

    def __init__(self, at=-1, error=STOPPED):
        self.ran, self.at, self.error = [], at, error

    def __call__(self, trial):
        number = trial.labels["trial"]
        if number == self.at:
            raise self.error
        self.ran.append(number)
        row = {"fell": False, "max_lateral_deviation_m": 0.1 * number, "solve_ms_p50": 1.0}
        return Finished(trial.labels | row | {"group": "", "seed": 0, "solve_ms_p99": 2.0}, None)


@pytest.fixture
def go_on(request_of):
    """Runs a sweep on to its end, where these trials are left; gives its rows."""

    def run_on(trials):
        again = Counting()
        result = run_sweep(request_of(), again)
        assert (again.ran, numbers(result)) == (trials, list(range(6)))
        assert not (result.interrupted or result.missing)
        return result.rows

    return run_on


def numbers(result):
    return [row["trial"] for row in result.rows]


@pytest.mark.parametrize("error", [STOPPED, STOPPED_IN_COMPILED_CODE])
def test_interrupted_sweep_goes_on_and_ends_as_one_that_was_not(request_of, tmp_path, error, go_on):
    result = run_sweep(request_of(), Counting(3, error))
    assert (result.interrupted, numbers(result), result.missing) == (True, [0, 1, 2], 3)
    rows = go_on([3, 4, 5])
    assert run_sweep(request_of(output=tmp_path / "whole"), Counting()).rows == rows == go_on([])


@pytest.mark.parametrize("torn", [b'{"planner":"hilqr","tri', b"\0\0\0\0\n"])
def test_torn_last_line_is_dropped_and_its_trial_repeated(request_of, tmp_path, torn, go_on):
    run_sweep(request_of(), Counting(4))
    rows = tmp_path / "sweep" / "rows.jsonl"
    lines = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(lines[:3]) + torn)
    go_on([3, 4, 5])
    assert [json.loads(line)["trial"] for line in rows.read_text().splitlines()] == list(range(6))


@pytest.mark.parametrize("damage", [b"\0\0\0\n", b"{}\n", b"17\n"])
def test_damage_before_good_rows_is_named_and_loses_none_of_them(
    request_of, tmp_path, damage, go_on
):
    run_sweep(request_of(), Counting(4))
    rows = tmp_path / "sweep" / "rows.jsonl"
    first, _, *rest = rows.read_bytes().splitlines(keepends=True)
    damaged = b"".join([first, damage, *rest])
    rows.write_bytes(damaged)
    assert "line 2 of rows.jsonl" in refusal(BadRequest, run_sweep, request_of(), Counting())
    assert rows.read_bytes() == damaged
    rows.write_bytes(first + b"".join(rest))
    go_on([1, 4, 5])


def test_broken_trial_is_told_and_the_others_run(request_of, capsys, go_on):
    result = run_sweep(request_of(), Counting(2, BROKEN))
    assert numbers(result) == [0, 1, 3, 4, 5] and result.missing == 1
    assert "trial 2 of hilqr failed: RuntimeError: a leg came off" in capsys.readouterr().err
    go_on([2])


def test_parts_of_one_sweep_and_other_planners_share_a_folder(request_of, suite):
    run_sweep(request_of(trials=(4,)), Counting())
    assert numbers(run_sweep(request_of(trials=(1, 4)), Counting())) == [1, 4]
    both = run_sweep(request_of(planners=("convex_mpc",), trials=(1,)), Counting())
    assert [row["planner"] for row in both.rows] == ["convex_mpc"]
    about = json.loads((suite.parent / "sweep" / "sweep.json").read_text())
    assert about["trials"] == {"hilqr": [1, 4], "convex_mpc": [1]}
    assert about["suite_text"] == suite.read_text()


@pytest.mark.parametrize("change", ["suite", "settings", "code"])
def test_another_sweep_is_refused(request_of, suite, monkeypatch, change):
    run_sweep(request_of(), Counting())
    settings = ("duration=2",) if change == "settings" else ()
    if change == "suite":
        suite.write_text(suite.read_text().replace("0.3", "0.4"))
    if change == "code":
        monkeypatch.setattr(sweep, "code_version", lambda _: "other")
    with pytest.raises(BadRequest):
        run_sweep(request_of(settings=settings), Counting())


def test_folder_of_something_else_or_in_use_is_refused(request_of, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("held out")
    with pytest.raises(BadRequest):
        run_sweep(request_of(output=tmp_path / "full"), Counting())
    folder = SweepFolder(tmp_path / "used", SweepDescription(mode="paused"))
    before = (tmp_path / "used" / "sweep.json").read_bytes()
    with pytest.raises(BadRequest):
        SweepFolder(tmp_path / "used", SweepDescription(trials={"convex_mpc": [0]}))
    assert (tmp_path / "used" / "sweep.json").read_bytes() == before
    folder.close()
    SweepFolder(tmp_path / "used", SweepDescription(mode="paused")).close()


def test_a_disk_that_fills_up_keeps_what_is_done_and_the_sweep_goes_on(
    request_of, tmp_path, capsys, room_for, go_on
):
    about = run_sweep(request_of(output=tmp_path / "one", trials=(0,)), Counting()).folder
    row = (about / "rows.jsonl").stat().st_size
    (tmp_path / "sweep").mkdir()
    capsys.readouterr()
    with room_for(max(2 * row + row // 2, (about / "sweep.json").stat().st_size)):
        result = run_sweep(request_of(), Counting())
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines == [f"the sweep stopped: {tmp_path / 'sweep'}: File too large"]
    kept = (tmp_path / "sweep" / "rows.jsonl").read_text()
    done = [json.loads(line)["trial"] for line in kept.splitlines()]
    assert done == numbers(result) == list(range(len(done))) and 2 <= len(done) < 6
    assert result.missing == 6 - len(done) and kept.endswith("\n") and not result.interrupted
    go_on(list(range(len(done), 6)))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_is_no_traceback_and_status_130(tmp_path, jobs):
    """A terminal sends it to every process of the group, whatever each is doing then."""
    suite = "{reference: stand, duration: 600, trials: {kind: motor_block, at: [1, 2, 3], for: 1}}"
    (tmp_path / "suite.yaml").write_text(suite)
    process = start(
        "perturb", str(tmp_path / "suite.yaml"), "--jobs", jobs, "--output",
        str(tmp_path / "sweep"), start_new_session=True,
    )  # fmt: skip
    try:
        while not (tmp_path / "sweep" / "sweep.json").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.5)  # while workers are importing
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "Traceback" not in told and "KeyboardInterrupt" not in told
    assert "3 trials are not finished; go on with: saltus perturb" in told.splitlines()[-1]


def test_interrupted_command_says_how_to_go_on(request_of, suite, monkeypatch, capsys):
    monkeypatch.setattr(sweep, "run_paused", Counting(1))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    folder = suite.with_name("sweep")
    arguments = f"""
        perturb {suite} --jobs 1 --output {folder} --json --set hilqr.knots=40
        --trial 0 --trial 1 --trial 5
    """.split()
    assert command_line(arguments) == 130
    captured = capsys.readouterr()
    assert [row["trial"] for row in json.loads(captured.out)["rows"]] == [0]
    rest = captured.err.split("go on with: ")[1].split()
    assert (
        rest
        == f"""
        saltus perturb {suite} --planner hilqr --mode paused --jobs 1
        --trial 0 --trial 1 --trial 5 --set hilqr.knots=40 --output {folder}
    """.split()
    )
    more = [*arguments, "--planner", "hilqr,instant_qp"]
    assert command_line(more) == 130
    assert "--planner hilqr,instant_qp --mode" in capsys.readouterr().err
    monkeypatch.setattr(sweep, "run_paused", Counting(5, BROKEN))
    assert command_line(arguments) == 1
    monkeypatch.setattr(sweep, "run_paused", Counting())
    assert command_line(rest[1:]) == 0
