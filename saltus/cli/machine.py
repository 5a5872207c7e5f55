"""``saltus doctor``, ``serve``, ``bridge``, ``robot``: this machine, others, robots."""

import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from saltus.cli.look import ProcessOption, find_launch
from saltus.cli.options import JsonOption, SetOption, documented, launch_names
from saltus.common.console import Fact, print_facts, print_json, say
from saltus.common.errors import BadRequest
from sim_bridge.options import SERVER_ADDRESS

if TYPE_CHECKING:
    from saltus.common.criterion import Check


def doctor(
    name_or_file: Annotated[str | None, typer.Argument(autocompletion=launch_names)] = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Check this machine, or a robot and its link; exit status 0: nothing essential is missing.

    Args:
        name_or_file: A launch on a robot, such as a1: check the robot too, without torque.
    """
    if name_or_file is None:
        if assignments:
            raise BadRequest("--set is for a launch on a robot: give its name, as in `doctor a1`")
        from saltus.doctor.checks import run_checks  # slow to load: it tries every dependency

        checks, measured = run_checks(), None
    else:
        from saltus.configuration.launch import load_launch
        from saltus.doctor.robot import examine

        checks, measured = examine(load_launch(name_or_file, assignments or ()))
    ok = all(check.ok for check in checks if check.essential)
    if json:
        robot = {} if measured is None else {"measured": measured}
        print_json({"ok": ok, "checks": [check._asdict() for check in checks]} | robot)
    else:
        print_facts(_facts(checks))
    return 0 if ok else 1


def _facts(checks: Sequence["Check"], name: str = "") -> list[Fact]:
    """The verdict, then every check, those that failed first."""
    labels = ("FAILED", "WARNING", "ok")  # in this order
    grade = {check.check: 2 if check.ok else 0 if check.essential else 1 for check in checks}
    lines = sorted(checks, key=lambda check: grade[check.check])
    failed = [check.check for check in lines if not check.ok]
    verdict, words = "OK", f"{len(lines)} checks passed"
    if failed:
        verdict = labels[grade[failed[0]]]
        words = f"{len(failed)} of {len(lines)} checks failed: {', '.join(failed)}"
        words += "" if verdict == "FAILED" else "; none of them is essential"
    facts = (Fact(labels[grade[each.check]], f"{each.check}: {each.found}") for each in lines)
    return [Fact(verdict, name + words), *facts]


EVERYWHERE = ("//*:", "//0.0.0.0:", "//[::]:")
MOST_THREADS = 1024  # each has a simulation of its own in memory


def serve(
    isaac_gym: Annotated[
        list[str] | None, typer.Argument(metavar="[isaacgym [-- OPTIONS]]")
    ] = None,
    backend: Literal["mujoco", "warp"] = "mujoco",
    address: Annotated[str, typer.Option(metavar="ADDRESS")] = SERVER_ADDRESS,
    key_file: Annotated[Path | None, typer.Option(metavar="NAME")] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=MOST_THREADS)] = None,
    robot: str = "a1",
    python: Annotated[str, typer.Option(metavar="PATH")] = "python3.8",
    check: bool = False,
    duration: Annotated[float | None, typer.Option(min=0.001, max=1e9)] = None,
    json: JsonOption = False,
) -> int:
    """Serve rollouts and simulation to a stack on another machine, until Ctrl-C; exit status 0.

    Args:
        isaac_gym: Isaac Gym in place of a backend, and options of its server.
        backend: Physics engine: mujoco or warp.
        address: tcp://HOST:PORT, or ipc://FILE.
        key_file: Secret key; if absent, it is created with NAME.pub for clients.
        threads: Threads of MuJoCo on the CPU; all cores by default.
        robot: Robot: a name, or a folder.
        python: Python that has Isaac Gym.
        check: Say what Isaac Gym lacks here, and end.
        duration: Stop after this many seconds.
    """
    from runtime.signals import StopFlag
    from saltus.common.processes import cores
    from saltus.configuration.launch import robot_named
    from saltus.serve import (
        LISTENS,
        become_isaac_gym,
        keys_for,
        make_service,
        open_responder,
    )
    from sim_bridge import service_node

    engine, *options = isaac_gym or [""]
    if engine == "isaacgym":
        keys_for(address, key_file)
        options += ["--check"] if check else []
        become_isaac_gym(python, robot_named(robot), address, key_file, options)
    if engine or check:
        raise BadRequest(f"serve {engine or '--check'}: give isaacgym, or no argument")
    with StopFlag() as stop:
        keys = keys_for(address, key_file)
        service = make_service(backend, threads or cores(), robot_named(robot))
        with open_responder(address, keys) as responder:
            say(f"{backend} on {service.device} {LISTENS}{responder.address}")
            for line in how_to_use(responder.address, key_file):
                say(line)
            end = time.monotonic() + duration if duration is not None else float("inf")
            report = service_node.run(service, responder, lambda: stop() or time.monotonic() >= end)
            bound = responder.address
    result: dict[str, Any] = {"backend": backend, "device": service.device, "address": bound}
    result |= report
    if json:
        print_json(result)
    else:
        ms = result["ms"]
        took = f"; an answer took {ms['p50']:.1f} ms (p99 {ms['p99']:.1f} ms)"
        asked = f"{result['requests']} requests of {result['clients']} clients"
        print(f"{asked}, {result['refusals']} refused" + took * bool(result["requests"]))
    return 0


def how_to_use(address: str, key_file: Path | None) -> list[str]:
    """Commands to type where the server is to be used."""
    host = socket.gethostname()
    for everywhere in EVERYWHERE:
        address = address.replace(everywhere, f"//{host}:")
    key = [] if key_file is None else [f"--set remote.key_file={key_file.name}.pub"]
    line = " ".join(["--set rollout=remote", f"--set remote.address={address}", *key])
    lines = [f"plan with it:  saltus launch sim {line}"]
    if key_file is not None:
        lines.append(f"first copy {key_file}.pub there; its holder may use this server")
    return lines


bridge_app = typer.Typer(help="Bridges from a running launch to other systems.")


@bridge_app.callback()
def _bridges() -> None:
    """Bridges from a running launch to other systems."""


@bridge_app.command("ros2")
@documented
def ros2(
    rate: Annotated[float, typer.Option(min=0.1, max=1000.0)] = 200.0,
    process: ProcessOption = None,
    json: JsonOption = False,
) -> int:
    """Publish a launch to ROS 2, once one runs, and follow cmd_vel, until its end; status 0.

    Args:
        rate: Most messages a second of each topic.
    """
    from runtime.signals import StopFlag
    from saltus.export.ros2 import bridge
    from saltus.launch.announcement import POLL_S, REMEDY, running_launches

    with StopFlag() as stop:
        if process is None and not running_launches():
            say(f"waiting for a launch; {REMEDY}")
            while not (stop() or running_launches()):
                time.sleep(POLL_S)
        launch = None if stop() else find_launch(process, stop)
        result = bridge(launch, rate, stop) if launch else {}
    if json:
        print_json(result)
    return 0


robot_app = typer.Typer(
    help="Robots as data: a folder with a model and robot.yaml.", no_args_is_help=True
)


@robot_app.callback()
def _group() -> None:
    """Robots as data: a folder with a model and robot.yaml."""


@robot_app.command("check")
@documented
def check(folder: str, json: JsonOption = False) -> int:
    """Say what is missing or implausible in a robot's folder; exit status 0 if nothing is.

    Args:
        folder: A folder with robot.yaml, or the name of a robot, such as a1.
    """
    from saltus.robot_check import check_robot  # loads the numerics

    checks = check_robot(folder)
    ok = all(each.ok for each in checks)
    if json:
        rows = [{"what": each.check, "ok": each.ok, "detail": each.found} for each in checks]
        print_json({"robot": folder, "ok": ok, "checks": rows})
    else:
        print_facts(_facts(checks, f"{folder}: "))
    return 0 if ok else 1
