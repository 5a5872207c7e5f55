"""Trajectory optimisation on a hill as a nonlinear programme, (2.18)-(2.23).

The variables are the thesis's: x, y of N waypoints, and of each of the N - 1 steps between them the
velocity and the controller's power p; and one bound s on D_m a step. The thesis evaluates D_m by
(2.9) in cost and constraints. It has a kink where both eigenvalues are equal, which the optimum
seeks; here every derivative is exact and finite:

- cost: s >= D_a + sqrt(r^2 + delta^2), r = (d/2 at v); delta is far below what matters.
- constraint D_m <= -m: D_a <= -m and (D_a + m)^2 >= r^2, without the root. More of these
  problems solved than with it.

D_a and D_m of the step's own velocity are meant, so that 2 D_a dt adds up to the logarithm of the
area ratio (2.4). Both are kept in units of one over the path's duration T = (N - 1) dt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from saltation.convergent.hill import Hill, HillDerivatives
from saltation.convergent.hill_path import Convergence
from saltation.convergent.nlp import ConstraintGroup, Nlp
from saltation.convergent.power_controller import jacobian, mean_and_spread
from saltation.options import check

_DELTA = 1e-8  # rounds the kink of D_m off [1/T]


@dataclass(frozen=True)
class TrajectoryOptions:
    """Weights and size; the weights' defaults are the thesis's (2.4.1), which says no N and no dt.

    N and dt were chosen here. (N - 1) dt weighs convergence against length: a slow path costs
    less of J_path and shrinks the uncertainty as much.

    Raises:
        ValueError: fewer than three waypoints, or a number out of its range.
    """

    waypoints: int = 100  # N
    dt: float = 25.0  # [s] of each step
    sigma: float = 30.0  # of D_a
    nu: float = 2.0  # of max(D_m, -epsilon)
    gamma: float = 1e5  # of the velocity's change
    rho: float = 1e4  # of the velocity
    epsilon: float = 1.0  # [1/s] D_m below -epsilon earns nothing
    margin: float = 1e-3  # [1/T] by which D_a or D_m must be below zero
    max_step: float = 0.1  # [m] of each coordinate: (2.20) is a coarse picture of longer ones
    both_ends: bool = False  # (2.22), (2.23) also where a step ends; the thesis: where it begins
    max_iterations: int = 250

    def __post_init__(self) -> None:
        """Check the numbers."""
        check(self, "dt margin max_step", "waypoints max_iterations", "sigma nu gamma rho epsilon")
        if self.waypoints < 3:
            raise ValueError(f"waypoints {self.waypoints}: give a whole number, 3 or more")

    @property
    def steps(self) -> int:
        """N - 1."""
        return self.waypoints - 1

    @property
    def duration(self) -> float:
        """T [s]."""
        return self.steps * self.dt


SHORTEST = TrajectoryOptions(sigma=0.0, nu=0.0, gamma=0.0)  # method 1: path length alone


class Unknowns(NamedTuple):
    """The variables of the programme, as they stand in z."""

    x: ca.SX  # (N,) [m]
    y: ca.SX
    v_x: ca.SX  # (N - 1,) [m per step]
    v_y: ca.SX
    p: ca.SX
    s: ca.SX  # >= D_m [1/T]

    @classmethod
    def symbols(cls, waypoints: int) -> Unknowns:
        """Fresh symbols for N waypoints."""
        steps = waypoints - 1
        sizes = zip(cls._fields, (waypoints, waypoints, *(steps,) * 4), strict=True)
        return cls(*(ca.SX.sym(name, size) for name, size in sizes))


def transcribe(hill: Hill, convergence: Convergence, options: TrajectoryOptions) -> Nlp:
    """The programme; start, goal, map and powers enter through the bounds of the variables."""
    z = Unknowns.symbols(options.waypoints)
    average, r_squared = _metrics(hill, z, z.x[:-1], z.y[:-1])
    groups = [
        ConstraintGroup("x dynamics (2.20)", z.x[1:] - z.x[:-1] - z.v_x, 0.0, 0.0),
        ConstraintGroup("y dynamics (2.20)", z.y[1:] - z.y[:-1] - z.v_y, 0.0, 0.0),
    ]
    if options.nu > 0.0:
        root = ca.sqrt(r_squared + _DELTA**2)
        groups.append(ConstraintGroup("s - D_m", z.s - average - root, 0.0, np.inf))
    groups += _convergence(convergence, average, r_squared, options.margin)
    if options.both_ends:
        at_end = _metrics(hill, z, z.x[1:], z.y[1:])
        groups += _convergence(convergence, *at_end, options.margin, first_waypoint=1)
    return Nlp(ca.vertcat(*z), _cost(z, average, options), groups, None, options.max_iterations)


def _metrics(hill: Hill, z: Unknowns, x: ca.SX, y: ca.SX) -> tuple[ca.SX, ca.SX]:
    """D_a [1/T] and (D_m - D_a)^2 of each step's velocity and power, at places (N - 1,) of it."""
    slopes, steps = _expressions(hill, x, y)[1:], z.p.numel()
    return mean_and_spread(*(steps * entry for entry in jacobian(*slopes, z.v_x, z.v_y, z.p)))


def _expressions(hill: Hill, x: ca.SX, y: ca.SX) -> HillDerivatives:
    """Height, gradient and Hessian at places (n,).

    Raises:
        ValueError: the hill's function does something that CasADi does not know.
    """
    try:
        return HillDerivatives(*(ca.SX(entry) for entry in hill.at(x, y)))
    except Exception as error:  # CasADi has no one error for what it cannot do
        said = f"hill {hill.name}: derivatives take no CasADi expressions"
        remedy = "write numpy's functions and + - * / **, no if, and give a tuple"
        raise ValueError(f"{said}: {remedy}") from error


def _cost(z: Unknowns, average: ca.SX, options: TrajectoryOptions) -> ca.SX:
    """J of (2.18) times dt^2, (2.19) with velocities in m per step and metrics in 1/T."""
    rate = options.dt / options.steps  # dt^2 / T
    square = ca.sumsqr(z.v_x) + ca.sumsqr(z.v_y)
    change = ca.sumsqr(z.v_x[1:] - z.v_x[:-1]) + ca.sumsqr(z.v_y[1:] - z.v_y[:-1])
    divergence = options.sigma * ca.sum1(average) + options.nu * ca.sum1(z.s)
    return (rate * divergence + options.gamma * change + options.rho * square) / options.steps


def _convergence(
    convergence: Convergence,
    average: ca.SX,
    r_squared: ca.SX,
    margin: float,
    first_waypoint: int = 0,
) -> list[ConstraintGroup]:
    """(2.22) or (2.23)."""
    if convergence == "none":
        return []
    groups = [ConstraintGroup("D_a [1/T] (2.23)", average, -np.inf, -margin, first_waypoint)]
    if convergence == "maximum":
        cone = (average + margin) ** 2 - r_squared
        name = "lambda_1 lambda_2 [1/T^2] of D_m < 0 (2.22)"
        groups.append(ConstraintGroup(name, cone, 0.0, np.inf, first_waypoint))
    return groups
