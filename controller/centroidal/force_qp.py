"""The optimisation of Instant QP: forces of the feet that give a desired wrench at once.

Minimise  |A f - b|_S^2 + alpha |f|^2 + beta |f - f_last|^2  within the limits of friction, where
A f is the wrench of the forces about the centre of mass (Da et al. 2020; Xie et al. 2021; the form
is that of Gehring et al. 2013).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from controller.centroidal.friction import check_limits, clip_forces, friction_bounds, friction_rows
from controller.centroidal.options import ForceQpWeights
from controller.centroidal.qp_solver import Status, UpdatedQp

Array = NDArray[np.float64]

UNIT = 100.0  # the solver's forces are in units of this [N], near what a foot carries


class ForceSolution(NamedTuple):
    """Forces (4, 3) [N] on the robot in the world, finite and within limits; how they were found.

    With a status other than "ok" they are the last good ones, as far as the contacts allow them.
    """

    forces: Array
    status: Status
    iterations: int


class ForceQp:
    """Instant QP's problem: set up once, its numbers updated at each solve.

    Attributes:
        qp: with the numbers of the last solve.
    """

    def __init__(
        self, friction: float, force_max: float, force_min: float = 0.0,
        weights: ForceQpWeights | None = None, time_limit: float = 0.0,
    ) -> None:  # fmt: skip
        """Set up with limits of friction [-] and normal force [N]; `time_limit` [s], 0 for none.

        Raises:
            ValueError: limits that no force could keep.
        """
        check_limits(friction, force_max, force_min)
        self._limits = (friction, force_min, force_max)
        self._weights = weights or ForceQpWeights()
        self._wrench_weights = np.array(self._weights.wrench)
        triangle = sparse.csc_matrix(np.triu(np.ones((12, 12))))
        self.qp = UpdatedQp(triangle, friction_rows(4, friction), "hessian", time_limit)
        self._last = np.zeros((4, 3))

    def solve(self, wrench: Array, arms: Array, contacts: Array) -> ForceSolution:
        """Find the forces; never raises for what the numbers are.

        Args:
            wrench: desired force [N] and torque about the centre of mass [N m], in the world (6,).
            arms: from the centre of mass to the feet, in the world (4, 3) [m].
            contacts: (4,), a foot stands where above 0.5; all in the air: zeros, "ok".
        """
        # Copies: what is compiled then sees one kind of array, whatever the caller's are.
        wrench, arms, contacts = (np.array(each, dtype=float) for each in (wrench, arms, contacts))
        if not all(np.isfinite(each).all() for each in (wrench, arms, contacts)):
            return ForceSolution(self._clipped(contacts), "failed", 0)
        if not (contacts > 0.5).any():
            self._last = np.zeros((4, 3))
            return ForceSolution(np.zeros((4, 3)), "ok", 0)
        self._write(wrench, arms, contacts)
        solution = self.qp.solve()
        if solution.status == "ok":
            self._last = self._clip(UNIT * solution.x.reshape(4, 3), contacts)
        return ForceSolution(self._clipped(contacts), solution.status, solution.iterations)

    def _write(self, wrench: Array, arms: Array, contacts: Array) -> None:
        """Write the problem's numbers."""
        qp, options = self.qp, self._weights
        write_wrench_problem(
            wrench, arms, contacts, self._last, self._wrench_weights, options.force, options.change,
            UNIT, qp.hessian, qp.gradient,
        )  # fmt: skip
        _, force_min, force_max = self._limits
        friction_bounds(contacts, force_min / UNIT, force_max / UNIT, qp.lower, qp.upper)

    def _clip(self, forces: Array, contacts: Array) -> Array:
        clip_forces(forces, contacts, *self._limits)
        return forces

    def _clipped(self, contacts: Array) -> Array:
        return self._clip(self._last.copy(), contacts)


@njit(cache=True)
def wrench_map(arms: Array, contacts: Array) -> Array:
    """A (6, 12): force and torque about the centre of mass of stacked forces on `arms` (4, 3) [m].

    Columns of feet in the air are zero.
    """
    result = np.zeros((6, 12))
    for foot in range(4):
        if contacts[foot] > 0.5:
            x, y, z = arms[foot]
            c = 3 * foot
            result[0, c] = result[1, c + 1] = result[2, c + 2] = 1.0
            result[4, c], result[5, c] = z, -y
            result[3, c + 1], result[5, c + 1] = -z, x
            result[3, c + 2], result[4, c + 2] = y, -x
    return result


@njit(cache=True)
def write_wrench_problem(
    wrench: Array, arms: Array, contacts: Array, last: Array, wrench_weights: Array, force: float,
    change: float, unit: float, hessian: Array, gradient: Array,
) -> None:  # fmt: skip
    """Write the upper triangle (78,) and the gradient (12,), for forces in units of `unit` [N]."""
    forward = wrench_map(arms, contacts)
    entry = 0
    for column in range(12):
        foot, axis = column // 3, column % 3
        gradient[column] = -change * unit * last[foot, axis] if contacts[foot] > 0.5 else 0.0
        for row in range(6):
            gradient[column] -= unit * forward[row, column] * wrench_weights[row] * wrench[row]
        for other in range(column + 1):
            value = force + change if other == column else 0.0
            for row in range(6):
                value += wrench_weights[row] * forward[row, other] * forward[row, column]
            hessian[entry] = unit * unit * value
            entry += 1
