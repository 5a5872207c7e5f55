"""The supervisor on dummy processes: deaths are told, the order is kept, nobody is left behind."""

import math
import os
import signal
import sys
from pathlib import Path

import pytest

from saltus.common.processes import Child
from saltus.launch.supervisor import Supervisor
from tests.saltus.programs import wait_until

PREAMBLE = """
import signal, sys, time
def bye(*_):
    with open({diary!r}, "a") as diary:
        diary.write({name!r} + chr(10))
    sys.exit(0)
signal.signal(signal.SIGTERM, bye)
open({ready!r}, "w").close()
"""
SLEEP = "time.sleep(60)"


def child(folder, name, body=SLEEP):
    preamble = PREAMBLE.format(
        diary=str(folder / "diary"), name=name, ready=str(folder / f"{name}.ready")
    )
    return Child(name, [sys.executable, "-c", preamble + body], folder / f"{name}.log")


def ready(folder, *names):
    wait_until(lambda: all((folder / f"{name}.ready").exists() for name in names))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def test_death_is_told_with_its_cause(tmp_path):
    lines = []
    failing = child(tmp_path, "tracker", "print('no motors here'); sys.exit(3)")
    with Supervisor(
        [failing, child(tmp_path, "simulation")], "simulation", report=lines.append
    ) as supervisor:
        supervisor.start()
        wait_until(lambda: bool(supervisor.watch()))
        assert supervisor.has_fatal_death
    death = supervisor.deaths[0]
    assert (death.name, death.fatal) == ("tracker", True)
    assert "exit status 3" in death.cause and "no motors here" in death.cause
    assert len(lines) == 1 and "tracker died" in lines[0]


def test_launch_survives_the_death_of_one_that_is_expendable(tmp_path):
    names = ["planner", "simulation"]
    with Supervisor(
        [child(tmp_path, name) for name in names], "simulation", expendable=frozenset({"planner"})
    ) as supervisor:
        supervisor.start()
        ready(tmp_path, *names)
        os.kill(supervisor.children[0].pid, signal.SIGKILL)
        wait_until(lambda: bool(supervisor.watch()))
        assert supervisor.deaths[0].cause == "killed by SIGKILL"
        assert not supervisor.has_fatal_death and not supervisor.is_finished
        assert supervisor.children[1].status is None


def test_one_that_ignores_sigterm_is_killed(tmp_path):
    lines = []
    deaf = child(
        tmp_path,
        "planner",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open(" + repr(str(tmp_path / "deaf.ready")) + ", 'w').close()\n" + SLEEP,
    )
    with Supervisor([deaf], "simulation", grace_s=0.2, report=lines.append) as supervisor:
        supervisor.start()
        ready(tmp_path, "deaf")
    assert deaf.status == -signal.SIGKILL
    assert "planner hung" in lines[0] and "was killed" in lines[0]
    assert [(death.name, death.hung) for death in supervisor.deaths] == [("planner", True)]


def test_children_stop_when_an_error_leaves_the_block(tmp_path):
    supervisor = Supervisor([child(tmp_path, "planner")], "simulation")
    with pytest.raises(RuntimeError), supervisor:
        supervisor.start()
        ready(tmp_path, "planner")
        raise RuntimeError("the recorder broke")
    assert not alive(supervisor.children[0].pid)


def test_a_lasting_process_that_hangs_holds_no_launch_up_that_has_come_to_its_end(tmp_path):
    children = [child(tmp_path, "tracker", "time.sleep(0.1)"), child(tmp_path, "watchdog")]
    supervisor = Supervisor(
        children, finishing="tracker", lasting={"watchdog": math.inf}, grace_s=0.5
    )
    with supervisor:
        supervisor.start()
        ready(tmp_path, "watchdog")
        os.kill(children[1].pid, signal.SIGSTOP)
        wait_until(lambda: not supervisor.watch() and supervisor.is_finished)
    assert [death.name for death in supervisor.deaths] == ["watchdog"]
    assert not alive(children[1].pid)


def test_processes_end_in_order_and_lasting_ones_last_but_no_later_than_they_may(tmp_path):
    names = ["black_box", "watchdog", "planner", "estimator"]
    children = [child(tmp_path, name) for name in names]
    supervisor = Supervisor(
        children, finishing="tracker", lasting={"watchdog": math.inf, "black_box": 0.3},
        grace_s=0.3,
    )  # fmt: skip
    with supervisor:
        supervisor.start()
        ready(tmp_path, *names)
        os.kill(children[0].pid, signal.SIGSTOP)
    assert (tmp_path / "diary").read_text().split() == ["planner", "estimator", "watchdog"]
    assert not any(alive(each.pid) for each in children)
    assert [death.name for death in supervisor.deaths] == ["black_box"]
