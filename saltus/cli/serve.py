"""``saltus serve``: let other processes and machines use the physics of this one."""

import socket
import time
from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, print_lines, say
from saltus.common.errors import BadRequest
from sim_bridge.options import SERVER_ADDRESS

EVERYWHERE = ("//*:", "//0.0.0.0:", "//[::]:")
MOST_THREADS = 1024  # each has a simulation of its own in memory


def serve(
    backend: Annotated[str, typer.Option(help="Physics engine: mujoco or warp.")] = "mujoco",
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="tcp://HOST:PORT, or ipc://FILE.")
    ] = SERVER_ADDRESS,
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME", help="Secret key; if absent, it is created with NAME.pub for clients."
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads of MuJoCo on the CPU; all cores by default.")
    ] = None,
    robot: Annotated[str, typer.Option(help="Robot: a name, or a folder.")] = "a1",
    duration: Annotated[float | None, typer.Option(help="Stop after this many seconds.")] = None,
    json: JsonOption = False,
) -> int:
    """Serve rollouts and simulation to a stack on another machine, until Ctrl-C; exit status 0."""
    from runtime.signals import StopFlag
    from saltus.common.processor import cores
    from saltus.configuration.robot import robot_named
    from saltus.serve.server import LISTENS, keys_for, make_service, open_responder
    from sim_bridge import service_node

    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise BadRequest(f"--threads {threads}: give 1 to {MOST_THREADS}")
    if duration is not None and not duration > 0.0:
        raise BadRequest(f"--duration {duration:g}: give seconds > 0")
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
    result = {"backend": backend, "device": service.device, "address": bound} | report
    if json:
        print_json(result)
    else:
        print_lines([_summary(result)])
    return 0


def how_to_use(address: str, key_file: Path | None) -> list[str]:
    """What to type where the server is to be used."""
    host = socket.gethostname()
    for everywhere in EVERYWHERE:
        address = address.replace(everywhere, f"//{host}:")
    key = [] if key_file is None else [f"--set remote.key_file={key_file.name}.pub"]
    line = " ".join(["--set rollout=remote", f"--set remote.address={address}", *key])
    lines = [f"plan with it:  saltus launch sim {line}"]
    if key_file is not None:
        lines.append(f"first copy {key_file}.pub there; who has it may use this server")
    return lines


def _summary(result: dict) -> str:
    """One line for people."""
    times = result["ms"]
    took = f"an answer took {times['p50']:.1f} ms (p99 {times['p99']:.1f} ms)"
    asked = f"{result['requests']} requests of {result['clients']} clients"
    return f"{asked}, {result['refusals']} refused" + (f"; {took}" if result["requests"] else "")
