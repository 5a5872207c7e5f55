"""Solvers for a sequence of force problems: OSQP from scratch, and others.

Each is set up with the first programme, and its `solve` returns the minimiser of another one.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
import osqp
from numpy.typing import NDArray
from scipy import sparse

from controller.centroidal.force_matrices import STAGE
from controller.centroidal.qp_solver import SETTINGS, Programme, UpdatedQp

Array = NDArray[np.float64]

ACCURACY = 1e-6  # of interior points and ProxQP, residuals in units of the weight


class Solver(Protocol):
    """Solves programmes of one structure one after another."""

    def solve(self, programme: Programme) -> Array:
        """The minimiser (n,); it may start from what is left of the call before."""
        ...


def package(name: str) -> Any:
    """A module, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class RawOsqp:
    """OSQP, set up each time, with its defaults but for the accuracy and `settings`."""

    def __init__(self, **settings: Any) -> None:
        ours = {name: SETTINGS[name] for name in ("verbose", "eps_abs", "eps_rel", "max_iter")}
        self._settings = {**ours, **settings}

    def solve(self, programme: Programme) -> Array:
        """See `Solver`."""
        solver = osqp.OSQP()
        solver.setup(*programme, **self._settings)
        return np.array(solver.solve(raise_error=False).x)


class UpdatedOsqp:
    """OSQP as the controller runs it, for problems whose Hessian changes."""

    def __init__(self, first: Programme) -> None:
        size = first.gradient.size
        pattern = sparse.csc_matrix(np.triu(np.ones((size, size))))
        self._qp = UpdatedQp(pattern, first.constraints, "hessian")
        self._columns, self._rows = np.tril_indices(size)

    def solve(self, programme: Programme) -> Array:
        """See `Solver`."""
        qp = self._qp
        qp.hessian[:] = programme.hessian.toarray()[self._rows, self._columns]
        qp.gradient[:] = programme.gradient
        qp.lower[:], qp.upper[:] = programme.lower, programme.upper
        return qp.solve().x


class PiqpSparse:
    """PIQP's multistage factors for problems whose first rows are equalities and change.

    Without its preconditioner: with it, PIQP 0.6.4 ends elsewhere once the matrix is updated.
    """

    def __init__(self, piqp: Any, first: Programme, equalities: int) -> None:
        self._solver, self._equalities = piqp.SparseSolver(), equalities
        self._solver.settings.kkt_solver = piqp.KKTSolver.sparse_multistage
        _set_accuracy(self._solver)
        hessian, gradient, matrix, lower, upper = first
        self._solver.setup(
            hessian, gradient, matrix[:equalities], lower[:equalities],
            matrix[equalities:], lower[equalities:], upper[equalities:],
        )  # fmt: skip

    def solve(self, programme: Programme) -> Array:
        """See `Solver`."""
        n = self._equalities
        self._solver.update(
            c=programme.gradient, A=programme.constraints[:n], b=programme.lower[:n],
            h_l=programme.lower[n:], h_u=programme.upper[n:],
        )  # fmt: skip
        self._solver.solve()
        return np.array(self._solver.result.x)


class PiqpDense:
    """PIQP's dense factors for problems whose Hessian changes."""

    def __init__(self, piqp: Any, first: Programme) -> None:
        self._solver = piqp.DenseSolver()
        _set_accuracy(self._solver)
        matrix = first.constraints.toarray()
        self._solver.setup(
            _full(first), first.gradient, None, None, matrix, first.lower, first.upper
        )

    def solve(self, programme: Programme) -> Array:
        """See `Solver`."""
        self._solver.update(
            P=_full(programme), c=programme.gradient, h_l=programme.lower, h_u=programme.upper
        )
        self._solver.solve()
        return np.array(self._solver.result.x)


class ProxqpDense:
    """ProxQP, warm-started, for problems whose Hessian changes."""

    def __init__(self, proxsuite: Any, first: Programme) -> None:
        proxqp, (rows, size) = proxsuite.proxqp, first.constraints.shape
        solver = self._solver = proxqp.dense.QP(size, 0, rows)
        solver.settings.eps_abs = ACCURACY
        solver.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
        matrix = first.constraints.toarray()
        solver.init(_full(first), first.gradient, None, None, matrix, first.lower, first.upper)

    def solve(self, programme: Programme) -> Array:
        """See `Solver`."""
        self._solver.update(
            H=_full(programme), g=programme.gradient, l=programme.lower, u=programme.upper,
            update_preconditioner=True,
        )  # fmt: skip
        self._solver.solve()
        return np.array(self._solver.results.x)


def condensed(programme: Programme) -> Programme:
    """Convex MPC's problem with the states eliminated: the forces alone are variables."""
    size = programme.gradient.size
    rows, stages = size // 2, np.arange(size).reshape(-1, STAGE)
    f, x = stages[:, :12].ravel(), stages[:, 12:].ravel()
    matrix, weights = programme.constraints.toarray(), programme.hessian.diagonal()
    response = -np.linalg.solve(matrix[:rows, x], matrix[:rows, f])
    free = np.linalg.solve(matrix[:rows, x], programme.lower[:rows])
    hessian = np.diag(weights[f]) + response.T @ (weights[x, None] * response)
    gradient = programme.gradient[f] + response.T @ (weights[x] * free + programme.gradient[x])
    return Programme(
        sparse.csc_matrix(np.triu(hessian)), gradient, sparse.csc_matrix(matrix[rows:, f]),
        programme.lower[rows:], programme.upper[rows:],
    )  # fmt: skip


def _full(programme: Programme) -> Array:
    """The Hessian, of which a programme holds the upper triangle."""
    upper = programme.hessian.toarray()
    return upper + np.triu(upper, 1).T


def _set_accuracy(solver: Any) -> None:
    """Absolute accuracy alone, and no preconditioner, for PIQP."""
    solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = ACCURACY
    solver.settings.eps_rel = solver.settings.eps_duality_gap_rel = 0.0
    solver.settings.preconditioner_iter = 0
