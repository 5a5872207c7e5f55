"""Our Isaac Gym server in this process, behind the stand-in for Isaac Gym.

Each of its processes is a thread here, with a Gym of its own.
"""

import multiprocessing
from threading import Thread

import numpy as np

from robots.urdf import urdf_of
from runtime.physics_messages import Hello, RolloutReply, decode_reply
from runtime.wire import encode
from sim_bridge.ground_exchange import name_of, to_request
from sim_bridge.isaac_gym import server
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.single import SingleSimulation
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in_gym import CALLS, Gym, gymapi, gymtorch, torch
from tests.sim_bridge.physics.requests import rollout_request


class _Process(Thread):
    def kill(self):
        pass


def _spawn(options, *made_for):
    """What `server.spawn` does, by a thread."""
    CALLS.append("spawn")
    ours, theirs = multiprocessing.Pipe()
    arguments = theirs, options, *made_for, options.load
    process = _Process(target=server.work, args=arguments, daemon=True)
    process.start()
    return ours, process


server.spawn = _spawn


def make_api(gym):
    np.seterr(all="ignore")  # of this thread: torch does not warn
    module = type(gymapi)(**vars(gymapi), acquire_gym=lambda: gym)
    return module, gymtorch, torch


def make_options(envs=4, device="cpu", velocity_at="com", ground=None, root_velocity="com"):
    """The server's options; a robot's URDF needs no file. The stand-in knows the `ground`."""
    options = server.OPTIONS.parse_args(["--urdf", "", "--device", device, "--envs", str(envs)])
    options.urdf_text, options.root_velocity = urdf_of(A1), root_velocity
    options.load = lambda device: make_api(Gym(velocity_at, ground))
    return options


class Server:
    """A server, asked by messages of one client."""

    def __init__(self, **options):
        self.front = server.Front(make_options(**options))

    def ask(self, request, client=b"its own"):
        reply = decode_reply(self.front.answer(client, encode(request)))
        assert reply.id == request.id
        return reply

    def close(self):
        for _, worker in self.front._workers.values():
            worker.close()

    __del__ = close


class StandInRollout(Server, SingleSimulation):
    """A rollout backend."""

    def __init__(self, period, substeps, device="cpu", ground=None, moves=False):
        Server.__init__(self, envs=16, device=device, ground=ground)
        SingleSimulation.__init__(self, A1, ground)
        self._asked = {"period": period, "substeps": substeps}
        if ground is not None:
            self.ask(to_request(6, ground))
            self._asked["ground"] = name_of(ground)
        if moves and not self.ask(Hello(id=5, protocol=server.PROTOCOL)).moves_ground:
            raise Unavailable("a ground in Isaac Gym cannot move")

    def roll_out(self, x0, policies):
        reply = self.ask(rollout_request(policies, x0=x0, **self._asked))
        assert isinstance(reply, RolloutReply), reply
        finite = np.array(reply.finite, dtype=np.bool_)
        return RolloutBatch(reply.states, reply.inputs, reply.normal_forces, finite)

    def statistics(self):
        return {"backend": "isaacgym (stand-in)", "device": "cpu"}
