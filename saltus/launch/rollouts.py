"""Which physics rolls HiLQR's candidates out: chosen by name, and what is missing where it is not.

Nothing of a backend is imported before it is asked for: most machines have one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from controller.planner_options import PlannerOptions
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from sim_bridge.options import ServerOptions, WarpOptions
from sim_bridge.rollouts.unavailable import Unavailable

if TYPE_CHECKING:
    from controller.robot_model import RolloutBackend
    from robots.robot import Robot
    from robots.terrain import Ground
    from sim_bridge.rollouts.threaded import ThreadedRollout

_Maker = Callable[["LaunchConfig", "Ground | None"], "RolloutBackend"]

PROBE_S = 0.3  # longest wait for a server that is only looked for [s]


class Availability(NamedTuple):
    """Whether a backend can be had here.

    Attributes:
        backend: its name in a launch file; found: its device, or what is missing and the remedy.
    """

    backend: str
    here: bool
    found: str


class Physics(NamedTuple):
    """What rollouts take of a planner's options: knots, time between them [s], steps, threads."""

    knots: int
    period: float
    substeps: int
    threads: int


def planning(config: LaunchConfig) -> PlannerOptions:
    """The options of HiLQR's solver in this mode: of the planner that runs, or else of HiLQR."""
    return (config.solver or config.hilqr).in_mode(config.mode)


def _physics(config: LaunchConfig) -> Physics:
    if config.planner == "mppi":
        mppi = config.mppi
        return Physics(mppi.knots, mppi.period, mppi.substeps, mppi.threads)
    options = planning(config)
    search = options.search
    return Physics(options.knots, options.period, search.substeps, search.threads)


def make_rollout(config: LaunchConfig, ground: Ground | None = None) -> RolloutBackend:
    """The rollout backend of a launch, on `ground` or the level floor z = 0.

    Raises:
        BadRequest: what it needs is not here; the message names the remedy and what is here.
    """
    if config.rollout == "mujoco":
        return _mujoco(config, ground)
    try:
        return _MAKERS[config.rollout](config, ground)
    except Unavailable as error:
        there = [row.backend for row in availability(config, but=config.rollout) if row.here]
        raise BadRequest(
            f"rollout {config.rollout}: {error}; available here: {', '.join(there)}"
        ) from error


def check(config: LaunchConfig, ground: Callable[[], Ground | None]) -> None:
    """Find out before anything starts whether the backend can be had on the planner's ground.

    Raises:
        BadRequest: it cannot.
    """
    if config.rollout != "mujoco":
        make_rollout(config, ground())


def availability(config: LaunchConfig, but: str = "") -> list[Availability]:
    """Every backend and whether it can be had here; `but` is left out."""
    return [_look(name, config) for name in _LOOKS if name != but]


def _look(name: str, config: LaunchConfig) -> Availability:
    try:
        return Availability(name, True, _LOOKS[name](config))
    except Unavailable as error:
        return Availability(name, False, str(error))


def _mujoco(config: LaunchConfig, ground: Ground | None) -> ThreadedRollout:
    from sim_bridge.rollouts.threaded import ThreadedRollout

    return ThreadedRollout(config.robot_model, *_physics(config), ground)


def _warp(config: LaunchConfig, ground: Ground | None) -> RolloutBackend:
    physics = _physics(config)
    named = None if ground is None else _NamedGround(ground)
    rollout = _warp_rollout(
        config.robot_model, physics.period, physics.substeps, config.warp, named
    )
    if ground is not None:
        rollout.move_ground(ground)  # an estimate may have moved it
    return rollout


class _NamedGround:
    """A ground as it is now, equal to every other one of the same contents."""

    def __init__(self, ground: Ground) -> None:
        from sim_bridge.ground_exchange import name_of

        self.ground, self.name = ground, name_of(ground)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same ground."""
        return isinstance(other, _NamedGround) and self.name == other.name

    def __hash__(self) -> int:
        """Of the name."""
        return hash(self.name)


@lru_cache(maxsize=4)
def _warp_rollout(
    robot: Robot, period: float, substeps: int, options: WarpOptions, named: _NamedGround | None
) -> RolloutBackend:
    """One in a process: what warms a planner up makes the batches that the real one will use."""
    from sim_bridge.rollouts.warp_rollout import WarpRollout

    ground = None if named is None else named.ground
    return WarpRollout(robot, period, substeps, options, ground=ground)


def _served(name: str) -> _Maker:
    def make(config: LaunchConfig, ground: Ground | None) -> RolloutBackend:
        from sim_bridge.rollouts.remote import RemoteRollout

        physics, server = _physics(config), _server(name, config)
        wait_s = server.timeout if config.mode == "realtime" else server.patience
        return RemoteRollout(
            config.robot_model,
            server, _mujoco(config, ground), physics.period, physics.substeps, wait_s,
            name, ground, moves=not config.knows_ground,
        )  # fmt: skip

    return make


def _server(name: str, config: LaunchConfig) -> ServerOptions:
    return config.isaacgym if name == "isaacgym" else config.remote


def _warp_device(config: LaunchConfig) -> str:
    from sim_bridge.rollouts.warp_device import open_device

    return open_device(config.warp.device).name


def _server_device(name: str) -> Callable[[LaunchConfig], str]:
    def look(config: LaunchConfig) -> str:
        from sim_bridge.physics_client import REMEDY, PhysicsClient
        from sim_bridge.rollouts.remote import REMEDIES

        server = _server(name, config)
        client = PhysicsClient(server, REMEDIES.get(name, REMEDY), PROBE_S)
        client.close()
        return f"{client.info.backend} on {client.info.device} at {server.address}"

    return look


_LOOKS: dict[str, Callable[[LaunchConfig], str]] = {
    "mujoco": lambda _: "cpu",
    "warp": _warp_device,
    "isaacgym": _server_device("isaacgym"),
    "remote": _server_device("remote"),
}
_MAKERS: dict[str, _Maker] = {
    "warp": _warp,
    "isaacgym": _served("isaacgym"),
    "remote": _served("remote"),
}
