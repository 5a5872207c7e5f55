"""Children run the code of their launcher, whatever lies in the current folder."""

import os
import sys
import time

import pytest

from saltus.common.processes import CODE, Child
from tests.saltus.programs import python


@pytest.mark.parametrize("name", ["queue", "controller", "saltus"])
def test_a_file_of_the_current_folder_is_no_module(tmp_path, monkeypatch, name):
    (tmp_path / f"{name}.py").write_text("raise RuntimeError('foreign code')")
    monkeypatch.chdir(tmp_path)
    program = "import queue, controller.planner_options, saltus.common.processes"
    child = Child("child", [sys.executable, "-c", program], tmp_path / "log")
    child.start()
    while child.status is None:
        time.sleep(0.01)
    assert child.status == 0, child.last_words()


@pytest.mark.parametrize("module", ["processes", "warmup"])
def test_another_code_than_the_launchers_is_refused(module):
    words = ["planner", "none.yaml", "sockets", "report", str(os.getpid())]
    words = words if module == "processes" else words[:2] + words[-1:]
    environment = os.environ | {"SALTUS_CODE": "0.0.1 in /elsewhere"}
    done = python("-m", f"saltus.launch.{module}", *words, status=1, env=environment)
    [line] = done.stderr.splitlines()
    assert "0.0.1 in /elsewhere" in line and CODE in line
