"""A quadratic programme whose pattern stays and whose numbers change, solved by OSQP."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import osqp
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Status = Literal["ok", "time_limit", "failed"]

_STATUS: Any = osqp.SolverStatus  # an enumeration that the package makes as it is imported

# Iterations of ADMM, unlike seconds, are the same in every run: the penalty may adapt by them only.
_SETTINGS = {
    "verbose": False,
    "eps_abs": 1e-5,
    "eps_rel": 1e-5,
    "max_iter": 2000,
    "check_termination": 10,
    "adaptive_rho": 1,
    "adaptive_rho_interval": 50,
}


class QpSolution(NamedTuple):
    """Minimiser (n,), how it was found, and how many iterations it took."""

    x: Array
    status: Status
    iterations: int


class DenseQp:
    """min 1/2 x'P x + q'x  subject to  lower <= C x <= upper, warm-started with its last solution.

    Attributes:
        hessian: values of the upper triangle of P, column by column (n (n+1) / 2,): write here.
        gradient: q (n,): write here; lower, upper: (m,): write here.
    """

    def __init__(self, constraints: Any, time_limit: float = 0.0) -> None:
        """Set up for C (m, n), sparse by columns; `time_limit` [s], 0 for none."""
        rows, size = constraints.shape
        self.hessian = _upper_triangle(np.eye(size))
        self.gradient = np.zeros(size)
        self.lower, self.upper = np.full(rows, -1.0), np.full(rows, 1.0)
        pattern = sparse.csc_matrix(np.triu(np.ones((size, size))))
        pattern.data[:] = self.hessian
        settings: dict[str, Any] = dict(_SETTINGS)
        if time_limit > 0.0:
            settings["time_limit"] = time_limit
        self._solver: Any = osqp.OSQP()
        self._solver.setup(pattern, self.gradient, constraints, self.lower, self.upper, **settings)

    def solve(self) -> QpSolution:
        """Solve with the numbers as they stand; never raises."""
        try:
            self._solver.update(q=self.gradient, l=self.lower, u=self.upper, Px=self.hessian)
            result = self._solver.solve(raise_error=False)
        except (ValueError, osqp.OSQPException):
            return QpSolution(np.zeros_like(self.gradient), "failed", 0)
        code, x = result.info.status_val, np.asarray(result.x, dtype=np.float64)
        status: Status = "failed"
        if code == _STATUS.OSQP_SOLVED:
            status = "ok"
        elif code == _STATUS.OSQP_TIME_LIMIT_REACHED:
            status = "time_limit"
        if not np.isfinite(x).all():
            x, status = np.zeros_like(x), "failed"
        return QpSolution(x, status, int(result.info.iter))


def _upper_triangle(matrix: Array) -> Array:
    """Values of the upper triangle of a matrix (n, n), column by column."""
    columns, rows = np.tril_indices(matrix.shape[0])
    return matrix[rows, columns]
