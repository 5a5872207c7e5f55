"""The parallel line search's physics: candidate policies rolled out on `mujoco.batch.Batch`."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from hybrid.hilqr import Policies
from robots.a1.constants import FOOT_NAMES, MJCF_PATH
from robots.state import mujoco_from_pinocchio, pinocchio_from_mujoco
from sim_bridge.compiled_step import stop_stage_timers
from sim_bridge.rollout_kernel import apply_policies, record_states

Array = NDArray[np.float64]


FLOOR_GROUP, FOOT_GROUP = 0, 1  # geom groups of the model that a rollout needs


class RolloutBatch(NamedTuple):
    """What C candidates did over N knots.

    Attributes:
        states: x = [q, v] (C, N+1, 37); inputs: torques after saturation (C, N, 12) [N m];
        normal_forces: force on each foot late in the knot (C, N, 4) [N];
        finite: False for a candidate whose physics diverged (C,).
    """

    states: Array
    inputs: Array
    normal_forces: Array
    finite: NDArray[np.bool_]


class MujocoRollout:
    """Rolls C policies out from one state, all at once.

    Every candidate is one simulation of a batch, stepped on a thread pool: the results do not
    depend on the number of threads. The torque is held over a knot and limited to the motors'.
    """

    def __init__(self, knots: int, period: float, substeps: int = 2, threads: int = 2) -> None:
        """`period` is the time between knots [s], `substeps` the physics steps within it."""
        stop_stage_timers()
        self.knots, self.period, self.substeps = knots, period, substeps
        self.model = planning_model(period / substeps)
        self._batches: dict[int, _BoundBatch] = {}
        self._threads = threads
        self._foot_slice = touch_slice(self.model)
        self._single_model = planning_model(0.001)
        self._single = mujoco.MjData(self._single_model)

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
                policies.step_size,
            )  # fmt: skip
            step(nstep=substeps)
            forces[:, k] = touch
        record_states(knots, bound.qpos, bound.qvel, states)
        finite = [
            bool(np.isfinite(x).all() and np.isfinite(u).all())
            for x, u in zip(states, inputs, strict=True)
        ]
        return RolloutBatch(states, inputs, forces, np.array(finite))

    def advance(self, x: Array, torque: Array, duration: float) -> Array:
        """State after `duration` [s] under a constant torque (12,) [N m], in 1 ms steps or less."""
        data, model = self._single, self._single_model
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        steps = max(1, round(duration / 0.001))
        model.opt.timestep = duration / steps
        for _ in range(steps):
            mujoco.mj_step(model, data)
        return np.concatenate(pinocchio_from_mujoco(data.qpos, data.qvel))


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


def planning_model(timestep: float) -> mujoco.MjModel:
    """The A1 as the planner simulates it: only feet collide, and nothing unused is computed.

    The same motion as the whole model's with its body collisions off, in 0.6 of the time.
    """
    spec = mujoco.MjSpec.from_file(str(MJCF_PATH))
    for unused in _unused(spec):
        spec.delete(unused)
    model = spec.compile()
    option, flags = model.opt, mujoco.mjtDisableBit
    option.timestep = timestep
    # The A1 has no damping, so Euler is implicitfast less a factorisation; matrices of 18 rows are
    # faster dense; a cold start of the contact solver takes fewer iterations than a warm one.
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    # A diverged candidate must stay diverged, not start again from the model's default pose.
    off = (
        flags.mjDSBL_EULERDAMP, flags.mjDSBL_ISLAND, flags.mjDSBL_AUTORESET,
        flags.mjDSBL_WARMSTART, flags.mjDSBL_MIDPHASE, flags.mjDSBL_EQUALITY,
        flags.mjDSBL_FRICTIONLOSS, flags.mjDSBL_SPRING, flags.mjDSBL_DAMPER,
    )  # fmt: skip
    option.disableflags |= sum(int(flag) for flag in off)
    return model


def _unused(spec: mujoco.MjSpec) -> list:
    """What moves with the robot and does not touch the floor: looks, body shapes, cameras."""
    geoms = [geom for geom in spec.geoms if geom.group not in (FLOOR_GROUP, FOOT_GROUP)]
    return [*geoms, *spec.cameras, *spec.lights]


def touch_slice(model: mujoco.MjModel) -> slice:
    """Where the feet's touch sensors stand in `sensordata`, in foot order."""
    addresses = [int(model.sensor(f"{foot}_touch").adr[0]) for foot in FOOT_NAMES]
    return slice(addresses[0], addresses[-1] + 1)
