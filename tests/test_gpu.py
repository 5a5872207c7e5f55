"""`python -m tests.gpu`: its table and exit status, and the whole of it where no GPU is."""

import json
import os
import subprocess
import sys

import pytest

from tests import gpu


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
