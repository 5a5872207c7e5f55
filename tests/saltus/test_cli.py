"""A bad request is one line on standard error that names what is accepted, and exit status 2."""

import subprocess
import sys

import pytest
import typer

from saltus.cli import app, run
from saltus.configuration import ESTIMATORS


def refused(capsys, *arguments: str) -> str:
    """The one line that a bad command line gives; nothing may come on standard output."""
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    return lines[0]


@pytest.mark.parametrize(("arguments", "accepted"), [
    (["fly"], ["launch", "perturb", "bench", "doctor"]),
    (["launch"], ["--duration", "--record"]),
    (["launch", "sim", "--durations", "3"], ["--durations", "--duration", "--mode", "--set"]),
    (["launch", "sim", "--mode", "fast"], ["paused", "realtime"]),
    (["launch", "sim", "--duration", "long"], ["--duration"]),
    (["launch", "sim", "--duration", "-1"], ["seconds > 0"]),
    (["launch", "moon"], ["sim", "push", "stand", "trot"]),
    (["launch", "nowhere.yaml"], ["nowhere.yaml", "sim"]),
    (["launch", "sim", "--set", "durations=3"], ["durations", "duration", "reference"]),
    (["launch", "sim", "--set", "hilqr.knotz=3"], ["hilqr.knotz", "knots", "iterations"]),
    (["launch", "sim", "--set", "hilqr.cost.base=3"], ["accepted in hilqr.cost"]),
    (["launch", "sim", "--set", "hilqr.knots=many"], ["int", "hilqr.knots"]),
    (["launch", "sim", "--set", "duration"], ["KEY=VALUE"]),
    (["launch", "sim", "--set", "duration.x=1"], ["duration is a value"]),
    (["launch", "sim", "--set", "planner=magic"], ["hilqr"]),
    (["launch", "sim", "--set", "reference=gallop"], ["stand", "walk", "trot"]),
    (["launch", "sim", "--set", "perturbations=[{kind: kick}]"], ["base_velocity", "motor_block"]),
    (["launch", "sim", "--set", "simulation.timestep=0.0007"], ["timestep"]),
    (["launch", "sim", "--set", "leg_odometry.gravity=-1"], ["gravity"]),
    (["launch", "sim", "--set", "estimator=kalman"], ["kalman", *ESTIMATORS]),
    (["launch", "sim", "--set", "estimator.huber=3"], ["leg_odometry.huber"]),
    (["launch", "sim", "--set", "estimator={huber: 3}"], ["leg_odometry.huber"]),
    (["launch", "sim", "--set", "leg_odometry.hub=3"], ["leg_odometry.hub", "huber"]),
    (["launch", "sim", "--set", "duration=.nan"], ["duration is nan"]),
    (["launch", "sim", "--set", "duration=1e-9"], ["seconds > 0"]),
    (["launch", "sim", "--set", "command.velocity_x=.inf"], ["command.velocity_x is inf"]),
    (["launch", "sim", "--set", "instant_qp.feedback.velocity_kd=[1, .nan, 1]"],
     ["velocity_kd", "instant_qp.feedback", "finite"]),
    (["launch", "sim", "--set", "planner=instant_qp", "--set", "instant_qp.period=0.0004"],
     ["period is 0.0004", "0.001"]),
    (["launch", "sim", "--set", f"duration={'[' * 100_000}"], ["nested more than 40"]),
    (["launch", "x" * 5000], ["sim", "push"]),
    (["launch", "sim", "--set", f"reference={'x' * 5000}"], ["stand", "walk", "trot"]),
    (["perturb", "x" * 5000], ["push-stand", "push-walk"]),
    (["perturb", "push-moon"], ["push-stand", "push-walk"]),
    (["perturb", "push-stand", "--controller", "pid"], ["hilqr", "all"]),
    (["perturb", "push-stand", "--trial", "2"], ["trials 0 to 1"]),
    (["perturb", "push-stand", "--group", "left"], ["left", "no groups"]),
    (["perturb", "push-stand", "--backend", "slurm"], ["slurm", "loky", "dask"]),
    (["perturb", "push-stand", "--set", "planner=hilqr"], ["--controller"]),
    (["perturb", "push-stand", "--set", "estimator=kalman"], ["kalman", *ESTIMATORS]),
    (["perturb", "push-stand", "--set", "estimator.huber=3"], ["leg_odometry.huber"]),
    (["perturb", "push-stand", "--set", "durations=3"], ["durations", "duration"]),
    (["perturb", "push-stand", "--scheduler", "tcp://127.0.0.1:9"], ["--backend dask"]),
    (["perturb", "push-stand", "--jobs", "0"], ["--jobs"]),
    (["perturb", "push-stand", "--mode", "realtime", "--jobs", "2"], ["--jobs"]),
    (["bench", "coffee"], ["planner"]),
    (["doctor", "--fix"], ["--fix", "--json"]),
])  # fmt: skip
def test_bad_request_names_what_is_accepted(capsys, arguments, accepted):
    line = refused(capsys, *arguments)
    assert line.startswith("saltus: ")
    for word in accepted:
        assert word in line


def test_launch_file_that_is_no_mapping(capsys, tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("- walk\n")
    assert "no mapping" in refused(capsys, "launch", str(path))


def test_launch_file_that_is_no_yaml(capsys, tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("mode: [paused\nduration: }\n")
    assert "not YAML" in refused(capsys, "launch", str(path))


def test_suite_with_an_unknown_key(capsys, tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text("reference: stand\nduration: 1.0\nrepeats: 3\ntrials: []\n")
    line = refused(capsys, "perturb", str(path))
    assert "repeats" in line and "trials" in line


def test_recording_over_a_run_is_refused(capsys, tmp_path):
    (tmp_path / "run.mcap").touch()
    assert "holds a run already" in refused(capsys, "launch", "stand", "--record", str(tmp_path))


def test_the_script_itself_exits_with_2_and_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "saltus.cli", "launch", "moon"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_help_is_no_error(capsys):
    assert run(["--help"]) == 0
    assert "perturb" in capsys.readouterr().out


def test_help_shows_all_of_its_text():
    """Help is read as markup: what stands in square brackets would vanish."""
    commands = typer.main.get_command(app).commands
    texts = {f"{name} {parameter.name}": parameter.help or ""
             for name, command in commands.items() for parameter in command.params}  # fmt: skip
    assert len(texts) > 20
    assert not {name: text for name, text in texts.items() if "[" in text}
