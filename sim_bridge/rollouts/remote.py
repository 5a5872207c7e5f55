"""Rollouts by a physics server, and by the physics here where that does not answer in time."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robots.robot import Robot
from robots.terrain import Ground
from runtime.histogram import LogHistogram
from runtime.physics_messages import GroundReply, Refusal, Reply, RolloutReply, RolloutRequest
from saltation.hilqr import Policies
from sim_bridge.ground_exchange import name_of, to_request
from sim_bridge.options import RolloutServerOptions
from sim_bridge.physics_client import PhysicsClient, Silence
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.unavailable import Unavailable

if TYPE_CHECKING:
    from sim_bridge.rollouts.threaded import ThreadedRollout

Array = NDArray[np.float64]

LONGEST_RETRIES = 16  # times the options' retry, between looks at a server that is lost repeatedly
RESOLUTION_MS = 0.001

_LOG = logging.getLogger(__name__)


class RemoteRollout:
    """A rollout backend that asks a server, and the local one whenever that fails; never raises.

    A server that does not answer in time, breaks the connection, or answers what does not fit, is
    lost: this call and those that follow are answered here, without a wait, until it answers a
    greeting. A server that refuses is not lost, but this call is answered here.

    The ground is sent when it has moved, right before the next question and in the same round trip,
    and again after a call that the server did not answer.

    Attributes:
        wait_s: longest wait for an answer [s].
        round_trip_s: what the last call spent beyond the physics [s].
    """

    def __init__(
        self, robot: Robot, server: RolloutServerOptions, local: ThreadedRollout, period: float,
        substeps: int, wait_s: float, name: str = "remote", ground: Ground | None = None,
        moves: bool = False,
    ) -> None:  # fmt: skip
        """Connect, and roll out once, for which the server may compile.

        Args:
            robot: to be rolled out.
            server: where it is.
            local: rolls out where the server does not.
            period: between knots [s].
            substeps: physics steps in a knot.
            wait_s: longest wait for an answer [s].
            name: of this backend, for people.
            ground: to roll out on, the same as the local one's; None for the level floor z = 0.
            moves: whether `move_ground` will be called.

        Raises:
            Unavailable: no server answers there that rolls out on this ground.
        """
        self.wait_s, self.round_trip_s = wait_s, 0.0
        self._server, self._local, self._name = server, local, name
        self._period, self._substeps = period, substeps
        self._lost, self._counts = False, Counter[str]()
        self._trips, self._added = LogHistogram(RESOLUTION_MS), LogHistogram(RESOLUTION_MS)
        self._pause, self._next_look = server.retry, 0.0
        self._refused = ""  # why, when last
        self._ground, self._moves, self._ground_sent = ground, moves, ground is None
        self._ground_name = "" if ground is None else name_of(ground)
        self._client = PhysicsClient(server, name)
        try:
            self._try_out(robot)
        except Unavailable:
            self.close()
            raise

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """Roll every candidate of `policies` out from x0 (37,)."""
        begin = time.perf_counter()
        self._counts["requests"] += 1
        reply = self._ask(x0, policies) if self._is_there() else None
        elapsed = time.perf_counter() - begin
        if reply is None:
            self._counts["fallbacks"] += 1
            self.round_trip_s = elapsed
            return self._local.roll_out(x0, policies)
        physics = min(max(0.0, reply.compute_s), elapsed)  # in this order NaN is 0
        self.round_trip_s = elapsed - physics
        self._trips.add(1e3 * elapsed)
        self._added.add(1e3 * self.round_trip_s)
        return _batch(reply)

    def advance(self, x: Array, torque: Array, duration: float) -> Array:
        """State after `duration` [s] under a constant torque (12,) [N m], by the physics here."""
        return self._local.advance(x, torque, duration)

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now, here and on the server."""
        self._local.move_ground(ground)
        self._ground, self._ground_name, self._ground_sent = ground, name_of(ground), False

    def statistics(self) -> dict[str, Any]:
        """Backend and device; counts of calls, and of those that the local physics answered.

        losses: how often the server was lost; refusals: of the server; round_trip_ms, from question
        to answer, and added_ms, what of it was not physics: quantiles [ms].
        """
        info = self._client.info
        device = info.device if info.backend == self._name else f"{info.backend} on {info.device}"
        counts = {n: self._counts[n] for n in ("requests", "fallbacks", "losses", "refusals")}
        return {
            "backend": self._name, "device": device, **counts,
            "round_trip_ms": asdict(self._trips.quantiles()),
            "added_ms": asdict(self._added.quantiles()),
        }  # fmt: skip

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def _try_out(self, robot: Robot) -> None:
        """Roll out once, and wait for it. Raises Unavailable where that fails."""
        address, patience = self._server.address, self._server.patience
        if not self._client.info.rollouts:
            raise Unavailable(f"the server at {address} serves no rollouts")
        if not self._suits():
            raise Unavailable(
                f"the server at {address} cannot move its ground, as an estimate does; give "
                "terrain_belief known"
            )
        if self._ground is not None:
            message = to_request(self._client.next_id(), self._ground)
            reply = self._client.ask(message, patience)
            if not isinstance(reply, GroundReply):
                raise Unavailable(f"the server at {address} lacks the ground: {_why(reply)}")
            self._ground_sent = True
        reply = self._client.ask(self._request(*_standing(robot)), patience)
        if not isinstance(reply, RolloutReply):
            raise Unavailable(f"the server at {address} does not roll out: {_why(reply)}")

    def _suits(self) -> bool:
        """Whether the server that was greeted last rolls out as is needed here."""
        info = self._client.info
        return info.rollouts and (info.moves_ground or not self._moves)

    def _request(self, x0: Array, policies: Policies) -> RolloutRequest:
        return RolloutRequest(
            id=self._client.next_id(), ground=self._ground_name, period=self._period,
            substeps=self._substeps, x0=x0,
            states=policies.states, inputs=policies.inputs, feedforward=policies.feedforward,
            gains=policies.gains, policy_index=policies.policy_index.tolist(),
            step_size=policies.step_size,
        )  # fmt: skip

    def _ask(self, x0: Array, policies: Policies) -> RolloutReply | None:
        """Rollouts of the server; None without an answer."""
        if self._ground is not None and not self._ground_sent:
            self._client.tell(to_request(self._client.next_id(), self._ground))
            self._ground_sent = True
        reply = self._client.ask(self._request(x0, policies), self.wait_s)
        if isinstance(reply, RolloutReply) and _fits(reply, policies):
            self._pause = self._server.retry
            self._refused = ""
            return reply
        self._ground_sent = False  # it may not have come there, or been lost there
        if isinstance(reply, Refusal):
            self._refuse(reply.reason)
        else:
            self._lose(_why(reply))
        return None

    def _is_there(self) -> bool:
        """Whether to ask the server; looks from time to time for one that is lost."""
        if not self._lost:
            return True
        now = time.monotonic()
        if self._client.greeted() and self._suits():
            self._lost = False
            _LOG.warning("rollouts: the server at %s is back", self._server.address)
        elif now >= self._next_look:
            self._client.greet()
            self._next_look = now + self._server.retry
        return not self._lost

    def _lose(self, why: str) -> None:
        """Leave the server alone for a while: the longer, the more often it was lost in a row."""
        self._counts["losses"] += 1
        self._lost = True
        self._next_look = time.monotonic() + self._pause
        self._pause = min(2.0 * self._pause, LONGEST_RETRIES * self._server.retry)
        _LOG.warning(
            "rollouts: the server at %s is lost (%s); rolling out here until it is back",
            self._server.address, why,
        )  # fmt: skip

    def _refuse(self, why: str) -> None:
        """Say why, once."""
        self._counts["refusals"] += 1
        if why != self._refused:
            self._refused = why
            _LOG.warning(
                "rollouts: the server at %s refuses (%s); rolling out here instead",
                self._server.address, why,
            )  # fmt: skip


def _why(reply: Reply | Silence) -> str:
    """The reason why a reply is not the one that was asked for."""
    if isinstance(reply, Refusal):
        return reply.reason
    return reply.why if isinstance(reply, Silence) else "the answer does not fit"


def _standing(robot: Robot) -> tuple[Array, Policies]:
    """The least there is to roll out: two knots without torque, from the stand."""
    x = np.concatenate(
        [[0.0, 0.0, robot.stand_height, 0.0, 0.0, 0.0, 1.0], robot.stand, np.zeros(18)]
    )
    return x, Policies.of(np.tile(x, (3, 1)), np.zeros((2, 12)), np.zeros((2, 12, 36)))


def _fits(reply: RolloutReply, policies: Policies) -> bool:
    """Whether an answer is as large as the question."""
    expected = (policies.count, policies.inputs.shape[1] + 1, 37)
    return reply.states.shape == expected and len(reply.finite) == policies.count


def _batch(reply: RolloutReply) -> RolloutBatch:
    """The answer; a candidate with numbers that are none is diverged, whatever the server says."""
    sound = np.array(reply.finite, dtype=np.bool_)
    for numbers in (reply.states, reply.inputs, reply.normal_forces):
        with np.errstate(all="ignore"):
            suspect = not np.isfinite(numbers.sum())  # one pass; whose it is matters only then
        if suspect:
            sound &= np.isfinite(numbers).all(axis=(1, 2))
    return RolloutBatch(reply.states, reply.inputs, reply.normal_forces, sound)
