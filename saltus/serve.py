"""A physics server's parts, and one as a child process for benches and tests."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from robots.robot import Robot
from robots.terrain import Ground
from runtime.endpoints import EndpointInUse
from runtime.exchange import Responder
from runtime.key_files import CurveKeys, make_key_files, read_secret
from runtime.server_address import check_address
from saltation.hilqr import Policies
from saltus.common.errors import BadRequest, refusing
from saltus.common.processes import Child, describe_exit, processor_name
from sim_bridge.options import SERVER_ADDRESS, WarpOptions
from sim_bridge.physics_service import PhysicsService, Rollout
from sim_bridge.rollouts.unavailable import Unavailable

MOST_CANDIDATES = 4096
LISTENS = "listens at "  # before the address, in the line that says so
START_S, GRACE_S = 120.0, 5.0  # for a child to listen, which may compile first; and to end
_CHILD = """
import sys
from saltus.common.processes import die_with_parent
die_with_parent(int(sys.argv[1]))
from saltus.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


def make_service(backend: Literal["mujoco", "warp"], threads: int, robot: Robot) -> PhysicsService:
    """The service of a backend, which has rolled out once: first calls may compile.

    Raises:
        BadRequest: something that it needs is not here.
    """
    with refusing(f"backend {backend}", Unavailable):
        service = _mujoco(threads, robot) if backend == "mujoco" else _warp(robot)
    return service


def _mujoco(threads: int, robot: Robot) -> PhysicsService:
    from sim_bridge.physics.world import MujocoWorld
    from sim_bridge.rollouts.threaded import ThreadedRollout

    def make_rollout(knots: int, period: float, substeps: int, ground: Ground | None) -> Rollout:
        return ThreadedRollout(robot, knots, period, substeps, threads, ground)

    def make_world() -> MujocoWorld:
        return MujocoWorld(robot)

    _warm(robot, make_rollout(2, 0.01, 2, None))
    device = f"{processor_name()}, {threads} thread{'s' if threads > 1 else ''}"
    return PhysicsService("mujoco", device, MOST_CANDIDATES, make_rollout, make_world)


def _warp(robot: Robot) -> PhysicsService:
    from sim_bridge.rollouts.warp_rollout import WarpRollout

    def make_rollout(_: int, period: float, substeps: int, ground: Ground | None) -> Rollout:
        return WarpRollout(robot, period, substeps, WarpOptions(), ground=ground)

    first = WarpRollout(robot, 0.01, 2, WarpOptions())
    _warm(robot, first)
    device = f"{processor_name()}, Warp's CPU device" if first.device == "cpu" else first.device
    return PhysicsService("warp", device, MOST_CANDIDATES, make_rollout)


def _warm(robot: Robot, rollout: Rollout) -> None:
    """Roll out two knots from the stand."""
    base = [0.0, 0.0, robot.stand_height, 0.0, 0.0, 0.0, 1.0]
    x = np.concatenate([base, robot.stand, np.zeros(18)])
    policies = Policies.of(np.tile(x, (3, 1)), np.zeros((2, 12)), np.zeros((2, 12, 36)))
    rollout.roll_out(x, policies)


def keys_for(address: str, key_file: Path | None) -> CurveKeys | None:
    """The keys of a server at `address`; a pair is made where `key_file` is not there yet.

    Raises:
        BadRequest: what `address` is is no address, it needs a key, or the file holds none.
    """
    with refusing("", ValueError):
        check_address(address, key_file is not None, "--key-file NAME")
        if key_file is None:
            return None
        return read_secret(key_file) if key_file.exists() else make_key_files(key_file)


def open_responder(address: str, keys: CurveKeys | None) -> Responder:
    """Listen.

    Raises:
        BadRequest: it cannot; the message says why.
    """
    try:
        with refusing("", ValueError):
            return Responder(address, keys)
    except EndpointInUse as error:
        raise BadRequest(f"{address} is occupied; give another --address") from error


def become_isaac_gym(
    python: str, robot: Robot, address: str, key_file: Path | None, options: list[str]
) -> NoReturn:
    """Replace this process by Isaac Gym's server, in the Python that has Isaac Gym.

    Raises:
        BadRequest: there is no such Python.
    """
    from robots.urdf import urdf_of
    from sim_bridge.isaac_gym import server

    urdf = os.memfd_create("urdf", 0)
    os.write(urdf, urdf_of(robot).encode())
    command = [python, server.__file__, "--urdf", f"/proc/self/fd/{urdf}", *options]
    command += ["--address", address] if address != SERVER_ADDRESS else []
    command += ["--key-file", str(key_file)] if key_file is not None else []
    try:
        os.execvp(python, command)
    except OSError as error:
        raise BadRequest(
            f"cannot run {python} ({error.strerror}); give --python PATH of the Python 3.8 that "
            "has Isaac Gym (docs/isaac-gym.md)"
        ) from error


@contextmanager
def server_child(
    threads: int | None = None, key_file: Path | None = None
) -> Iterator[str]:  # fmt: skip
    """`saltus serve` as a child process meanwhile; yields where it listens.

    Args:
        threads: of its physics; all cores where None.
        key_file: of its secret key; a client's is that of the same name and `.pub`.

    Raises:
        BadRequest: it ended instead; its last words are the message.
    """
    asked = ["serve", "--address", "tcp://127.0.0.1:0"]
    asked += ["--threads", str(threads)] if threads is not None else []
    asked += ["--key-file", str(key_file)] if key_file is not None else []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _CHILD, str(os.getpid()), *asked]
        child = Child("server", command, Path(folder) / "log")
        child.start()
        try:
            yield _await_address(child)
        finally:
            child.stop(GRACE_S)


def _await_address(child: Child) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        status = child.status
        for line in child.log.read_text(errors="replace").splitlines(keepends=True):
            if LISTENS in line and line.endswith("\n"):
                return line.rpartition(LISTENS)[2].split()[0]
        if status is not None:
            raise BadRequest(f"the server ended ({describe_exit(status)}): {child.last_words()}")
        time.sleep(0.02)
    raise BadRequest(f"the server did not listen within {START_S:g} s: {child.last_words()}")
