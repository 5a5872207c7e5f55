"""Answers of a physics server to requests: a core that knows no socket."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from robots.terrain import Ground
from runtime.physics_messages import (
    PROTOCOL,
    GroundReply,
    GroundRequest,
    Hello,
    PlaceRequest,
    Refusal,
    Reply,
    Request,
    RolloutReply,
    RolloutRequest,
    ServerInfo,
    TickRequest,
    WorldRequest,
)
from saltation.hilqr import Policies
from sim_bridge.ground_exchange import fault_of, from_request, name_of, name_of_solids

if TYPE_CHECKING:
    from sim_bridge.physics.world import MujocoWorld
    from sim_bridge.rollouts.threaded import ThreadedRollout
    from sim_bridge.rollouts.warp_rollout import WarpRollout

NOBODY = -1  # id of a refusal of what could not be read, and so has no id of its own
# Of one request, candidates x knots x substeps: 25 s of MuJoCo on one thread at 50 us a step. The
# reply has 424 bytes for each knot of a candidate, and must fit in a frame of 256 MiB.
MOST_STEPS = 500_000
MOST_BACKENDS = 4  # of different period, substeps and ground, kept
MOST_GROUNDS = 64  # kept


Rollout: TypeAlias = "ThreadedRollout | WarpRollout"
# Of knots, period [s], substeps and ground; None is the level floor z = 0.
MakeRollout = Callable[[int, float, int, Ground | None], Rollout]
MakeWorld = Callable[[], "MujocoWorld"]


class PhysicsService:
    """Rollouts by one backend, and one world, which is its client's that has begun it."""

    def __init__(
        self, backend: str, device: str, most_candidates: int,
        make_rollout: MakeRollout | None = None, make_world: MakeWorld | None = None,
    ) -> None:  # fmt: skip
        """A part that is None is not served. Clients get `backend` and `device` to show."""
        self.backend, self.device, self._most = backend, device, most_candidates
        self._make_rollout, self._make_world = make_rollout, make_world
        # By period, substeps, and name of the solids; empty for the level floor.
        self._rollouts: OrderedDict[tuple[float, int, str], Rollout] = OrderedDict()
        # With the name of all that differ in the poses of their boxes alone.
        self._grounds: OrderedDict[str, tuple[Ground, str]] = OrderedDict()
        self._world: MujocoWorld | None = None
        self._owner: bytes | None = None  # of the world

    def answer(self, request: Request, client: bytes = b"") -> Reply:
        """The answer to a request of `client`; never raises: what cannot be done is refused."""
        try:
            if isinstance(request, Hello):
                return self._introduce(request)
            if isinstance(request, GroundRequest):
                return self._keep(request)
            if isinstance(request, RolloutRequest):
                return self._roll_out(request)
            return self._live(request, client)
        except Exception as error:  # whatever a request does, the server lives on for the others
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return Refusal(id=request.id, reason=reason)

    def _introduce(self, request: Hello) -> ServerInfo:
        return ServerInfo(
            id=request.id, protocol=PROTOCOL, backend=self.backend, device=self.device,
            most_candidates=self._most, rollouts=self._make_rollout is not None,
            robot=self._make_world is not None, moves_ground=True,
        )  # fmt: skip

    def _keep(self, request: GroundRequest) -> Reply:
        """Keep a ground; the one not asked for since longest makes room."""
        if fault := fault_of(request):
            return Refusal(id=request.id, reason=fault)
        ground = from_request(request)
        name = name_of(ground)
        self._grounds[name] = ground, name_of_solids(ground)
        self._grounds.move_to_end(name)
        if len(self._grounds) > MOST_GROUNDS:
            self._grounds.popitem(last=False)
        return GroundReply(id=request.id)

    def _roll_out(self, request: RolloutRequest) -> Reply:
        if self._make_rollout is None:
            return Refusal(id=request.id, reason="no rollouts are served here")
        if fault := _fault(request, self._most):
            return Refusal(id=request.id, reason=fault)
        if request.ground and request.ground not in self._grounds:
            return Refusal(id=request.id, reason="the ground is not known here; send it first")
        rollout = self._rollout(self._make_rollout, request)
        index = np.array(request.policy_index, dtype=np.int64)
        policies = Policies(  # copied: a message's own arrays are read-only views of its bytes
            np.array(request.states), np.array(request.inputs), np.array(request.feedforward),
            np.array(request.gains), index, np.array(request.step_size),
        )  # fmt: skip
        begin = time.perf_counter()
        states, inputs, forces, finite = rollout.roll_out(request.x0, policies)
        return RolloutReply(
            id=request.id, states=states, inputs=inputs, normal_forces=forces,
            finite=finite.tolist(), compute_s=time.perf_counter() - begin,
        )  # fmt: skip

    def _rollout(self, make: MakeRollout, request: RolloutRequest) -> Rollout:
        """The backend for the request's period, substeps and ground, made at their first use."""
        ground, solids = None, ""
        if request.ground:
            self._grounds.move_to_end(request.ground)
            ground, solids = self._grounds[request.ground]
        key = request.period, request.substeps, solids
        if key not in self._rollouts:
            while len(self._rollouts) >= MOST_BACKENDS:
                self._rollouts.popitem(last=False)
            rollout = make(request.inputs.shape[1], request.period, request.substeps, ground)
            self._rollouts[key] = rollout
        elif ground is not None:
            self._rollouts[key].move_ground(ground)
        self._rollouts.move_to_end(key)
        return self._rollouts[key]

    def _live(self, request: WorldRequest | TickRequest | PlaceRequest, client: bytes) -> Reply:
        if self._make_world is None:
            return Refusal(id=request.id, reason="no robot is simulated here")
        if isinstance(request, WorldRequest):
            if self._world is None:
                self._world = self._make_world()
            self._owner = client
            return self._world.begin(request)
        if self._world is None or client != self._owner:
            return Refusal(id=request.id, reason="no world was begun, or somebody began another")
        if isinstance(request, TickRequest):
            return self._world.tick(request)
        return self._world.place(request)


def _fault(request: RolloutRequest, most_candidates: int) -> str:
    """Fault of a request, with the accepted values; empty without one."""
    policies, knots = request.inputs.shape[:2]
    candidates = len(request.policy_index)
    if not 1 <= candidates <= most_candidates:
        return f"{candidates} candidates; accepted: 1 to {most_candidates}"
    if not 0.0 < request.period < math.inf:
        return f"period is {request.period:g}; give seconds > 0"
    if not 1 <= (steps := candidates * knots * request.substeps) <= MOST_STEPS:
        return (
            f"{steps} physics steps ({candidates} candidates x {knots} knots x "
            f"{request.substeps} substeps); accepted: 1 to {MOST_STEPS}"
        )
    if len(request.step_size) != candidates:
        return f"{len(request.step_size)} step sizes for {candidates} candidates"
    if not all(0 <= index < policies for index in request.policy_index):
        return f"policy_index goes beyond the {policies} policies"
    return ""
