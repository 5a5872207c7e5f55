"""A nonlinear programme on CasADi with IPOPT whose failure names the constraint and the waypoint.

    minimise f(z; q)   subject to   low <= g(z; q) <= high,   z_low <= z <= z_high

It is built once, with CasADi's exact first and second derivatives, and solved often: for other
bounds, parameters q and guesses. Nothing raises in ``solve`` but a person's interrupt.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np

from saltation.convergent.interrupts import interruptible
from saltation.systems import Array

if hasattr(ca.GlobalOptions, "setNumpyMode"):  # numpy's functions on expressions, no warning
    ca.GlobalOptions.setNumpyMode(-1)

NlpStatus = Literal["ok", "infeasible", "iteration_limit", "solver_failed"]
_ENDS: dict[str, NlpStatus] = {
    "Maximum_Iterations_Exceeded": "iteration_limit",
    "Maximum_CpuTime_Exceeded": "iteration_limit",
    "Maximum_WallTime_Exceeded": "iteration_limit",
    "Infeasible_Problem_Detected": "infeasible",
    "Restoration_Failed": "infeasible",
}  # IPOPT's word and ours; all others are "solver_failed"
_TOLERANCE = 1e-8  # IPOPT's own
_FEASIBLE = 1e-6  # the largest violation of a solution, in the constraints' units
_SOLVED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


class ConstraintGroup(NamedTuple):
    """Constraints of one name; row i belongs to waypoint ``first_waypoint + i``."""

    name: str  # as a person is told
    expression: Any  # ca.SX (k,)
    low: float
    high: float
    first_waypoint: int = 0


class NlpResult(NamedTuple):
    """End of the solver; with "ok" and only then, a local optimum."""

    status: NlpStatus
    z: Array  # may be past its bounds by some 1e-8, as IPOPT takes them
    cost: float
    violation: float  # of the constraints, the largest; z is feasible where it is small
    feasible: bool
    iterations: int
    message: str = ""  # for a person, where the status is not "ok"


class Nlp:
    """A programme in variables z and parameters q."""

    def __init__(
        self,
        variables: Any,
        cost: Any,
        groups: Sequence[ConstraintGroup],
        parameters: Any = None,
        max_iterations: int = 1000,
    ) -> None:
        """Build the programme, (n,) variables and (k,) parameters as columns of ca.SX."""
        self._groups = tuple(groups)
        q = ca.SX(0, 1) if parameters is None else parameters
        g = ca.vertcat(*(group.expression for group in self._groups))
        rows = np.array([group.expression.numel() for group in self._groups], int)
        self._low = np.repeat([group.low for group in self._groups], rows)
        self._high = np.repeat([group.high for group in self._groups], rows)
        self._names = [
            (group.name, group.first_waypoint + i)
            for group, count in zip(self._groups, rows, strict=True)
            for i in range(count)
        ]
        settings = {
            "print_time": False,
            "show_eval_warnings": False,
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "ipopt.max_iter": max_iterations,
            "ipopt.tol": _TOLERANCE,
            "ipopt.mu_strategy": "adaptive",
        }
        programme = {"x": variables, "p": q, "f": cost, "g": g}
        self._constraints = ca.Function("g", [variables, q], [g])  # IPOPT's are 0 where it gave up
        self._solver = ca.nlpsol("convergent", "ipopt", programme, settings)
        self._lock = threading.Lock()  # two threads in one solver end the process

    def solve(self, guess: Array, low: Array, high: Array, q: Array | None = None) -> NlpResult:
        """A local optimum near a guess (n,), between bounds (n,) of the variables.

        Threads take turns.

        Raises:
            KeyboardInterrupt: a person wants it to end. IPOPT may have gone on to its own end.
        """
        given = np.zeros(0) if q is None else q
        bounds = {"lbx": low, "ubx": high, "lbg": self._low, "ubg": self._high}
        with self._lock, interruptible():
            found = self._solver(x0=np.clip(guess, low, high), p=given, **bounds)
            stats = self._solver.stats()
            z = np.array(found["x"]).ravel()
            g = np.array(self._constraints(z, given)).ravel()
        word = stats["return_status"]
        violation, where = self._worst(g)
        feasible = bool(violation <= _FEASIBLE and np.all(np.isfinite(z)))
        status = "ok" if word in _SOLVED and feasible else _ENDS.get(word, "solver_failed")
        message = "" if status == "ok" else f"{where or 'all constraints hold'}; IPOPT: {word}"
        cost = float(found["f"])
        return NlpResult(status, z, cost, violation, feasible, stats["iter_count"], message)

    def _worst(self, g: Array) -> tuple[float, str]:
        """The largest violation, and which constraint that is; "" where all hold."""
        excess = np.maximum(np.maximum(self._low - g, g - self._high), 0.0)
        if not len(excess):
            return 0.0, ""
        worst = int(np.argmax(np.nan_to_num(excess, nan=np.inf)))
        if excess[worst] <= _FEASIBLE:
            return float(excess[worst]), ""
        name, waypoint = self._names[worst]
        low, high = self._low[worst], self._high[worst]
        asked = f"at most {high:.3g}" if g[worst] > high else f"at least {low:.3g}"
        return float(excess[worst]), f"{name} at waypoint {waypoint} is {g[worst]:.3g}, not {asked}"
