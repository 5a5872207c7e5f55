"""The server's file stands alone, in the language and with the packages of Isaac Gym's machine."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.key_files import make_key_files
from sim_bridge.isaac_gym import server

FILE = Path(server.__file__)
ALLOWED = {"numpy", "zmq", "msgpack", "isaacgym", "torch"}  # and the standard library


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import does not run alone"
            yield (node.module or "").partition(".")[0]


def test_it_imports_nothing_of_ours():
    names = set(imported(ast.parse(FILE.read_text())))
    assert {"numpy", "zmq", "msgpack", "isaacgym", "torch"} <= names
    assert names - ALLOWED <= set(sys.stdlib_module_names)


def test_copied_alone_it_says_what_is_missing_in_one_line(tmp_path):
    copy = tmp_path / "server.py"
    copy.write_bytes(FILE.read_bytes())
    urdf = tmp_path / "a1.urdf"
    links = "".join(f'<link name="{name}"/>' for name in ("trunk", *server.FEET))
    urdf.write_text(f'<robot name="a1">{links}</robot>')
    address = f"ipc://{tmp_path}/gym.ipc"
    command = [sys.executable, "-I", str(copy), "--urdf", str(urdf), "--address", address]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "isaacgym does not import" in done.stderr


@pytest.mark.parametrize(
    "arguments, named",
    [
        ([], "--urdf"),
        (["--urdf", "/nowhere/a1.urdf"], "/nowhere/a1.urdf"),
        (["--role", "robot", "--device", "gpu"], "cuda:N"),
        (["--role", "robot", "--device", "cpu", "--pipeline", "gpu"], "--pipeline"),
        (["--role", "robot", "--envs", "0"], "--envs"),
        (["--role", "robot", "--friction", "nan"], "--friction"),
        (["--role", "robot", "--check-period", "0"], "--check-period"),
        (["--role", "robot", "--address", "tcp://0.0.0.0:46211"], "--key-file"),
        (["--role", "robot", "--address", "udp://127.0.0.1:1"], "tcp://HOST:PORT"),
        (["--role", "robot", "--key-file", "/nowhere/key"], "/nowhere/key"),
    ],
)
def test_bad_options_are_one_line(arguments, named, capsys, monkeypatch):
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    assert server.main(arguments) == 2
    said = capsys.readouterr().err
    assert named in said and said.count("\n") == 1


def test_a_key_file_that_others_may_read_is_refused_with_the_remedy(tmp_path):
    file = tmp_path / "k"
    keys = make_key_files(file)
    assert server.read_secret(str(file)) == keys.secret
    file.chmod(0o644)
    with pytest.raises(server.Unusable, match=r"open to others \(mode 0644\): chmod 600 .*k$"):
        server.read_secret(str(file))


def test_it_is_python_38():
    source = FILE.read_text()
    ast.parse(source, feature_version=(3, 8))
    assert "from __future__ import annotations" in source
