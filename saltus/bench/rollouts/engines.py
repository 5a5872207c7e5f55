"""The rollout backends that `saltus bench rollouts` measures on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from controller.robot_model import RolloutBackend
from robots.robot import load_robot
from saltus.bench.rollouts.problem import Horizon
from saltus.common.processor import cores, processor_name
from saltus.launch.rollouts import PROBE_S
from saltus.serve.server import server_child
from sim_bridge.options import ISAAC_GYM_ADDRESS, ServerOptions, WarpOptions
from sim_bridge.physics_client import PhysicsClient
from sim_bridge.rollouts.remote import REMEDIES, RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout

SIZES = (8, 16, 64, 256, 1024, 4096)  # candidates; the first is the planner's
MOST_ON_WARP_CPU = 64  # which is for tests: a kernel there is a loop on one core
MOST_REMOTE = 256
PATIENCE_S = 60.0  # with the answer of a server [s]


class Engine(NamedTuple):
    """A backend to measure.

    Attributes:
        backend: as in a launch file; device: its name in full; rollout: the backend itself.
        most: candidates.
    """

    backend: str
    device: str
    rollout: RolloutBackend
    most: int = SIZES[-1]

    @property
    def name(self) -> str:
        """Backend and device."""
        return f"{self.backend} ({self.device})"

    def fallbacks(self) -> int:
        """Rollouts that were another backend's."""
        return self.rollout.statistics().get("fallbacks", 0)


def cpu_name() -> str:
    """The processor's model, and how many of its cores this process may use."""
    return f"{processor_name()}, {cores()} core{'s' if cores() > 1 else ''}"


def warp_cpu_name() -> str:
    """Warp's device that is no GPU."""
    return f"Warp's CPU device, {cpu_name()}"


@contextmanager
def local_and_remote(horizon: Horizon) -> Iterator[list[Engine]]:
    """MuJoCo on all cores, here and in a server on loopback: the same physics."""
    local = ThreadedRollout(load_robot("a1"), *horizon, cores())
    with ExitStack() as stack:
        address = stack.enter_context(server_child(threads=cores()))
        remote = RemoteRollout(
            load_robot("a1"),
            ServerOptions(address),
            local,
            horizon.period,
            horizon.substeps,
            PATIENCE_S,
        )
        stack.callback(remote.close)
        yield [
            Engine("mujoco", cpu_name(), local),
            Engine("remote", f"mujoco over loopback, {cpu_name()}", remote, MOST_REMOTE),
        ]


def warp_engines(horizon: Horizon) -> list[Engine]:
    """MuJoCo Warp on each of its devices.

    Raises:
        Unavailable: it is not installed.
    """
    from sim_bridge.rollouts.warp_device import open_device
    from sim_bridge.rollouts.warp_rollout import WarpRollout

    def engine(device: str, name: str = "", most: int = SIZES[-1]) -> Engine:
        rollout = WarpRollout(
            load_robot("a1"), horizon.period, horizon.substeps, WarpOptions(device)
        )
        return Engine("warp", name or rollout.device, rollout, most)

    gpus = [gpu.alias for gpu in open_device("auto").warp.get_cuda_devices()]
    engines = [engine(gpu) for gpu in gpus]
    if len(gpus) > 1:  # they may be of one kind
        pairs = zip(engines, gpus, strict=True)
        engines = [one._replace(device=f"{one.device} ({gpu})") for one, gpu in pairs]
    return [*engines, engine("cpu", warp_cpu_name(), MOST_ON_WARP_CPU)]


@contextmanager
def isaac_gym(horizon: Horizon, address: str = ISAAC_GYM_ADDRESS) -> Iterator[list[Engine]]:
    """Isaac Gym, if its server answers where it does by default.

    Raises:
        Unavailable: it does not.
    """
    server = ServerOptions(address)
    client = PhysicsClient(server, REMEDIES["isaacgym"], PROBE_S)
    client.close()
    local = ThreadedRollout(load_robot("a1"), *horizon, cores())
    remote = RemoteRollout(
        load_robot("a1"), server, local, horizon.period, horizon.substeps, PATIENCE_S, "isaacgym"
    )
    try:
        yield [Engine("isaacgym", client.info.device, remote, client.info.most_candidates)]
    finally:
        remote.close()
