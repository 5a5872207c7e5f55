"""Every rollout backend that the conformance tests try, and how near it must stay to MuJoCo.

A new backend is one more entry of `BACKENDS`. Where it cannot be had, its tests are skipped and say
what is missing. A server that runs elsewhere, such as Isaac Gym's, is tried as well where the
environment variable SALTUS_CONFORMANCE_SERVER holds its address.
"""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from runtime.key_files import CurveKeys
from sim_bridge.options import RolloutServerOptions, WarpOptions
from sim_bridge.physics_service import PhysicsService
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.warp_rollout import WarpRollout
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in import StandInRollout
from tests.sim_bridge.physics.served_world import served

NAMED = "SALTUS_CONFORMANCE_SERVER"  # environment variable: the address of one more to try
KNOTS = 50  # of the motions that are held against plain MuJoCo


class Close(NamedTuple):
    """Largest deviation from plain MuJoCo in half a second of free fall, standing or sliding."""

    position: float  # of the base [m]
    angle: float  # of the joints [rad], and of the quaternion's numbers
    velocity: float  # [m/s, rad/s]
    force: float  # on a foot [N]


class Backend(NamedTuple):
    """A backend to try.

    Attributes:
        open: of a stack, by which all ends that it starts, makes what makes a backend of a period
            [s], the physics steps within it, and a ground that `moves` or does not. Both raise
            Unavailable where there is none.
        close: how near it stays to plain MuJoCo.
        digits: error of a number relative to its size.
        same: largest difference of two results that should be one; 0: equal to the bit.
        vertical: forces on feet are vertical, not normal to the ground.
    """

    open: Callable
    close: Close
    digits: float
    same: float = 0.0
    vertical: bool = False


def mujoco(_):
    """Threads of ours; the candidates do not divide evenly among them."""
    return lambda period, substeps, ground=None, moves=False: ThreadedRollout(
        A1, KNOTS, period, substeps, threads=3, ground=ground
    )


def warp(device):
    """MuJoCo Warp on one of its devices."""

    def open_(_):
        options = WarpOptions(device)
        WarpRollout(A1, 0.01, 2, options)  # raises Unavailable
        return lambda period, substeps, ground=None, moves=False: WarpRollout(
            A1, period, substeps, options, ground=ground
        )

    return open_


def remote(keys):
    """Threads of ours, served over a socket on loopback; the local one is there to be noticed."""

    def open_(stack):
        def serve(knots, period, substeps, ground):
            return ThreadedRollout(A1, knots, period, substeps, ground=ground)

        service = PhysicsService("mujoco", "cpu", 64, serve)
        address = stack.enter_context(served(service, keys))
        key_file = Path(stack.enter_context(TemporaryDirectory())) / "key"
        key_file.write_text(f"saltus-public-key {keys.public}\n")
        return _client(stack, RolloutServerOptions(address, str(key_file)))

    return open_


def named_server(stack):
    """The server that the environment names; on another machine, or Isaac Gym's."""
    return _client(stack, RolloutServerOptions(os.environ[NAMED]))


def _client(stack, server):
    def make(period, substeps, ground=None, moves=False):
        local = ThreadedRollout(A1, KNOTS, period, substeps, ground=ground)
        made = RemoteRollout(
            A1, server, local, period, substeps, wait_s=30.0, ground=ground, moves=moves
        )
        stack.callback(made.close)
        return made

    return make


def isaac_gym_stand_in(device):
    """Isaac Gym's server on a stand-in for Isaac Gym, whose physics is MuJoCo in float32."""
    return lambda _: (
        lambda period, substeps, ground=None, moves=False: StandInRollout(
            period, substeps, device, ground, moves
        )
    )


# Measured: 1e-15 m, 2e-15 rad, 8e-14 rad/s, 3e-12 N. The rest is for other processors, whose
# compiled sums differ in the last digit.
DOUBLE = Close(1e-12, 1e-12, 1e-10, 1e-9)
# Measured on Warp's CPU: 1.1e-6 m, 2.3e-6 rad, 7e-5 rad/s, 5e-3 N; a margin of 20.
SINGLE = Close(2e-5, 5e-5, 1.5e-3, 0.1)

BACKENDS = {
    "mujoco": Backend(mujoco, DOUBLE, 1e-13),
    "remote-with-keys": Backend(remote(CurveKeys.generate()), DOUBLE, 1e-13),
    "warp-cpu": Backend(warp("cpu"), SINGLE, 1e-7),
    # The order of sums is a GPU's own and may depend on the batch; this margin is not measured.
    "warp-cuda": Backend(warp("cuda:0"), SINGLE, 1e-7, same=1e-4),
    "isaacgym-stand-in-cpu": Backend(isaac_gym_stand_in("cpu"), SINGLE, 1e-7, 0.0, True),
    "isaacgym-stand-in-gpu": Backend(isaac_gym_stand_in("cuda:0"), SINGLE, 1e-7, 0.0, True),
}
if NAMED in os.environ:
    # Another engine has other contacts, and PhysX may not repeat itself: these are guesses.
    guess = Close(0.05, 0.3, 5.0, 300.0)
    BACKENDS["named-server"] = Backend(named_server, guess, 1e-6, same=1e-3)
