"""`python -m tests.gpu`: its table and exit status, and the whole of it where no GPU is."""

import json
import os
import subprocess
import sys

import pytest

from tests import gpu


def dies(extent: gpu.Extent) -> list[gpu.Row]:
    os._exit(3)


def test_a_part_that_dies_is_a_failed_row():
    (row,) = gpu.rows_of(dies, gpu.CPU)
    assert (row.what, row.passed) == ("dies", False) and "BrokenProcessPool" in row.result


@pytest.mark.parametrize("passed", [True, False])
def test_the_exit_status_is_that_of_all_rows(passed, monkeypatch, capsys):
    pytest.importorskip("mujoco_warp")
    rows = [gpu.Row("one", passed, "as it is", 2.0, 4.0), gpu.Row("other", True, "well")]
    monkeypatch.setattr(gpu, "rows_of", lambda row, extent: [row])
    assert gpu.main(["--json"], rows) == (0 if passed else 1)
    *table, last = capsys.readouterr().out.splitlines()
    shown = json.loads(last)
    assert any("one" in line and "0.500" in line for line in table)
    assert [row["passed"] for row in shown["rows"]] == [passed, True]
    assert [row["ratio"] for row in shown["rows"]] == [0.5, None]
    assert shown["passed"] == passed and shown["warp"] and shown["device"]


@pytest.mark.slow
def test_the_whole_where_no_gpu_is():
    made = subprocess.run(
        [sys.executable, "-m", "tests.gpu", "--json"], cwd=gpu.ROOT, capture_output=True, text=True,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    shown = json.loads(made.stdout.splitlines()[-1])
    assert [row["what"].split()[0] for row in shown["rows"]] == [
        "conformance", "2", "4", "solve", "push"
    ]  # fmt: skip
    assert "CPU device" in made.stderr and all(row["passed"] for row in shown["rows"])
