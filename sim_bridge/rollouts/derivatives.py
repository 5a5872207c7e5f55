"""Derivatives of the rollouts' own physics along a trajectory: analytic, or by differences.

Each knot is simulated again from its state, by MuJoCo's steps as in `ThreadedRollout`, and the
derivatives of its steps are multiplied. There are no transitions: a touchdown is a step with a
contact after a step without. Threads share the knots, and none holds Python's lock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.kinematic_tree import tree_of
from robots.mujoco_model import move_geoms
from robots.robot import Robot
from robots.soft_contact import soft_contact_of
from robots.terrain import Ground
from saltation.hilqr import Drift, Linearisation, Trajectory
from sim_bridge.compiled_step import MJ_STEP, MJD_TRANSITION_FD, stop_stage_timers
from sim_bridge.rollouts.derivative_kernels import difference_knots, differentiate_knots
from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.rollouts.single import Threads

Array = NDArray[np.float64]

DIFFERENCE = 1e-8  # of states and torques; the study `derivatives` shows which is best
# Two states [q, v] are near where no number differs by more [m, -, rad, m/s, rad/s] ...
NEAR = np.repeat([0.01, 0.005, 0.01, 0.02, 0.1, 0.3], [3, 4, 12, 3, 3, 12])
NEAR_FORCE, NEAR_SHARE = 3.0, 0.15  # ... and no foot's force by more than this [N] and this share
CALM = 0.85  # of a solve's knots must be near for any to be kept


class _Kept(NamedTuple):
    """Derivatives of the last trajectory, with the states and forces of which they are."""

    start: Array  # (37,) the trajectory's first state
    calm: bool  # enough knots were near when this solve began
    states: Array  # (N, 37)
    forces: Array  # (N, 4) [N]
    A: Array
    B: Array


class StepDerivatives(ABC):
    """Common part of both kinds: the physics, and threads that share the knots."""

    _drift: Drift | None = None

    def __init__(
        self,
        robot: Robot,
        period: float,
        substeps: int,
        threads: int,
        ground: Ground | None,
    ) -> None:
        """`period` is the time between knots [s], `substeps` the physics steps within it."""
        stop_stage_timers()
        self.model = planning_model(robot, period / substeps, ground)
        self.substeps = substeps
        self._data = [mujoco.MjData(self.model) for _ in range(threads)]
        self._threads = Threads(threads)

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        move_geoms(self.model, ground)

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36) and B (N, 36, 12) of every knot, as new arrays."""
        knots = len(trajectory.inputs)
        A, B = np.empty((knots, 36, 36)), np.empty((knots, 36, 12))
        self._fill(trajectory, slice(0, knots), A, B)
        return Linearisation(A, B, drift=self._drift)

    def _fill(self, trajectory: Trajectory, knots: slice, A: Array, B: Array) -> None:
        """Fill these knots of A and B; the threads share them."""
        states, inputs = trajectory.states, trajectory.inputs
        borders = np.linspace(knots.start, knots.stop, len(self._data) + 1).astype(int)
        parts = zip(self._data, borders[:-1], borders[1:], strict=True)
        self._threads.run([
            partial(self._derive, data, slice(*part), states, inputs, A, B) for data, *part in parts
        ])  # fmt: skip

    @abstractmethod
    def _derive(
        self, data: mujoco.MjData, part: slice, states: Array, inputs: Array, A: Array, B: Array
    ) -> None:
        """Fill `part` of A and B."""


class RolloutDerivatives(StepDerivatives):
    """Analytic: MuJoCo's contact law differentiated where its solver left it."""

    def __init__(
        self, robot: Robot, period: float, substeps: int = 2, threads: int = 2,
        saltation: bool = False, replay: bool = True, ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Derivatives of steps of period / substeps.

        Args:
            robot: whose physics it is.
            period: between knots [s].
            substeps: physics steps in a knot.
            threads: that share the knots.
            saltation: see `robots.soft_step.saltate`.
            replay: simulate the last step of each knot too. Without, the trajectory must be a
                planner's own, of these same steps: the last step's acceleration is taken from the
                next knot's state, and a knot keeps the derivatives of one near it, see
                `linearise`.
            ground: of the steps; None for the level floor z = 0.
        """
        super().__init__(robot, period, substeps, threads, ground)
        if substeps == 1:  # two steps drift with two velocities
            self._drift = Drift(6, 18, 18, self.model.opt.timestep)
        self._saltation, self._replay = saltation, replay
        self._kept: _Kept | None = None
        level = planning_model(robot, self.model.opt.timestep)
        self._tree, self._contact = tree_of(level), soft_contact_of(robot, level, ground)

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        super().move_ground(ground)
        self._contact, self._kept = self._contact._replace(ground=ground), None

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36) and B (N, 36, 12) of every knot, as new arrays.

        Without `replay`, a knot keeps the derivatives of one that is near it on the last
        trajectory, with the same feet on the ground. A solve in which too few were near when it
        began, as after a push, keeps none; its iterations begin from the same first state.
        """
        if self._replay:
            return super().linearise(trajectory)
        knots, kept = len(trajectory.inputs), self._kept
        A, B = np.empty((knots, 36, 36)), np.empty((knots, 36, 12))
        states, forces = trajectory.states[:knots].copy(), trajectory.aux.copy()
        left = np.ones(knots + 2, dtype=np.bool_)  # whether a knot is to be differentiated
        left[0] = left[-1] = False
        calm = False
        if kept is not None:
            same_solve = np.array_equal(kept.start, states[0])
            first = int(np.argmin(np.abs((kept.states - states[0]) / NEAR).max(axis=1)))
            near = np.flatnonzero(_near(states, forces, kept.states[first:], kept.forces[first:]))
            calm = kept.calm if same_solve else len(near) > CALM * knots
            if calm:
                left[1 + near] = False
                for ours, theirs in ((states, kept.states), (forces, kept.forces), (A, kept.A),
                                     (B, kept.B)):  # fmt: skip
                    ours[near] = theirs[first + near]
        for begin, end in np.flatnonzero(left[1:] != left[:-1]).reshape(-1, 2).tolist():
            self._fill(trajectory, slice(begin, end), A, B)
        self._kept = _Kept(trajectory.states[0].copy(), calm, states, forces, A, B)
        return Linearisation(A, B, drift=self._drift)

    def _derive(
        self, data: mujoco.MjData, part: slice, states: Array, inputs: Array, A: Array, B: Array
    ) -> None:
        differentiate_knots(
            MJ_STEP, self.model._address, data._address, self._tree, self._contact,
            self.model.opt.timestep, self._saltation, self._replay, self.substeps,
            data.qpos, data.qvel, data.qacc, data.ctrl,
            states[part.start : part.stop + 1], inputs[part], A[part], B[part],
        )  # fmt: skip


def _near(states: Array, forces: Array, others: Array, their_forces: Array) -> Array:
    """Whether each state and its feet's forces are near the other's; of the knots that both have.

    Args:
        states, others: (N, 37), (M, 37).
        forces, their_forces: (N, 4), (M, 4) [N].
    """
    both = min(len(states), len(others))
    forces, their_forces = forces[:both], their_forces[:both]
    allowed = NEAR_FORCE + NEAR_SHARE * np.maximum(forces, their_forces)
    same = ((forces > 0.0) == (their_forces > 0.0)) & (np.abs(forces - their_forces) < allowed)
    return (np.abs(states[:both] - others[:both]) < NEAR).all(axis=1) & same.all(axis=1)


class DifferenceDerivatives(StepDerivatives):
    """MuJoCo's own transition derivatives, by finite differences."""

    def __init__(
        self, robot: Robot, period: float, substeps: int = 2, threads: int = 2,
        difference: float = DIFFERENCE, centred: bool = False, ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`period` is the time between knots [s]; `difference` that of states and torques."""
        super().__init__(robot, period, substeps, threads, ground)
        self._difference, self._centred = difference, centred

    def _derive(
        self, data: mujoco.MjData, part: slice, states: Array, inputs: Array, A: Array, B: Array
    ) -> None:
        difference_knots(
            MJ_STEP, MJD_TRANSITION_FD, self.model._address, data._address, self._difference,
            self._centred, self.substeps, data.qpos, data.qvel, data.ctrl,
            states[:-1][part], inputs[part], A[part], B[part],
        )  # fmt: skip
