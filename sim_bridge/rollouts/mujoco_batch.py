"""The parallel line search's physics: candidate policies rolled out on `mujoco.batch.Batch`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from robots.mujoco_model import move_geoms
from robots.robot import Robot
from robots.state import mujoco_from_pinocchio
from robots.terrain import Ground
from saltation.hilqr import Policies
from sim_bridge.compiled_step import stop_stage_timers
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.kernel import apply_policies, record_states
from sim_bridge.rollouts.planning_model import planning_model, touch_slice
from sim_bridge.rollouts.single import SingleSimulation

Array = NDArray[np.float64]


class MujocoRollout:
    """Rolls C policies out from one state, all at once.

    Every candidate is one simulation of a batch, stepped on a thread pool: the results do not
    depend on the number of threads. The torque is held over a knot and limited to the motors'.

    Attributes:
        round_trip_s: zero: no server is asked.
    """

    round_trip_s = 0.0

    def __init__(
        self, robot: Robot, knots: int, period: float, substeps: int = 2, threads: int = 2,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`period` is the time between knots [s], `substeps` the physics steps within it."""
        stop_stage_timers()
        self.limit = robot.torque_limit
        self.knots, self.period, self.substeps = knots, period, substeps
        self.model = planning_model(robot, period / substeps, ground)
        self._batches: dict[int, _BoundBatch] = {}
        self._threads = threads
        self._foot_slice = touch_slice(self.model)
        self._single = SingleSimulation(robot, ground)

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        move_geoms(self.model, ground)
        self._batches.clear()  # they have copies of the model
        self._single.move_ground(ground)

    def batch(self, candidates: int) -> _BoundBatch:
        """The batch for a number of candidates, made at its first use."""
        if candidates not in self._batches:
            threads = min(self._threads, candidates)
            self._batches[candidates] = _BoundBatch(self.model, candidates, threads)
        return self._batches[candidates]

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """Roll every candidate of `policies` out from x0 (37,)."""
        count, knots = len(policies.policy_index), policies.inputs.shape[1]
        bound = self.batch(count)
        states = np.empty((count, knots + 1, 37))
        inputs = np.empty((count, knots, 12))
        forces = np.empty((count, knots, 4))
        bound.reset(x0)
        step, substeps, touch = bound.batch.step, self.substeps, bound.touch[:, self._foot_slice]
        for k in range(knots):
            apply_policies(
                k, bound.qpos, bound.qvel, states, inputs, bound.ctrl, policies.states,
                policies.inputs, policies.feedforward, policies.gains, policies.policy_index,
                policies.step_size, self.limit,
            )  # fmt: skip
            step(nstep=substeps)
            forces[:, k] = touch
        record_states(knots, bound.qpos, bound.qvel, states)
        finite = [
            bool(np.isfinite(x).all() and np.isfinite(u).all())
            for x, u in zip(states, inputs, strict=True)
        ]
        return RolloutBatch(states, inputs, forces, np.array(finite))

    def statistics(self) -> dict[str, Any]:
        """Which physics this is."""
        return {"backend": "mujoco", "device": "cpu"}

    def advance(self, x: Array, torque: Array, duration: float) -> Array:
        """State after `duration` [s] under a constant torque (12,) [N m], in 1 ms steps or less."""
        return self._single.advance(x, torque, duration)


class _BoundBatch:
    """A batch with its live arrays."""

    def __init__(self, model: mujoco.MjModel, candidates: int, threads: int) -> None:
        self.batch = Batch(model, candidates, nthread=threads)
        self.qpos, self.qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        self.ctrl, self.touch = self.batch.bind("ctrl"), self.batch.bind("sensordata")
        self._start = self.batch.state.copy()

    def reset(self, x0: Array) -> None:
        """Put every simulation at x0, with no memory of the last call (repeatable to the bit)."""
        self.batch.state[:] = self._start
        self.qpos[:], self.qvel[:] = mujoco_from_pinocchio(x0[:19], x0[19:])
