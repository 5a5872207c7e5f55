"""A physics server in a thread of this process, for tests of who asks it."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from runtime.exchange import Responder
from sim_bridge.options import PhysicsServerOptions
from sim_bridge.physics.world import MujocoWorld
from sim_bridge.physics_service import PhysicsService
from sim_bridge.service_node import run
from tests.a1 import A1

PATIENCE_S = 5.0


def options_of(folder):
    """Of a client of the server in `folder`."""
    return PhysicsServerOptions(address=f"ipc://{folder}/physics", patience=PATIENCE_S)


@contextmanager
def mujoco_server(folder, robot=True):
    """MuJoCo's world, served; gives what ends the server before its time."""
    service = PhysicsService(
        "mujoco", "a test", 1, make_world=(lambda: MujocoWorld(A1)) if robot else None
    )
    stopped = threading.Event()

    def serve():
        with Responder(options_of(folder).address, None) as responder:
            run(service, responder, stopped.is_set)

    thread = threading.Thread(target=serve)
    thread.start()

    def end():
        stopped.set()
        thread.join()

    try:
        yield end
    finally:
        end()


@contextmanager
def answering(folder, answer):
    """A server made of one function of frames, which may stay silent."""
    stopped = threading.Event()

    def serve():
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
