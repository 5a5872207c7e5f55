"""What all rollouts here share: one state on from now, by MuJoCo on the CPU; threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.mujoco_model import move_geoms
from robots.robot import Robot
from robots.state import mujoco_from_pinocchio, pinocchio_from_mujoco
from robots.terrain import Ground
from sim_bridge.rollouts.planning_model import planning_model

Array = NDArray[np.float64]

LONGEST_STEP = 0.001  # of the physics [s]


class SingleSimulation:
    """Simulates one state for some time under a constant torque; base of the rollouts here.

    One short simulation costs less here than the way to a device or a server and back.

    Attributes:
        round_trip_s: zero: no server is asked.
    """

    round_trip_s = 0.0

    def __init__(self, robot: Robot, ground: Ground | None = None) -> None:
        self._single = planning_model(robot, LONGEST_STEP, ground)
        self._data = mujoco.MjData(self._single)

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        move_geoms(self._single, ground)

    def advance(self, x: Array, torque: Array, duration: float) -> Array:
        """State after `duration` [s] under a constant torque (12,) [N m], in 1 ms steps or less."""
        data, model = self._data, self._single
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        steps = max(1, round(duration / LONGEST_STEP))
        model.opt.timestep = duration / steps
        for _ in range(steps):
            mujoco.mj_step(model, data)
        return np.concatenate(pinocchio_from_mujoco(data.qpos, data.qvel))


class Threads:
    """Threads that share work; the caller is the first of them."""

    def __init__(self, count: int) -> None:
        self.count, self._others = count, ThreadPoolExecutor(max(1, count - 1))

    def run(self, shares: Sequence[Callable[[], None]]) -> None:
        """Do all shares at once, and wait for them."""
        others = [self._others.submit(share) for share in shares[1:]]
        shares[0]()
        for each in others:
            each.result()
