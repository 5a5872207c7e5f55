"""Ways to solve a sequence of force problems: OSQP from scratch, and other solvers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import osqp
from numpy.typing import NDArray
from scipy import sparse

from controller.centroidal.force_matrices import STAGE
from controller.centroidal.qp_solver import SETTINGS, Programme, UpdatedQp

Array = NDArray[np.float64]
Way = Callable[[Programme], Array]  # returns the minimiser; keeps what it can from call to call

ACCURACY = 1e-6  # of interior points and ProxQP, residuals in units of the weight


def package(name: str) -> Any:
    """A module, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def raw_osqp(**settings: Any) -> Way:
    """Set up and solve each time, with OSQP's defaults but for the accuracy and `settings`."""
    ours = {name: SETTINGS[name] for name in ("verbose", "eps_abs", "eps_rel", "max_iter")}

    def solve(problem: Programme) -> Array:
        solver = osqp.OSQP()
        solver.setup(*problem, **{**ours, **settings})
        return np.array(solver.solve(raise_error=False).x)

    return solve


def updated_osqp(first: Programme) -> Way:
    """As the controller does, for problems whose Hessian moves."""
    size = first.gradient.size
    pattern = sparse.csc_matrix(np.triu(np.ones((size, size))))
    qp = UpdatedQp(pattern, first.constraints, "hessian")
    columns, rows = np.tril_indices(size)

    def solve(problem: Programme) -> Array:
        qp.hessian[:] = problem.hessian.toarray()[rows, columns]
        qp.gradient[:], qp.lower[:], qp.upper[:] = problem.gradient, problem.lower, problem.upper
        return qp.solve().x

    return solve


def piqp_sparse(piqp: Any, first: Programme, equalities: int) -> Way:
    """PIQP's multistage factors for problems whose first rows are equalities and move.

    Without its preconditioner: with it, PIQP 0.6.4 ends elsewhere once the matrix is updated.
    """
    solver = piqp.SparseSolver()
    solver.settings.kkt_solver = piqp.KKTSolver.sparse_multistage
    _set(solver)
    hessian, gradient, matrix, lower, upper = first
    solver.setup(
        hessian, gradient, matrix[:equalities], lower[:equalities],
        matrix[equalities:], lower[equalities:], upper[equalities:],
    )  # fmt: skip

    def solve(problem: Programme) -> Array:
        solver.update(
            c=problem.gradient, A=problem.constraints[:equalities], b=problem.lower[:equalities],
            h_l=problem.lower[equalities:], h_u=problem.upper[equalities:],
        )  # fmt: skip
        solver.solve()
        return np.array(solver.result.x)

    return solve


def piqp_dense(piqp: Any, first: Programme) -> Way:
    """PIQP's dense factors for problems whose Hessian moves."""
    solver = piqp.DenseSolver()
    _set(solver)
    matrix = first.constraints.toarray()
    solver.setup(_full(first), first.gradient, None, None, matrix, first.lower, first.upper)

    def solve(problem: Programme) -> Array:
        solver.update(P=_full(problem), c=problem.gradient, h_l=problem.lower, h_u=problem.upper)
        solver.solve()
        return np.array(solver.result.x)

    return solve


def proxqp_dense(proxsuite: Any, first: Programme) -> Way:
    """ProxQP, warm-started, for problems whose Hessian moves."""
    proxqp = proxsuite.proxqp
    rows, size = first.constraints.shape
    solver = proxqp.dense.QP(size, 0, rows)
    solver.settings.eps_abs = ACCURACY
    solver.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
    matrix = first.constraints.toarray()
    solver.init(_full(first), first.gradient, None, None, matrix, first.lower, first.upper)

    def solve(problem: Programme) -> Array:
        solver.update(
            H=_full(problem), g=problem.gradient, l=problem.lower, u=problem.upper,
            update_preconditioner=True,
        )  # fmt: skip
        solver.solve()
        return np.array(solver.results.x)

    return solve


def condensed(problem: Programme) -> Programme:
    """Convex MPC's problem with its states eliminated: the forces alone are variables."""
    size = problem.gradient.size
    rows, stages = size // 2, np.arange(size).reshape(-1, STAGE)
    f, x = stages[:, :12].ravel(), stages[:, 12:].ravel()
    matrix, weights = problem.constraints.toarray(), problem.hessian.diagonal()
    response = -np.linalg.solve(matrix[:rows, x], matrix[:rows, f])
    free = np.linalg.solve(matrix[:rows, x], problem.lower[:rows])
    hessian = np.diag(weights[f]) + response.T @ (weights[x, None] * response)
    gradient = problem.gradient[f] + response.T @ (weights[x] * free + problem.gradient[x])
    limits = sparse.csc_matrix(matrix[rows:, f])
    upper_triangle = sparse.csc_matrix(np.triu(hessian))
    return Programme(upper_triangle, gradient, limits, problem.lower[rows:], problem.upper[rows:])


def _full(problem: Programme) -> Array:
    upper = problem.hessian.toarray()
    return upper + np.triu(upper, 1).T


def _set(solver: Any) -> None:
    solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = ACCURACY
    solver.settings.eps_rel = solver.settings.eps_duality_gap_rel = 0.0
    solver.settings.preconditioner_iter = 0
