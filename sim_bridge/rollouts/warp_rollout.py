"""The parallel line search's physics on a GPU: closed-loop rollouts by MuJoCo Warp, in float32."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.robot import Robot
from robots.state import mujoco_from_pinocchio
from robots.terrain import Ground
from saltation.hilqr import Policies
from sim_bridge.options import WarpOptions
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.single import SingleSimulation
from sim_bridge.rollouts.warp_batch import BatchShape, WarpBatch
from sim_bridge.rollouts.warp_device import open_device
from sim_bridge.rollouts.warp_physics import make_physics, solid_poses

Array = NDArray[np.float64]

KEPT = 8  # batches of different shapes, each with its arrays on the device


class WarpRollout(SingleSimulation):
    """Rolls C policies out from one state, the whole horizon on the device.

    The host sends the policies, the device replays one recorded knot after another, and all states
    come back at once. The first call of a shape compiles or loads the kernels, which may take
    tens of seconds; it is best made before anything waits for it.

    A candidate is not `finite` where its numbers are not, where one exceeds 1e10, and where a
    contact may have been dropped because no room was left for it: this is never silent. The room is
    shared, so that all candidates of such a call are out.

    Attributes:
        device: in full; overflows: candidates so far whose contacts did not fit.
    """

    def __init__(
        self, robot: Robot, period: float, substeps: int, options: WarpOptions,
        contacts: int | None = None, ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`period` is the time between knots [s], `substeps` the physics steps within it.

        `contacts`: room for so many a candidate, a whole robot's where None. `ground`: None for the
        level floor z = 0.

        Raises:
            Unavailable: a package or the device is not here.
        """
        super().__init__(robot, ground)
        here = open_device(options.device)
        self.device, self.overflows = here.name, 0
        self._physics = make_physics(
            robot, here, period / substeps, substeps, options.deterministic, contacts, ground
        )
        self._solids = solid_poses(self._physics.host_model, ground)
        overflow = here.mjw.OverflowType
        # The other bits are of solvers that stop early, which a line search may judge by its cost.
        self._dropped = int(
            overflow.NEFC | overflow.NJMAX_NNZ | overflow.BROADPHASE | overflow.NARROWPHASE
            | overflow.HFIELD
        )  # fmt: skip
        self._batches: dict[BatchShape, WarpBatch] = {}

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """Roll every candidate of `policies` out from x0 (37,)."""
        shape = BatchShape(policies.count, *policies.inputs.shape[:2])
        if not ((policies.policy_index >= 0) & (policies.policy_index < shape.policies)).all():
            raise IndexError("a candidate names a policy that is not there")  # unseen on a device
        batch = self._batch(shape)
        # Robot and ground are moved to the origin, so that float32 loses nothing far from it.
        origin = np.zeros(37)
        origin[:2] = np.where(np.isfinite(x0[:2]), x0[:2], 0.0)
        near = x0 - origin
        qpos, qvel = mujoco_from_pinocchio(near[:19], near[19:])
        solids = self._solids - np.pad(origin[:2], (0, 10))
        batch.roll_out(qpos, qvel, policies.states - origin, policies, solids)
        return self._result(batch.given.host, origin)

    def _result(self, given: dict[str, Any], origin: Array) -> RolloutBatch:
        states = given["states"].astype(np.float64)
        states[:, :, :2] += origin[:2]
        diverged, overflow = given["flags"].T
        dropped = (overflow & self._dropped) != 0
        if dropped.any():
            self._count(int(dropped.sum()))
        return RolloutBatch(
            states,
            given["inputs"].astype(np.float64),
            given["normal_forces"].astype(np.float64),
            (diverged == 0) & ~dropped,
        )

    def _count(self, candidates: int) -> None:
        if not self.overflows:
            logging.getLogger(__name__).warning(
                "MuJoCo Warp had no room for a contact: %d candidates count as diverged", candidates
            )
        self.overflows += candidates

    def _batch(self, shape: BatchShape) -> WarpBatch:
        """The batch for a shape, made at its first use; the one not used for longest makes room."""
        batch = self._batches.pop(shape, None)
        if batch is None:
            while len(self._batches) >= KEPT:
                del self._batches[next(iter(self._batches))]
            batch = WarpBatch(self._physics, shape)
        self._batches[shape] = batch
        return batch

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now, from the next call on."""
        super().move_ground(ground)
        self._solids = solid_poses(self._physics.host_model, ground)

    def statistics(self) -> dict[str, Any]:
        """Plain values for a report."""
        return {"backend": "warp", "device": self.device, "overflows": self.overflows}
