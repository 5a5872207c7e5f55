"""A physics server in a thread of this process, for tests of who asks it."""

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
def in_a_thread(loop):
    """Run `loop(ended)` in a thread; gives what ends it before the block does."""
    stopped = threading.Event()
    thread = threading.Thread(target=loop, args=(stopped.is_set,))
    thread.start()

    def end():
        stopped.set()
        thread.join()

    try:
        yield end
    finally:
        end()


@contextmanager
def served(service, keys=None):
    """A service on loopback; gives its address."""
    with (
        Responder("tcp://127.0.0.1:0", keys) as responder,
        in_a_thread(lambda ended: run(service, responder, ended)),
    ):
        yield responder.address


def mujoco_server(folder, robot=True):
    """MuJoCo's world, served; gives what ends the server before its time."""
    world = (lambda: MujocoWorld(A1)) if robot else None

    def serve(ended):
        with Responder(options_of(folder).address, None) as responder:
            run(PhysicsService("mujoco", "a test", 1, make_world=world), responder, ended)

    return in_a_thread(serve)


def answering(folder, answer):
    """A server made of one function of frames."""

    def serve(ended):
        with Responder(options_of(folder).address, None) as responder:
            while not ended():
                if (received := responder.receive(0.02)) is not None:
                    responder.send(received[0], answer(received[1]))

    return in_a_thread(serve)
