"""A quadratic programme whose pattern stays and whose numbers change, solved by OSQP.

The settings were measured on walks that are pushed; problems come with forces in units near what a
foot carries, which does better than OSQP's own scaling. In ordinary walks OSQP was the fastest of
OSQP, PIQP and ProxQP; a body that has been pushed very hard takes it hundreds of iterations,
several milliseconds, where PIQP's interior point would need one.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import osqp
from numpy.typing import NDArray

Array = NDArray[np.float64]
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


class Programme(NamedTuple):
    """The numbers of one problem.

    Attributes:
        hessian: upper triangle of P (n, n); constraints: C (m, n); scipy.sparse.csc_matrix.
        gradient: q (n,); lower, upper: (m,).
    """

    hessian: Any
    gradient: Array
    constraints: Any
    lower: Array
    upper: Array


class QpSolution(NamedTuple):
    """Minimiser (n,), zeros where it failed; how it was found; how many iterations it took."""

    x: Array
    status: Status
    iterations: int


class UpdatedQp:
    """min 1/2 x'P x + q'x  subject to  lower <= C x <= upper, warm-started with its last solution.

    Write the new numbers into the attributes, then solve; P and C keep their patterns.

    Attributes:
        hessian: values of the upper triangle of P; constraints: values of C; column by column.
        gradient: q (n,); lower, upper: (m,).
    """

    def __init__(
        self, hessian: Any, constraints: Any, moving: Literal["hessian", "constraints"],
        time_limit: float = 0.0,
    ) -> None:  # fmt: skip
        """Set up.

        Args:
            hessian: upper triangle of P (n, n); constraints: C (m, n); scipy.sparse.csc_matrix.
            moving: which of the two matrices a solve takes anew.
            time_limit: the solver gives up after it [s]; 0: never.
        """
        rows, size = constraints.shape
        self._matrices = (hessian, constraints)
        self.hessian, self.constraints = hessian.data, constraints.data
        self.gradient = np.zeros(size)
        self.lower, self.upper = np.full(rows, -1.0), np.full(rows, 1.0)
        self._name = "Px" if moving == "hessian" else "Ax"
        self._moving = self.hessian if moving == "hessian" else self.constraints
        self._settings = dict(SETTINGS)
        if time_limit > 0.0:
            self._settings["time_limit"] = time_limit
        self._solver: Any = None

    def solve(self) -> QpSolution:
        """Solve with the numbers as they stand; never raises for what they are."""
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

    def programme(self) -> Programme:
        """A copy of the numbers as they stand."""
        hessian, constraints = self._matrices
        return Programme(
            hessian.copy(), self.gradient.copy(), constraints.copy(),
            self.lower.copy(), self.upper.copy(),
        )  # fmt: skip

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
