"""C candidates on a Warp device: their arrays, and one knot recorded as a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltation.hilqr import Policies
from sim_bridge.rollouts.planning_model import touch_slice
from sim_bridge.rollouts.warp_block import Block
from sim_bridge.rollouts.warp_physics import WarpPhysics, constraint_rows

Array = NDArray[np.float64]

PARKING_HEIGHT = 1.0  # where a diverged candidate waits, out of touch with the floor [m]


class BatchShape(NamedTuple):
    """The sizes that a batch is made for: candidates C, policies P, knots N."""

    candidates: int
    policies: int
    knots: int


class WarpBatch:
    """Fixed arrays for one `BatchShape`, so that the graph of a knot can be replayed over them.

    What goes to the device and what comes back is one block each, as a copy costs some
    microseconds whatever its size; on a CUDA device the host's blocks are pinned.
    """

    def __init__(self, physics: WarpPhysics, shape: BatchShape) -> None:
        self.physics, self.shape = physics, shape
        here, (count, policies, knots) = physics.here, shape
        with here.warp.ScopedDevice(here.device):
            self._data = here.mjw.make_data(
                physics.host_model, nworld=count, nconmax=physics.contacts,
                njmax=constraint_rows(physics.host_model, physics.contacts),
            )  # fmt: skip
            taken: dict[str, tuple[tuple[int, ...], str]] = {
                "start": ((37,), "f"), "nominal_states": ((policies, knots + 1, 37), "f"),
                "nominal_inputs": ((policies, knots, 12), "f"),
                "feedforward": ((policies, knots, 12), "f"),
                "gains": ((policies, knots, 36, 12), "f"),
                "policy_index": ((count,), "i"), "step_size": ((count,), "f"),
            }  # fmt: skip
            if len(physics.solids):
                taken["solids"] = ((len(physics.solids), 12), "f")
            self.taken = Block(here, taken)
            self.given = Block(here, {
                "states": ((count, knots + 1, 37), "f"), "inputs": ((count, knots, 12), "f"),
                "normal_forces": ((count, knots, 4), "f"), "flags": ((count, 2), "i"),
            })  # fmt: skip
            self._knot, self._diverged = (here.warp.zeros(count, dtype=int) for _ in range(2))
            parking = np.concatenate([[0, 0, PARKING_HEIGHT, 1, 0, 0, 0], physics.robot.stand])
            self._limits = here.warp.array(physics.robot.torque_limit, dtype=float)
            self._parking = here.warp.array(parking, dtype=float)
            self._solids = here.warp.array(physics.solids, dtype=int)
            self._touch = touch_slice(physics.host_model).start
            self._graph = self._record()

    def roll_out(
        self, qpos: Array, qvel: Array, states: Array, policies: Policies, solids: Array
    ) -> None:
        """Fill `given` with what the policies do from (qpos, qvel), about `states` (P, N+1, 37).

        `solids` (S, 12): where the ground is, see `warp_physics.solid_poses`.
        """
        warp = self.physics.here.warp
        with np.errstate(over="ignore"):  # a number beyond float32 is one that diverged
            self._write(qpos, qvel, states, policies)
            if len(solids):
                self.taken.host["solids"][:] = solids
        with warp.ScopedDevice(self.physics.here.device):
            self.taken.to_device()
            self._begin()
            for _ in range(self.shape.knots):
                warp.capture_launch(self._graph)
            self._finish()
            self.given.to_host()
            warp.synchronize_device()

    def _write(self, qpos: Array, qvel: Array, states: Array, policies: Policies) -> None:
        host = self.taken.host
        host["start"][:19], host["start"][19:] = qpos, qvel
        host["nominal_states"][:], host["nominal_inputs"][:] = states, policies.inputs
        host["feedforward"][:] = policies.feedforward
        host["gains"][:] = policies.gains.transpose(0, 1, 3, 2)
        host["policy_index"][:], host["step_size"][:] = policies.policy_index, policies.step_size

    def _record(self) -> Any:
        """The graph of one knot, after one that loads every kernel outside of the recording."""
        warp = self.physics.here.warp
        self._begin()
        self._knot_once()
        with warp.ScopedCapture() as capture:
            self._knot_once()
        return capture.graph

    def _knot_once(self) -> None:
        from sim_bridge.rollouts import warp_kernels

        here, data, taken, given = self.physics.here, self._data, self.taken.on, self.given.on
        here.warp.launch(
            warp_kernels.apply_policies, dim=(self.shape.candidates, 12),
            inputs=[
                self._limits, data.qpos, data.qvel, taken["nominal_states"],
                taken["nominal_inputs"], taken["feedforward"], taken["gains"],
                taken["policy_index"], taken["step_size"], self._knot, self._diverged,
            ],
            outputs=[given["states"], given["inputs"], data.ctrl],
        )  # fmt: skip
        for _ in range(self.physics.substeps):
            here.mjw.step(self.physics.model, data)
        here.warp.launch(
            warp_kernels.end_knot, dim=self.shape.candidates,
            inputs=[
                self._touch, self._parking, data.qpos, data.qvel, data.ctrl, data.sensordata,
                self._knot, self._diverged,
            ],
            outputs=[given["normal_forces"]],
        )  # fmt: skip

    def _begin(self) -> None:
        from sim_bridge.rollouts import warp_kernels

        data = self._data
        self.physics.here.warp.launch(
            warp_kernels.begin, dim=(self.shape.candidates, 37), inputs=[self.taken.on["start"]],
            outputs=[
                data.qpos, data.qvel, data.qacc_warmstart, data.time, data.overflow,
                self._diverged, self._knot,
            ],
        )  # fmt: skip
        if len(self.physics.solids):
            self.physics.here.warp.launch(
                warp_kernels.place_solids, dim=(self.shape.candidates, len(self.physics.solids)),
                inputs=[self.taken.on["solids"], self._solids],
                outputs=[data.geom_xpos, data.geom_xmat],
            )  # fmt: skip
        # The contact solver multiplies rows left from an earlier call by 0, and 0 NaN is NaN.
        data.efc.J.zero_()
        data.efc.D.zero_()

    def _finish(self) -> None:
        from sim_bridge.rollouts import warp_kernels

        data, given = self._data, self.given.on
        self.physics.here.warp.launch(
            warp_kernels.finish, dim=(self.shape.candidates, 12),
            inputs=[data.qpos, data.qvel, self._knot, self._diverged, data.overflow],
            outputs=[given["states"], given["flags"]],
        )  # fmt: skip
