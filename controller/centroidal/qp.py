"""Quadratic programmes of foot forces: friction, axes of the ground's surface, and the solver.

For a foot in contact |fx| <= mu fz, |fy| <= mu fz and f_min <= fz <= f_max; f = 0 for a foot in the
air. Forces are along the axes of the ground's surface below the foot: z is its normal.

The rows of a foot in the air stay those of an inequality, with f_min = 0: its force moves nothing
in a problem that leaves it out of the dynamics, so that what it costs draws it to 0. The kinds of
the rows then never change, and a solver keeps its factors where only contacts do.

OSQP's settings were measured on walks that are pushed; problems come with forces in units near what
a foot carries, which does better than OSQP's own scaling. In ordinary walks OSQP was the fastest of
OSQP, PIQP and ProxQP; a body that has been pushed very hard takes it hundreds of iterations,
several milliseconds, where PIQP's interior point would need one.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import osqp
from scipy import sparse

from controller.planner_options import CentroidalOptions
from robots.rotations import Array
from robots.terrain import Ground, surface_at, write_surface_frame

ROWS = 5  # of a foot: two for each tangent, one for the normal
Status = Literal["ok", "time_limit", "failed"]
_STATUS: Any = osqp.SolverStatus  # an enumeration that the package makes as it is imported
LARGEST = 1e12  # of what a robot can give rise to; OSQP takes 1e30 for infinity
SETTINGS: dict[str, Any] = {
    "verbose": False,
    "eps_abs": 2e-5,
    "eps_rel": 2e-6,
    "max_iter": 10000,
    "check_termination": 5,
    "scaling": 0,
    "rho": 0.3,
    # By iterations, never by seconds: a repeated run must take the same path, bit for bit.
    "adaptive_rho": 1,
    "adaptive_rho_interval": 25,
    "adaptive_rho_tolerance": 3.0,
}


def friction_rows(feet: int, friction: float) -> sparse.csc_matrix:
    """Return C (5 feet, 3 feet) of lower <= C f <= upper for stacked forces f.

    Rows of a foot: fx - mu fz, fx + mu fz, fy - mu fz, fy + mu fz, fz; the first four over mu where
    it is above 1, so that no row outweighs the others.
    """
    block = np.array([[1, 0, -friction], [1, 0, friction], [0, 1, -friction], [0, 1, friction]])
    rows = np.vstack((block / max(1.0, friction), [0.0, 0.0, 1.0]))
    return sparse.csc_matrix(sparse.block_diag([rows] * feet))


def level_frames(shape: tuple[int, ...]) -> Array:
    """Frames (*shape, 3, 3) of level ground: the identity."""
    return np.tile(np.eye(3), (*shape, 1, 1))


def along_axes(frames: Array, forces: Array) -> Array:
    """Forces (..., 3) along the axes of frames (..., 3, 3), in the world that the frames are in."""
    return (frames @ forces[..., None])[..., 0]


def frames_below(ground: Ground, heading: Array, feet: Array) -> Array:
    """Frames of the ground's surface below feet.

    Args:
        ground: in the world.
        heading: (2, 2) axes of the path in the world, as columns.
        feet: (n, 3) along the path's axes [m].

    Returns:
        (n, 3, 3): their columns are two tangents and the normal, along the path's axes.
    """
    frames, (c, s) = np.empty((len(feet), 3, 3)), heading[:, 0]
    for (x, y, _), frame in zip(feet, frames, strict=True):
        _, nx, ny, nz = surface_at(ground, c * x - s * y, s * x + c * y)
        write_surface_frame(c * nx + s * ny, c * ny - s * nx, nz, frame)
    return frames


class QpSolution(NamedTuple):
    """Minimiser (n,), zeros where it failed; how it was found; how many iterations it took."""

    x: Array
    status: Status
    iterations: int


class ForceLimits(NamedTuple):
    """Friction [-], and least and most normal force of a foot in contact [N]."""

    friction: float
    least: float
    most: float


def limits_of(options: CentroidalOptions) -> ForceLimits:
    """The limits of a planner's forces."""
    return ForceLimits(options.friction, options.force_min, options.force_max)


class ForceProblem:
    """min 1/2 x'P x + q'x  subject to  lower <= C x <= upper, warm-started with its last solution.

    The last rows of C are those of friction. Write the new numbers into the attributes, then solve;
    P and C keep their patterns.

    Attributes:
        hessian: values of the upper triangle of P; constraints: values of C; column by column.
        gradient: q (n,); lower, upper: (m,).
    """

    def __init__(
        self, hessian: Any, constraints: Any, moving: Literal["hessian", "constraints"],
        limits: ForceLimits, unit: float, time_limit: float = 0.0,
    ) -> None:  # fmt: skip
        """Set up.

        Args:
            hessian: upper triangle of P (n, n); constraints: C (m, n); scipy.sparse.csc_matrix.
            moving: which of the two matrices a solve takes anew.
            limits: of the forces; unit: of the solver's [N].
            time_limit: the solver gives up after it [s]; 0: never.
        """
        rows, size = constraints.shape
        self._matrices, self._limits, self._unit = (hessian, constraints), limits, unit
        self.hessian, self.constraints = hessian.data, constraints.data
        self.gradient = np.zeros(size)
        self.lower, self.upper = np.zeros((2, rows))
        self._name = "Px" if moving == "hessian" else "Ax"
        self._moving = self.hessian if moving == "hessian" else self.constraints
        self._settings = dict(SETTINGS)
        if time_limit > 0.0:
            self._settings["time_limit"] = time_limit
        self._solver: Any = None

    def clip(self, forces: Array, contacts: Array) -> Array:
        """Forces (..., 4, 3) [N] moved into their limits; zero for feet not in contact (..., 4).

        The normal force is clipped first, then the tangents to what it allows.
        """
        friction, least, most = self._limits
        normal = np.clip(forces[..., 2:], least, most)
        tangents = np.clip(forces[..., :2], -friction * normal, friction * normal)
        on = contacts[..., None] > 0.5
        return np.where(on, np.concatenate((tangents, normal), axis=-1), 0.0)

    def clipped(self, forces: Array, contacts: Array, frames: Array) -> Array:
        """The same, along the axes of `frames` (..., 4, 3, 3), in the world."""
        return along_axes(frames, self.clip(forces, contacts))

    def solve(self, contacts: Array) -> QpSolution:
        """Solve with the numbers as they stand; never raises for what they are.

        A foot has contact where `contacts` (..., 4) are above 0.5.
        """
        feet, on = (contacts.size, ROWS), contacts.ravel() > 0.5
        bounds = self.lower, self.upper
        lower, upper = (each[-contacts.size * ROWS :].reshape(feet) for each in bounds)
        lower[:], upper[:] = [-np.inf, 0.0] * 2 + [0.0], [0.0, np.inf] * 2 + [0.0]
        lower[:, 4] = np.where(on, self._limits.least / self._unit, 0.0)
        upper[:, 4] = self._limits.most / self._unit
        if not self._usable():
            return self._failed(0)
        try:
            self._hand_over()
            result = self._solver.solve(raise_error=False)
        except (ValueError, osqp.OSQPException):
            return self._failed(0)
        code, iterations = result.info.status_val, int(result.info.iter)
        if code == _STATUS.OSQP_TIME_LIMIT_REACHED:
            return QpSolution(np.zeros_like(self.gradient), "time_limit", iterations)
        if code != _STATUS.OSQP_SOLVED or not np.isfinite(result.x).all():
            return self._failed(iterations)
        return QpSolution(np.array(result.x), "ok", iterations)

    def _usable(self) -> bool:
        """Whether OSQP takes these numbers: what it refuses, it says nothing and solves the old."""
        lower, upper = self.lower, self.upper
        return bool(
            np.abs(self.gradient).max() < LARGEST and np.abs(self._moving).max() < LARGEST
            and lower.max() < LARGEST and upper.min() > -LARGEST and (lower <= upper).all()
        )  # fmt: skip

    def _hand_over(self) -> None:
        """Give the solver the numbers; sets it up where there is none."""
        if self._solver is None:
            solver = osqp.OSQP()
            hessian, constraints = self._matrices
            solver.setup(
                hessian, self.gradient, constraints, self.lower, self.upper, **self._settings
            )
            self._solver = solver
        else:
            numbers = {self._name: self._moving}
            self._solver.update(q=self.gradient, l=self.lower, u=self.upper, **numbers)

    def _failed(self, iterations: int) -> QpSolution:
        """Forget the solver: what it would start from the next time may not even be finite."""
        self._solver = None
        return QpSolution(np.zeros_like(self.gradient), "failed", iterations)
