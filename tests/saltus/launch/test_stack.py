"""The whole stack in its processes: it repeats to the bit, survives its planner, leaves nothing."""

import json
import os
import signal
from pathlib import Path

import pytest

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.recording import read_recording
from runtime.topics import PLAN
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from tests.saltus import programs
from tests.saltus.programs import wait_until

PUSH = "perturbations=[{kind: base_velocity, at: 0.1, value: [0, 0.4, 0]}]"
SHORT = ["--set", PUSH, "--duration", "0.3"]


def start(folder, *arguments):
    """`saltus` with a temporary folder of its own, so that what it leaves there can be seen.

    Its name is short: the path of a socket has at most 107 characters.
    """
    (folder / "t").mkdir()
    return programs.start(*arguments, environment={"TMPDIR": str(folder / "t")})


def children(folder):
    """Process ids by name of the launch that runs in `folder`."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        if "saltus.launch.processes" in words and any(str(folder) in word for word in words):
            found[words[words.index("saltus.launch.processes") + 1]] = int(entry.name)
    return found


def sockets(folder):
    return list((folder / "t").rglob("*.ipc"))


def moving(folder):
    """The recorder has written something: messages flow."""
    recording = folder / "run" / "run.mcap"
    return recording.exists() and recording.stat().st_size > 20_000


@pytest.mark.parametrize(
    "timing",
    [pytest.param([], marks=pytest.mark.slow), ["timing.solve=0.025", "timing.estimate=0.002"]],
)
def test_lock_step_in_processes(tmp_path, timing):
    settings = [word for assignment in timing for word in ("--set", assignment)]
    launch = start(
        tmp_path, "launch", "stand", *SHORT, *settings, "--set", "recording.plans=all",
        "--json", "--record", str(tmp_path / "run"),
    )  # fmt: skip
    out, err = launch.communicate(timeout=300)
    assert launch.returncode == 0, err
    summary = json.loads(out.splitlines()[-1])
    truths = {}
    one = LockStep(load_launch("stand", [PUSH, *timing], duration=0.3))
    plans = {}
    searches = {}

    def keep(tick):
        truths[tick.truth.tick] = tick.truth.q.tolist()
        plans.update({tick.plan.tick: tick.plan} if tick.plan else {})
        searches.update({tick.search.tick: tick.search} if tick.search else {})

    metrics = one.run(keep)
    messages = list(read_recording(tmp_path / "run" / "run.mcap"))
    recorded = {m.tick: m.q.tolist() for topic, m in messages if topic == "ground_truth"}
    assert summary["simulated_s"] == 0.3 and not summary["fell"]
    assert {tick: recorded[tick] for tick in truths} == truths  # to the last bit
    assert sum(topic == "state_covariance" for topic, _ in messages) == 16
    assert list(plans) == list(range(0, 273, 25) if timing else range(0, 300, 10))
    assert len(searches) >= 3  # a solve may search no line
    for topic, own in (("line_search", searches), ("plan", plans)):
        sent = {m.tick: m for name, m in messages if name == topic}
        assert {tick: sent[tick] for tick in own} == own
    assert summary["max_lateral_deviation_m"] == metrics.max_lateral_deviation > 0.005
    assert summary["ok"] and summary["problems"] == []
    assert not list((tmp_path / "t").iterdir())


@pytest.mark.parametrize(
    "mode, stop",
    [("paused", signal.SIGTERM),
     pytest.param("realtime", signal.SIGINT, marks=pytest.mark.quiet)],
)  # fmt: skip
def test_killed_planner_is_told_and_the_robot_goes_on_until_it_is_stopped(tmp_path, mode, stop):
    run = tmp_path / "run"
    launch = start(
        tmp_path, "launch", "stand", "--mode", mode, "--duration", "100", "--record", str(run)
    )
    wait_until(lambda: moving(tmp_path))
    before = children(tmp_path)
    assert set(before) == {"planner", "estimator", "tracker", "simulation"}
    os.kill(before["planner"], signal.SIGKILL)
    wait_until(lambda: "stand_down" in (run / "logs/tracker.log").read_text())
    wait_until(lambda: set(children(tmp_path)) == {"estimator", "tracker", "simulation"})

    launch.send_signal(stop)
    out, err = launch.communicate(timeout=300)
    assert launch.returncode == 130
    assert "planner died (killed by SIGKILL" in err
    assert out.startswith("FAILED     The planner died")
    summary = json.loads((run / "summary.json").read_text())
    assert not (summary["fell"] or summary["ok"])
    assert "interrupted" in [problem["what"] for problem in summary["problems"]]
    assert {path.stem for path in (run / "logs").iterdir()} == set(before)
    report = json.loads((run / "reports" / "tracker.json").read_text())
    assert report["commands"]["stand_down"] > 0 and report["errors"] == 0
    assert children(tmp_path) == {} and not list((tmp_path / "t").iterdir())


def test_killed_supervisor_leaves_no_process_and_no_socket(tmp_path):
    launch = start(tmp_path, "launch", "stand", "--duration", "100")
    wait_until(lambda: len(children(tmp_path)) == 4 and len(sockets(tmp_path)) >= 6)
    launch.kill()
    launch.communicate()
    wait_until(lambda: children(tmp_path) == {})
    assert sockets(tmp_path) == []


def test_occupied_endpoint_is_one_line_and_nothing_starts(tmp_path, refused):
    folder = tmp_path / "bus"
    with Bus(Endpoints.ipc(folder)) as bus:
        bus.publisher(PLAN)
        line = refused("launch", "stand", "--set", f"bus={{transport: ipc, folder: {folder}}}")
    assert "occupied" in line and children(tmp_path) == {}


def test_lost_tracker_ends_the_launch(tmp_path):
    launch = start(tmp_path, "launch", "stand", "--duration", "100", "--json")
    wait_until(lambda: "tracker" in children(tmp_path))
    os.kill(children(tmp_path)["tracker"], signal.SIGKILL)
    _, err = launch.communicate(timeout=300)
    assert launch.returncode == 1
    assert "tracker died (killed by SIGKILL); stopping the others" in err
    assert children(tmp_path) == {} and not list((tmp_path / "t").iterdir())
