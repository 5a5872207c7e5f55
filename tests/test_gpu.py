"""`python -m tests.gpu`: its table and exit status, and the whole of it where no GPU is."""

import json
import os

import pytest

from tests.saltus.programs import python


@pytest.mark.slow
def test_the_whole_where_no_gpu_is():
    made = python("-m", "tests.gpu", "--json", env=os.environ | {"CUDA_VISIBLE_DEVICES": ""})
    shown = json.loads(made.stdout.splitlines()[-1])
    names = [row["what"].split()[0] for row in shown["rows"]]
    assert names == ["conformance", "2", "4", "solve", "push"]
    assert "CPU device" in made.stderr and all(row["passed"] for row in shown["rows"])
