"""The parallel line search on this computer: each thread rolls whole candidates out in C."""

from __future__ import annotations

from collections import deque
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.mujoco_model import move_geoms
from robots.robot import Robot
from robots.state import mujoco_from_pinocchio
from robots.terrain import Ground
from saltation.hilqr import Policies
from sim_bridge.compiled_step import MJ_STEP, stop_stage_timers
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.kernel import roll_candidate
from sim_bridge.rollouts.planning_model import planning_model, touch_slice
from sim_bridge.rollouts.single import SingleSimulation, Threads

Array = NDArray[np.float64]

PARTS = 2  # pieces of a candidate's horizon: 9 candidates are 18 pieces, 9 for each of 2 threads


class ThreadedRollout(SingleSimulation):
    """Rolls C policies out from one state by MuJoCo, whatever the number of threads.

    Threads take pieces of candidates from one queue, each a compiled loop that knows no Python
    lock, and meet only at the end: `mujoco.batch.Batch` meets after every knot, where one late
    thread holds all others up. MuJoCo's step is called without its Python package's guard: an error
    that is fatal to MuJoCo would end the process. The torque is held over a knot and limited to the
    motors'.
    """

    def __init__(
        self, robot: Robot, knots: int, period: float, substeps: int = 2, threads: int = 2,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`period` is the time between knots [s], `substeps` the physics steps within it."""
        super().__init__(robot, ground)
        stop_stage_timers()
        self.limit = robot.torque_limit
        self.knots, self.period, self.substeps = knots, period, substeps
        self.model = planning_model(robot, period / substeps, ground)
        self._threads = Threads(threads)
        self._simulations: list[_Simulation] = []  # one a candidate, made at their first use

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        super().move_ground(ground)
        move_geoms(self.model, ground)

    def statistics(self) -> dict[str, Any]:
        """Name of the physics."""
        return {"backend": "mujoco", "device": "cpu"}

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
        self._threads.run([_Work(self, x0, policies, out).run] * self._threads.count)
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
