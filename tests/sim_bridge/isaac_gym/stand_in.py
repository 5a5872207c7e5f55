"""Our Isaac Gym server in this process, behind the stand-in for Isaac Gym, as a rollout backend.

No result through it says anything about PhysX: the physics is MuJoCo's. It says that the server
keeps Isaac Gym's rules, and that frames, orders and indices are right.
"""

import numpy as np

from robots.urdf import urdf_of
from runtime.physics_messages import (
    PROTOCOL,
    GroundReply,
    Hello,
    RolloutReply,
    ServerInfo,
    decode_reply,
)
from runtime.wire import encode
from sim_bridge.ground_exchange import name_of, to_request
from sim_bridge.isaac_gym import server
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.rollouts.single import SingleSimulation
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in_api import modules
from tests.sim_bridge.isaac_gym.stand_in_gym import Gym
from tests.sim_bridge.isaac_gym.stand_in_physics import MujocoRobot
from tests.sim_bridge.physics.requests import rollout_request


def make_api(velocity_at="com", gym=None, ground=None):
    """A process's modules of Isaac Gym, as `server.load_api` gives them."""
    known = (ground, planning_model(A1, 0.001, ground)) if ground is not None else None

    def robot(*made_of):
        return MujocoRobot(*made_of, velocity_at, known)

    return server.Api(*modules(gym or Gym(robot)))


def make_options(*arguments, urdf=None):
    """The server's options, as of its command line; the robot's URDF needs no file."""
    options = server.parse(["--role", "robot", "--device", "cpu", *arguments])
    options.role = "robot" if "robot" in arguments else "rollouts"
    options.urdf_text = urdf or urdf_of(A1)
    return options


class InProcess:
    """A worker without a process of its own."""

    def __init__(self, options, api=None):
        self.service = server.Service(api or make_api(), options)

    def ask(self, frame, client):
        return self.service.answer(frame, client)

    def close(self):
        return ""


def make_front(*arguments, ground=None):
    """What answers frames in the server, with a fresh stand-in where the server wants a process."""
    options = make_options(*arguments)
    return server.Front(lambda: InProcess(options, make_api(ground=ground)))


class StandInRollout:
    """A rollout backend: the server's core, asked by messages."""

    round_trip_s = 0.0

    def __init__(self, period, substeps=2, pipeline="cpu", envs=16, ground=None, moves=False):
        device = ["--device", "cuda:0"] if pipeline == "gpu" else []
        self.period, self.substeps = period, substeps
        self.front = make_front("--envs", str(envs), "--pipeline", pipeline, *device, ground=ground)
        self._single, self._ground = SingleSimulation(A1, ground), ""
        if ground is not None:
            reply = decode_reply(self.front.answer(encode(to_request(6, ground))))
            assert isinstance(reply, GroundReply), reply
            self._ground = name_of(ground)
        if moves:
            hello = decode_reply(self.front.answer(encode(Hello(id=5, protocol=PROTOCOL))))
            assert isinstance(hello, ServerInfo) and not hello.moves_ground
            raise Unavailable("a ground in Isaac Gym cannot move")

    def roll_out(self, x0, policies):
        request = rollout_request(
            policies, x0=x0, ground=self._ground, period=self.period, substeps=self.substeps
        )
        reply = decode_reply(self.front.answer(encode(request)))
        assert isinstance(reply, RolloutReply) and reply.id == 7, reply
        finite = np.array(reply.finite, dtype=np.bool_)
        return RolloutBatch(reply.states, reply.inputs, reply.normal_forces, finite)

    def advance(self, x, torque, duration):
        return self._single.advance(x, torque, duration)

    def statistics(self):
        return {"backend": "isaacgym (stand-in)", "device": "cpu", "protocol": PROTOCOL}
