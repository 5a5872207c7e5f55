"""Requests to a physics server, of a robot that stands unless told otherwise, and stand-ins."""

import numpy as np

from robots.urdf import urdf_of
from runtime.physics_messages import (
    PlaceRequest,
    RolloutRequest,
    TickRequest,
    WorldReply,
    WorldRequest,
)
from sim_bridge.rollouts.batch import RolloutBatch
from tests.a1 import A1
from tests.sim_bridge.rollouts.motions import STAND

LIMP = np.zeros((5, 12))


def rollout_request(policies, **changes):
    names = ("states", "inputs", "feedforward", "gains", "step_size")
    fields = {
        "id": 7, "ground": "", "period": 0.01, "substeps": 2, "x0": STAND,
        "policy_index": policies.policy_index.tolist(),
    } | {name: getattr(policies, name) for name in names}  # fmt: skip
    return RolloutRequest(**(fields | changes))


def world_request(**changes):
    fields = {
        "id": 1, "timestep": 5e-4, "friction": 0.8, "payload_mass": 0.0, "mass_scale": 1.0,
        "floor_slope": 0.0, "torque_limit": np.full(12, 33.5), "corner_speed": np.full(12, 10.5),
        "no_load_speed": np.full(12, 21.0), "q": STAND[:19], "v": STAND[19:], "urdf": urdf_of(A1),
    }  # fmt: skip
    return WorldRequest(**(fields | changes))


def tick_request(command=None, steps=1, **changes):
    """Ticks of a command (5, 12), limp by default."""
    fields = {
        "id": 2, "commands": np.tile(LIMP if command is None else command, (steps, 1, 1)),
        "blocked": False, "base_force": np.zeros(3), "joint_torque": np.zeros(12),
        "base_velocity": np.zeros(3),
    }  # fmt: skip
    return TickRequest(**(fields | changes))


def place_request(q=STAND[:19], v=STAND[19:]):
    return PlaceRequest(id=3, q=q, v=v)


class StillRollout:
    """A backend that rolls nothing out: all states are one number."""

    def __init__(self, number=0.0):
        self.number = number

    def roll_out(self, x0, policies):
        c, n = policies.count, policies.inputs.shape[1]
        states, inputs, forces = (np.zeros((c, *shape)) for shape in ((n + 1, 37), (n, 12), (n, 4)))
        return RolloutBatch(states + self.number, inputs, forces, np.ones(c, dtype=np.bool_))

    def move_ground(self, ground):
        pass


class StillWorld:
    """A world in which nothing moves."""

    def begin(self, request):
        return WorldReply(
            id=request.id, q=STAND[:19], v=STAND[19:], torque=np.zeros(12),
            foot_force=np.zeros((4, 3)), trunk_contact=False,
        )  # fmt: skip

    tick = place = begin
