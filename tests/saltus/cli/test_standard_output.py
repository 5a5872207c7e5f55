"""Standard output that takes nothing, or not every character, costs a line and no file."""

import os
import subprocess
import sys

import pytest

PROGRAM = f"exec {sys.executable} -m saltus.cli.main config sim "


def run(redirection, **variables):
    return subprocess.run(
        ["sh", "-c", PROGRAM + redirection], capture_output=True, env=os.environ | variables
    )


@pytest.mark.parametrize(
    "redirection, problem", [(">&-", "it is closed"), ("> /dev/full", "No space left on device")]
)
def test_output_that_is_lost_is_one_line(redirection, problem):
    done = run(redirection)
    line = f"saltus: standard output: {problem}; what was printed is lost\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", line)


def test_a_pipe_whose_reader_has_gone_is_one_line():
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(["sh", "-c", PROGRAM], stdout=writes, stderr=subprocess.PIPE)
    os.close(writes)
    assert done.returncode == 1
    assert done.stderr == b"saltus: standard output: Broken pipe; what was printed is lost\n"


def test_characters_that_cannot_be_encoded_are_escaped():
    done = run("bus --set bus.folder=ü", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\xfc" in done.stdout
