"""A bad request is one line on standard error that names what is accepted, and exit status 2."""

import importlib
import os
from importlib.metadata import version

import pytest
import typer

from saltus.bench.catalogue import BENCHMARKS
from saltus.cli import options as completion
from saltus.cli.app import app
from saltus.cli.main import run
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch
from saltus.configuration.planners import ESTIMATORS, PLANNERS
from tests.refusals import refusal
from tests.saltus.programs import python
from tests.tables import table


@pytest.mark.parametrize("command, accepted", [
    *table("""
    fly => launch | perturb | bench | doctor
    launch => --duration | --record
    launch sim --durations 3 => --durations | --duration | --mode | --set
    launch sim --mode fast => paused | realtime
    launch sim --duration -1 => duration is -1; give 0.001 to 1000000 s
    launch moon => sim | push | stand | trot
    launch sim --set hilqr.knots=many => int | hilqr.knots
    launch sim --set duration => KEY=VALUE
    launch sim --set reference=gallop => stand | walk | trot
    launch sim --set hilqr.cost.base_velocity=-1 \
        => hilqr.cost.base_velocity is -1; give 0 to 1000000 s^2/m^2
    launch sim --set 'command=[{at: 0, velocity_x: 1e+6}]' \
        => command[0].velocity_x is 1000000; give -5 to 5 m/s
    launch sim --set 'instant_qp.feedback.velocity_kd=[1, .nan, 1]' \
        => instant_qp.feedback.velocity_kd is nan; give 0 to
    launch sim --set planner=instant_qp --set instant_qp.period=0.0004 => period is 0.0004 | 0.001
    launch puhs => did you mean push;
    launch sim --set friction=0.3 => did you mean | simulation.friction;
    launch sim --set terrain=hills.yaml => accepted: flat or a list
    launch sim --set command.velocity_x=5 => command.velocity_x is 5; a walk takes -0.5 to 0.5 m/s
    perturb push-moon => push-stand | push-walk
    perturb push-stand --planner pid => hilqr | all
    perturb push-stand --trial 2 => trials 0 to 1
    perturb push-stand --group left => left | no groups
    perturb push-stand --set planner=hilqr => --planner
    perturb push-stand --jobs 0 => --jobs
    perturb push-stand --mode realtime --jobs 2 => --jobs
    bench coffee => planner
    doctor --fix => --fix | --json
    perturb push-stand --backend dask => --backend | --jobs
    launch sim --read-only => need a real or emulated robot
    config => sim | push
    config sim --diffs => --diff
    config sim mod => connection, mode
    score --only colour => colour
    score --accept 'cost: tick' => --accept
    soak --hours nan => than or equal to
    """),
    ("launch sim --set estimator=kalman", "kalman | " + " | ".join(ESTIMATORS)),
    ("launch " + "x" * 5000, "sim | push"),
    ("config sim hilqr.cos", "accepted in hilqr: knots, "),
])  # fmt: skip
def test_bad_request_names_what_is_accepted(refuses, command, accepted):
    assert refuses(command, accepted).startswith("saltus: ")


def test_launch_file_that_is_no_yaml(refused, tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("mode: [paused\nduration: }\n")
    assert "not YAML" in refused("launch", str(path))


def test_recording_over_a_run_is_refused(refused, tmp_path):
    (tmp_path / "run.mcap").touch()
    assert "holds a run already" in refused("launch", "stand", "--record", str(tmp_path))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_modules_load_ends_without_a_word(name):
    program = f"""if True:
        import os, signal, sys
        if "{name}" != "SIGINT":  # nohup has one of them ignored
            signal.signal(signal.{name}, signal.SIG_DFL)
        from saltus.cli.main import main
        class Finder:
            def find_spec(self, module, *_):
                if module == "typer":
                    os.kill(os.getpid(), signal.{name})
        sys.meta_path.insert(0, Finder())
        main()
        """
    done = python("-c", program, status=130)
    assert done.stdout == done.stderr == ""


def test_version_is_that_of_the_package(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr() == (f"saltus {version('saltus')}\n", "")


def test_without_a_name_the_benches_are_listed(capsys, printed):
    assert run(["bench"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(BENCHMARKS)
    assert all(words in line for line, words in zip(lines, BENCHMARKS.values(), strict=True))
    assert set(printed("bench")["benches"]) == set(BENCHMARKS)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_bench_is_in_the_module_of_its_name(name):
    assert callable(importlib.import_module(f"saltus.bench.{name}").run)


@pytest.mark.parametrize("words, offered", [
    ("saltus pert", ["perturb"]),
    ("saltus launch pus", ["push"]),
    ("saltus perturb table", ["table-6.1", "table-6.2", "table-backflip"]),
    ("saltus perturb table-6.1 --planner ", [*PLANNERS, "all"]),
    ("saltus launch sim --planner c", ["convex_mpc"]),
    ("saltus study zeno", ["zeno-block"]),
    ("saltus bench ti", ["tick"]),
    ("saltus doctor a1-e", ["a1-emulated"]),
    ("saltus launch sim --set hilqr.cost.base_p", ["hilqr.cost.base_position="]),
    ("saltus launch sim --set mode=r", ["mode=realtime"]),
    ("saltus config sim hilqr.cost.base_p", ["hilqr.cost.base_position"]),
    ("saltus perturb table-6.1 --planner mppi,", [f"mppi,{n}" for n in PLANNERS if n != "mppi"]),
])  # fmt: skip
def test_the_shell_completes(words, offered):
    asked = {"_SALTUS_COMPLETE": "complete_bash", "COMP_WORDS": words,
             "COMP_CWORD": str(len(words.split(" ")) - 1)}  # fmt: skip
    done = python("-m", "saltus.cli.main", env=os.environ | asked)
    assert done.stdout.split() == offered


def test_completion_of_values_and_files(tmp_path, monkeypatch):
    assert completion.assignments("estimator=") == [f"estimator={name}" for name in ESTIMATORS]
    assert completion.assignments("nothing=") == []
    for key in set(completion.assignments("")) - {"plugin.values="}:  # where any key may stand
        line = refusal(BadRequest, load_launch, "sim", [f"{key}{{no_such_key: 1}}"])
        assert "unknown key" not in line or "no_such_key" in line
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "other.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert completion.launch_names("mi")[-1] == "mine.yaml"
    assert completion.suite_names(f"{tmp_path}/")[-1] == f"{tmp_path}/mine.yaml"


def test_help_shows_all_of_its_text():
    """Help is read as markup: what stands in square brackets would vanish."""
    commands = typer.main.get_command(app).commands
    texts = {f"{name} {parameter.name}": parameter.help or ""
             for name, command in commands.items() for parameter in command.params}  # fmt: skip
    assert len(texts) > 20
    assert not {name: text for name, text in texts.items() if "[" in text}


def test_a_compiled_file_that_a_full_disk_cut_is_named(capsys, monkeypatch):
    def load(*_, **__):
        raise EOFError("marshal data too short")

    monkeypatch.setattr("saltus.configuration.launch.read_launch", load)
    assert run(["config", "push"]) == 2
    err = capsys.readouterr().err.strip()
    assert "__pycache__" in err and "\n" not in err
