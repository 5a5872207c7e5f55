"""A physics server in a thread of this process, for tests of who asks it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.exchange import Responder
from sim_bridge.options import PhysicsServerOptions
from sim_bridge.physics.world import MujocoWorld
from sim_bridge.physics_service import PhysicsService
from sim_bridge.service_node import run
from tests.a1 import A1

PATIENCE_S = 5.0


def options_of(folder: Path) -> PhysicsServerOptions:
    """Of a client of the server in `folder`."""
    return PhysicsServerOptions(address=f"ipc://{folder}/physics", patience=PATIENCE_S)


@contextmanager
def mujoco_server(folder: Path, robot: bool = True) -> Iterator[Callable[[], None]]:
    """MuJoCo's world, served; gives what ends the server before its time."""
    service = PhysicsService(
        "mujoco", "a test", 1, make_world=(lambda: MujocoWorld(A1)) if robot else None
    )
    stopped = threading.Event()

    def serve() -> None:
        with Responder(options_of(folder).address, None) as responder:
            run(service, responder, stopped.is_set)

    thread = threading.Thread(target=serve)
    thread.start()

    def end() -> None:
        stopped.set()
        thread.join()

    try:
        yield end
    finally:
        end()


@contextmanager
def answering(folder: Path, answer: Callable[[bytes], bytes | None]) -> Iterator[None]:
    """A server made of one function of frames, which may stay silent."""
    stopped = threading.Event()

    def serve() -> None:
        with Responder(options_of(folder).address, None) as responder:
            while not stopped.is_set():
                received = responder.receive(0.02)
                reply = None if received is None else answer(received[1])
                if received is not None and reply is not None:
                    responder.send(received[0], reply)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
