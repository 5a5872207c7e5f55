"""`saltus config`: every key with unit and source, in a terminal, piped, as JSON and as a page."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from saltus.cli import options as completion
from saltus.cli.main import run
from saltus.configuration.keys import keys_of, text_of, values_of
from saltus.configuration.launch import load_launch
from saltus.launch.plugins import load_module
from tests.saltus.programs import python

COMMAND = [sys.executable, "-m", "saltus.cli.main", "config"]
PAGE = Path(__file__).parents[3] / "docs" / "keys.md"
tables = load_module(str(PAGE.with_name("tables.py")), "docs/tables.py")
NUMERICS = ["numba", "mujoco", "pinocchio", "scipy", "zmq", "viser", "matplotlib"]


def test_config_push_lists_every_key_on_a_line_with_its_unit(capsys):
    assert run(["config", "push"]) == 0
    lines = capsys.readouterr().out.splitlines()
    keys = {key.key: key for key in keys_of()}
    assert len(lines) == len(values_of(load_launch("push"))) == len(keys) - 1 > 400
    for line in lines:
        name = line.split()[0]
        unit = keys[name].unit
        assert unit == "-" or keys[name].default is None or f" {unit} " in line, line
        assert line.endswith(keys[name].description) and keys[name].description


def test_what_each_key_says_of_itself(printed):
    options = "--set command.velocity_x=0.3 --duration 2 --planner hilqr"
    found = printed("config", "push", *options.split())
    keys = {each["key"]: each for each in found["keys"]}
    assert found["launch"].endswith("push.yaml") and found["warnings"] == []
    speed = keys["command.velocity_x"]
    assert (speed["value"], speed["default"], speed["unit"]) == (0.3, 0.0, "m/s")
    assert speed["range"] == {"least": -5.0, "most": 5.0, "least_accepted": True}
    assert speed["effect"] and speed["description"]
    sources = {"command.velocity_x": "--set", "duration": "--duration", "planner": "--planner",
               "reference": "file", "hilqr.knots": "default", "perturbations": "file"}  # fmt: skip
    assert {key: keys[key]["source"] for key in sources} == sources
    assert keys["mode"]["choices"] == ["paused", "realtime"]
    assert not keys["warp.device"]["effect"] and keys["warp.device"]["reason"]
    assert keys["perturbations"]["value"][0]["kind"] == "base_velocity"


def test_a_script_is_one_key_and_a_speed_another(printed):
    script = [each["key"] for each in printed("config", "drive", "command")["keys"]]
    speed = [each["key"] for each in printed("config", "sim", "command")["keys"]]
    assert (script, speed) == (["command"], ["command.velocity_x"])


def test_diff_prints_what_differs_from_the_defaults_alone(printed):
    settings = ["--set", "hilqr.knots=50", "--set", "simulation.seed=3"]  # 50 is the default
    found = printed("config", "stand", "--diff", *settings)["keys"]
    assert [each["key"] for each in found] == ["duration", "reference", "simulation.seed"]
    everything = printed("config", "stand", *settings)["keys"]
    assert [each for each in everything if each["value"] != each["default"]] == found


def test_a_section_or_a_key_alone(printed):
    cost = [each["key"] for each in printed("config", "sim", "hilqr.cost")["keys"]]
    assert cost == [key.key for key in keys_of() if key.key.startswith("hilqr.cost.")] != []
    (knots,) = printed("config", "sim", "hilqr.knots")["keys"]
    assert knots["key"] == "hilqr.knots"
    assert {"hilqr.cost", "mode"} <= set(completion.keys())


def test_warnings_go_to_standard_error_and_into_the_json(capsys, printed):
    arguments = ["config", "stand", "--set", "command.velocity_x=0.3"]
    line = "command.velocity_x has no effect: reference stand takes no speed"
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == f"warning: {line}\n" and "no effect: reference stand" in captured.out
    assert printed(*arguments)["warnings"] == [line]


def test_a_printed_value_reads_back_as_it_is():
    config = load_launch("drive", ["simulation.sensors.yaw_drift=-1.5e-7"])
    settings = [f"{key}={text_of(value)}" for key, value in values_of(config).items()
                if value is not None]  # fmt: skip
    assert load_launch("drive", settings) == config


def test_it_loads_no_numerics():
    code = f"""
import sys
from saltus.cli.main import run
assert run(["config", "push"]) == 0
print([name for name in {NUMERICS} if name in sys.modules], file=sys.stderr)
"""
    done = python("-c", code)
    assert done.stderr.strip() == "[]" and "hilqr.knots" in done.stdout


@pytest.mark.parametrize("columns", [80, 50])
def test_in_a_terminal_no_line_is_wider_than_it(columns):
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(columns), "LINES": "40", "TERM": "dumb", "NO_COLOR": "1"}
    with subprocess.Popen([*COMMAND, "push"], stdout=theirs, env=os.environ | size) as process:
        os.close(theirs)
        text = ""
        while part := read(ours):
            text += part
    os.close(ours)
    assert process.returncode == 0
    lines = text.splitlines()
    assert max(map(len, lines)) <= columns
    (value,) = [line for line in lines if line.startswith("hilqr.cost.base_position ")]
    assert value.split(maxsplit=1)[1].startswith("[40, 40, 150]")
    assert "length of the horizon." in " ".join(text.split())


def read(terminal):
    try:
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:  # the other end is closed
        return ""


def test_the_page_of_all_keys_is_what_the_code_generates():
    """Generate it again: `python docs/tables.py`."""
    page = tables.keys_page()
    assert PAGE.read_text() == page
    named = re.findall(r"^- `([^`]+)` \(", page, re.M)
    for start, kinds, end in re.findall(r"^- `(.+)\[([^`\]]+, .+)\](.*)` \(", page, re.M):
        named += [f"{start}[{kind}]{end}" for kind in kinds.split(", ")]
    for section, like in re.findall(r"^- `(.+)`: the keys of `([^`]+)`", page, re.M):
        named += [key.replace(like, section, 1) for key in named if re.match(rf"{like}[.]", key)]
    assert {key.key for key in (*keys_of(), *tables.element_keys())} <= set(named)
    assert "`perturbations[base_force].for`" in page and "`command[].gait`" in page
