"""The parallel line search without a barrier: each thread rolls whole candidates out in C."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.robot import Robot
from robots.state import mujoco_from_pinocchio
from robots.terrain import Ground
from saltation.hilqr import Policies
from sim_bridge.compiled_step import MJ_STEP
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.kernel import roll_candidate
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.planning_model import touch_slice

Array = NDArray[np.float64]

PARTS = 2  # pieces of a candidate's horizon: 9 candidates are 18 pieces, 9 for each of 2 threads


class ThreadedRollout(MujocoRollout):
    """The same rollouts as `MujocoRollout`'s to the last bit, sooner where cores are shared.

    A batch meets at a barrier after every knot, where one late thread holds all others up and
    these burn their core waiting. Here threads take pieces of candidates from one queue, each a
    compiled loop that knows no Python lock, and meet only at the end. MuJoCo's step is called
    without its Python package's guard: an error that is fatal to MuJoCo would end the process.
    """

    def __init__(
        self, robot: Robot, knots: int, period: float, substeps: int = 2, threads: int = 2,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`period` is the time between knots [s], `substeps` the physics steps within it."""
        super().__init__(robot, knots, period, substeps, threads, ground)
        self._simulations: list[_Simulation] = []  # one a candidate, made at their first use
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """Roll every candidate of `policies` out from x0 (37,)."""
        count, knots = policies.count, policies.inputs.shape[1]
        while len(self._simulations) < count:
            self._simulations.append(_Simulation(self.model))
        out = RolloutBatch(
            np.empty((count, knots + 1, 37)),
            np.empty((count, knots, 12)),
            np.empty((count, knots, 4)),
            np.ones(count, dtype=np.bool_),
        )
        work = _Work(self, x0, policies, out)
        helpers = []
        if self._pool is not None:
            helpers = [self._pool.submit(work.run) for _ in range(self._threads - 1)]
        work.run()
        for helper in helpers:
            helper.result()
        return out


class _Simulation:
    """One candidate's physics and views of its arrays."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.data = data = mujoco.MjData(model)
        self.address: int = data._address
        self.qpos, self.qvel, self.ctrl = data.qpos, data.qvel, data.ctrl
        self.touch = data.sensordata[touch_slice(model)]


class _Work:
    """The pieces of one call, which its threads share."""

    def __init__(
        self, rollout: ThreadedRollout, x0: Array, policies: Policies, out: RolloutBatch
    ) -> None:
        self._rollout, self._policies, self._out = rollout, policies, out
        self._start = mujoco_from_pinocchio(x0[:19], x0[19:])
        knots = out.inputs.shape[1]
        self._borders = [knots * part // PARTS for part in range(PARTS + 1)]
        self._queue = deque((candidate, 0) for candidate in range(policies.count))

    def run(self) -> None:
        """Take pieces until none is left; a candidate's next piece queues when one is done."""
        while True:
            try:
                candidate, part = self._queue.popleft()
            except IndexError:
                return
            self._roll(candidate, part)
            if part + 1 < PARTS:
                self._queue.append((candidate, part + 1))

    def _roll(self, c: int, part: int) -> None:
        """One piece of candidate c."""
        rollout, policies, out = self._rollout, self._policies, self._out
        simulation, p = rollout._simulations[c], policies.policy_index[c]
        if part == 0:
            mujoco.mj_resetData(rollout.model, simulation.data)
            simulation.qpos[:], simulation.qvel[:] = self._start
        out.finite[c] &= roll_candidate(
            MJ_STEP, rollout.model._address, simulation.address, rollout.substeps,
            self._borders[part], self._borders[part + 1],
            simulation.qpos, simulation.qvel, simulation.ctrl, simulation.touch,
            out.states[c], out.inputs[c], out.normal_forces[c],
            policies.states[p], policies.inputs[p], policies.feedforward[p], policies.gains[p],
            policies.step_size[c], rollout.limit,
        )  # fmt: skip
