"""The optimisation of Convex MPC: forces of the feet over a horizon (Di Carlo et al. 2018).

Minimise  sum_k |x_k - x_ref_k|_Q^2 + alpha |f_k - f_ref_k|^2  subject to the rigid body's dynamics
and the limits of friction, about the ground's normal below each foot. f_ref shares the weight
evenly among the feet in contact, so that what forces cost does not make the body sag.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.force_matrices import (
    STAGE,
    constraint_pattern,
    cost_matrix,
    write_constraints,
    write_dynamics_bounds,
    write_gradient,
)
from controller.centroidal.friction import check_limits, clip_forces, friction_bounds
from controller.centroidal.options import ForceMpcWeights
from controller.centroidal.qp_solver import Status, UpdatedQp
from controller.centroidal.rigid_body import SingleRigidBody, invert_symmetric, roll_out
from controller.centroidal.surface_frames import along_axes, level_frames
from robots.conventions import GRAVITY

Array = NDArray[np.float64]


class ForcePlan(NamedTuple):
    """What a solve gives.

    Attributes:
        forces: (N, 4, 3) [N] on the robot, in the world; always finite and within their limits.
        states: (N, 12) predicted after each step; zero where the inputs were not finite.
        status: "ok"; "time_limit" and "failed" come with the last good forces, as far as the
            contacts allow them.
        iterations: of the solver.
    """

    forces: Array
    states: Array
    status: Status
    iterations: int


class ForceMpc:
    """Convex MPC's problem: set up once, its numbers updated at each solve.

    Attributes:
        qp: with the numbers of the last solve.
    """

    def __init__(
        self, body: SingleRigidBody, steps: int, weights: ForceMpcWeights, friction: float,
        force_max: float, force_min: float = 0.0, time_limit: float = 0.0, level: bool = True,
    ) -> None:  # fmt: skip
        """Set up for a horizon of `steps`.

        Args:
            friction: coefficient of the pyramid's sides [-].
            force_max, force_min: limits of the normal force of a foot in contact [N].
            time_limit: the solver gives up after it [s]; 0: never.
            level: whether the ground is; then the matrices have fewer numbers.

        Raises:
            ValueError: limits that no force could keep, or no step.
        """
        check_limits(friction, force_max, force_min)
        if steps < 1:
            raise ValueError(f"steps is {steps}; give 1 or more")
        self.body, self.steps, self._level = body, steps, level
        self._limits = (friction, force_min, force_max)
        self._weights, self._force_weight = np.array(weights.state_weights()), weights.force
        self._weight = body.mass * GRAVITY  # also the unit of the solver's forces
        self.qp = UpdatedQp(
            cost_matrix(steps, self._weights, self._force_weight, self._weight),
            constraint_pattern(steps, friction, level), "constraints", time_limit,
        )  # fmt: skip
        self._last = np.zeros((steps, 4, 3))  # along the axes of the ground's surface

    def solve(
        self, x0: Array, x_ref: Array, arms: Array, contacts: Array, inertia_in_world: Array,
        dt: float | Array, frames: Array | None = None,
    ) -> ForcePlan:  # fmt: skip
        """Find the forces of N steps; never raises for what the numbers are.

        Args:
            x0: state now (12,); x_ref: desired after each step (N, 12).
            arms: from the centre of mass to the feet, in the world (N, 4, 3) [m].
            contacts: (N, 4), a foot stands where above 0.5.
            inertia_in_world: about the centre of mass (3, 3) [kg m^2].
            dt: duration of the steps, one for all or one each (N,) [s].
            frames: axes of the ground's surface below the feet, in the world (N, 4, 3, 3); None
                where the ground is level, and there alone.
        """
        if frames is None or self._level:
            frames = level_frames((self.steps, 4))
        # Copies: what is compiled then sees one kind of array, whatever the caller's are.
        x0, x_ref, arms, contacts, inertia, frames = (
            np.array(each, dtype=float)
            for each in (x0, x_ref, arms, contacts, inertia_in_world, frames)
        )
        durations = np.array(np.broadcast_to(dt, self.steps), dtype=float)
        inverse = invert_symmetric(inertia)
        inputs = (x0, x_ref, arms, contacts, inverse, durations, frames)
        if not all(np.isfinite(each).all() for each in inputs) or durations.min() <= 0.0:
            return ForcePlan(
                self._clipped(contacts, frames), np.zeros((self.steps, 12)), "failed", 0
            )
        self._write(*inputs)
        solution = self.qp.solve()
        if solution.status == "ok":
            forces = solution.x.reshape(self.steps, STAGE)[:, :12]
            self._last = self._weight * forces.reshape(self.steps, 4, 3)
        forces = self._clipped(contacts, frames)
        states = np.empty((self.steps, 12))
        roll_out(x0, forces, arms, self.body.mass, inverse, durations, states)
        return ForcePlan(forces, states, solution.status, solution.iterations)

    def _write(
        self, x0: Array, x_ref: Array, arms: Array, contacts: Array, inverse: Array, dt: Array,
        frames: Array,
    ) -> None:  # fmt: skip
        """Write the problem's numbers."""
        qp, mass, unit = self.qp, self.body.mass, self._weight
        _, force_min, force_max = self._limits
        rows = 12 * self.steps
        write_constraints(
            arms, contacts, frames, self._level, inverse, dt, mass, unit, qp.constraints
        )
        write_dynamics_bounds(x0, dt, qp.lower, qp.upper)
        friction_bounds(
            contacts.ravel(), force_min / unit, force_max / unit, qp.lower[rows:], qp.upper[rows:]
        )
        write_gradient(
            x_ref, contacts, frames, self._weights, self._force_weight, self._weight, unit,
            qp.gradient,
        )  # fmt: skip

    def _clipped(self, contacts: Array, frames: Array) -> Array:
        """The last good forces, in the world."""
        forces = self._last.copy()
        clip_forces(forces.reshape(-1, 3), contacts.ravel(), *self._limits)
        return along_axes(frames, forces)
