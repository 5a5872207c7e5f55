"""HiLQR on five problems after published ones, beside IPOPT with the order of the events fixed.

HiLQR runs with its defaults from inputs of zero, on the ball from those of the seed; then with
events at the ends of their timesteps, ``event_at="end"`` (5.3.3). IPOPT has the same timesteps and
held inputs, states at the knots and times of the events as unknowns, and starts from HiLQR's plan.
An event that it finds on a knot is tried in the timestep beyond. excess is HiLQR's cost over
IPOPT's, less one.

Ball and spring-damper: Kong, 5.4.1 and 5.4.2. Hopper: a mass on a spring, Blickhan (1989). Cart and
pole between soft walls, linear: Aydinoglu, Sieg, Preciado and Posa (2021). Rimless wheel: McGeer
(1990), with a torque. Inputs of hopper and wheel, starts, goals and weights of the last three are
ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numba import njit

import saltation as sa
from saltation.convergent.nlp import ConstraintGroup, Nlp, NlpResult
from saltation.hilqr import Trajectory
from saltation.hilqr.event_linearisation import Placement
from saltation.systems import Array
from studies.kong.two_methods import open_loop
from studies.study import Criterion, StudyOptions, StudyResult, study

SUBSTEPS = 4  # of a piece of flow
EXCESS = 1e-5  # allowed
G = 9.8  # [m/s^2]
HALF, SLOPE = np.pi / 8, 0.08  # of the wheel: between spokes, and of the ground [rad]
CART, POLE, LENGTH, WALL, APART = 0.978, 0.411, 0.6, 50.0, 0.35  # [kg], [m], [N/m], [m]

Function = Callable[[Any, Any], Any]  # of x and u, numbers or expressions


class Problem(NamedTuple):
    """Be at a goal after a time, by one input."""

    name: str
    flows: Sequence[Function]  # by mode
    edges: Sequence[tuple[int, int, Function, Function]]  # source, target, guard, reset
    start: Sequence[float]  # in mode 0
    goal: Sequence[float]
    steps: int
    timestep: float  # [s]
    effort: float  # weight of the input's square [1/s]
    terminal: Sequence[float]  # of the squared errors at the end
    seed: float = 0.0  # input

    def solve(self, event_at: Placement = "exact") -> sa.Solution:
        """By HiLQR."""
        n = len(self.start)
        modes = {i: sa.Mode(str(i), n, 1, _called(flow, True)) for i, flow in enumerate(self.flows)}
        edges = [
            sa.Transition(source, target, _called(guard), _called(reset, True), name=str(i))
            for i, (source, target, guard, reset) in enumerate(self.edges)
        ]
        weight = np.array([[self.timestep * self.effort]])
        cost = sa.QuadraticCost.reaching(np.array(self.goal), weight, np.diag(self.terminal))
        system = sa.System(modes, tuple(edges))
        model = sa.EventDrivenModel(system, 0, self.timestep, cost, event_at=event_at)
        seed = open_loop(np.full((self.steps, 1), self.seed), n)
        return sa.Hilqr(model).solve(np.array(self.start), seed)


def _called(function: Function, vector: bool = False) -> Callable[..., Any]:
    """A function of (t, x, u), of which numba makes machine code."""
    inner: Any = njit(function)
    if vector:
        return lambda t, x, u: np.array(inner(x, u))
    return lambda t, x, u: inner(x, u)


def _wall(k: float, place: float) -> Function:
    """Cart, pole, and their rates; the pole's end presses on a wall at a place."""
    return lambda x, u: (
        x[2], x[3], G * POLE / CART * x[1] + u[0] / CART,
        (G * (CART + POLE) * x[1] + u[0]) / (LENGTH * CART)
        + k / (LENGTH * POLE) * (x[0] - LENGTH * x[1] - place)
    )  # fmt: skip


def _gap(sign: float, place: float) -> Function:
    return lambda x, u: sign * (place - x[0] + LENGTH * x[1])


def _fall(x: Any, u: Any) -> Any:
    return x[1], u[0] - G


def _height(x: Any, u: Any) -> Any:
    return x[0]


def _same(x: Any, u: Any) -> Any:
    return [x[i] for i in range(x.shape[0])]


PROBLEMS = (
    Problem(
        "ball", [_fall], [(0, 0, _height, lambda x, u: (x[0], -0.75 * x[1]))],
        (4.0, 0.0), (1.0, 0.0), 100, 0.01, 0.5, (100.0, 100.0), -6.0
    ),
    Problem(
        "spring-damper",
        [_fall, lambda x, u: (x[1], u[0] - G - 100.0 * x[0] - 5.0 * x[1]),
         lambda x, u: (x[1], u[0] - G - 100.0 * x[0])],
        [(0, 1, _height, _same), (1, 2, lambda x, u: -x[1], _same),
         (2, 0, lambda x, u: -x[0], _same)],
        (3.0, -2.0), (1.0, 0.0), 100, 0.01, 0.1, (100.0, 100.0)
    ),
    Problem(  # height over the leg's length
        "hopper",
        [lambda x, u: (x[1], 0.0 * u[0] - G), lambda x, u: (x[1], u[0] - G - 400.0 * x[0])],
        [(0, 1, _height, _same), (1, 0, lambda x, u: -x[0], _same)],
        (0.3, 0.0), (0.4, 0.0), 65, 0.01, 0.01, (1000.0, 40.0)
    ),
    Problem(
        "cart-pole", [_wall(0.0, 0.0), _wall(WALL, APART), _wall(WALL, -APART)],
        [(0, 1, _gap(1.0, APART), _same), (0, 2, _gap(-1.0, -APART), _same),
         (1, 0, _gap(-1.0, APART), _same), (2, 0, _gap(1.0, -APART), _same)],
        (0.0, 0.0, 0.6, -1.2), (0.0,) * 4, 50, 0.02, 0.1, (100.0, 100.0, 10.0, 10.0)
    ),
    Problem(
        "rimless wheel", [lambda x, u: (x[1], G * np.sin(x[0]) + u[0])],
        [(0, 0, lambda x, u: HALF + SLOPE - x[0],
          lambda x, u: (x[0] - 2.0 * HALF, np.cos(2.0 * HALF) * x[1]))],
        (SLOPE - HALF, 1.8), (0.2, 2.5), 60, 0.02, 0.5, (100.0, 100.0)
    ),
)  # fmt: skip


@study("IPOPT")
def run(options: StudyOptions) -> StudyResult:
    """A row a problem. Nothing in it is random."""
    rows, criteria = [], []
    for problem in options.track(PROBLEMS):
        found, end = problem.solve(), problem.solve(event_at="end")
        assert found.trajectory is not None and end.trajectory is not None
        cost, best = found.trajectory.cost, beside(problem, found.trajectory).cost
        rows.append({
            "problem": problem.name,
            "status": found.status,
            "iterations": found.iterations,
            "cost": cost,
            "ipopt_cost": best,
            "excess": cost / best - 1.0,
            "end_status": end.status,
            "end_cost": end.trajectory.cost
        })  # fmt: skip
        criteria += [
            Criterion(f"{problem.name}: excess", cost / best - 1.0, "<=", EXCESS),
            Criterion(f"{problem.name}: converged", found.status == "converged", ">", 0.0),
        ]
    columns = "problem, status, iterations=steps, cost, ipopt_cost=IPOPT, excess, end_cost=at end"
    return StudyResult(rows, columns=columns, criteria=criteria)


def beside(problem: Problem, plan: Trajectory) -> NlpResult:
    """IPOPT's optimum near a plan, with its events in order."""
    dt, events = problem.timestep, plan.aux.events
    order = [int(event.transition.name) for _, event in events]
    knots = [knot for knot, _ in events]
    late = [event.time - knot * dt for knot, event in events]
    found = programme(problem, order, knots, np.concatenate([*plan.states, *plan.inputs, late]))
    for i in range(-len(knots), 0):
        other, z, after = list(knots), found.z.copy(), found.z[i] > 0.5 * dt
        other[i] += 1 if after else -1
        z[i] = 0.0 if after else dt
        if abs(found.z[i] / dt - 0.5) > 0.499 and 0 <= other[i] < problem.steps:
            tried = programme(problem, order, other, z)
            if tried.status == "ok" and tried.cost < found.cost:
                found, knots = tried, other
    return found


def programme(problem: Problem, order: list[int], knots: list[int], guess: Array) -> NlpResult:
    """IPOPT's optimum with the i-th event, transition order[i], in timestep knots[i].

    Unknowns: states at the knots, inputs, and how long after its knot each event is.
    """
    n, N, dt = len(problem.start), problem.steps, problem.timestep  # noqa: N806
    x, u, late = ca.SX.sym("x", n, N + 1), ca.SX.sym("u", 1, N), ca.SX.sym("t", len(knots))
    mode, zeros, positive = 0, [x[:, 0] - ca.DM(problem.start)], []
    for k in range(N):
        y, since, v = x[:, k], 0.0, u[:, k]
        for i in np.flatnonzero(np.array(knots) == k).tolist():
            positive.append(late[i] - since)
            y = _flow(problem.flows[mode], y, v, late[i] - since)
            _, mode, guard, reset = problem.edges[order[i]]
            zeros.append(guard(y, v))
            y, since = ca.vertcat(*reset(y, v)), late[i]
        zeros.append(x[:, k + 1] - _flow(problem.flows[mode], y, v, dt - since))
        positive += [guard(x[:, k + 1], v) for at, _, guard, _ in problem.edges if at == mode]
    off = x[:, N] - ca.DM(problem.goal)
    cost = dt * problem.effort * ca.sumsqr(u) + ca.dot(ca.DM(problem.terminal), off * off)
    groups = [ConstraintGroup("flow, guards and resets", ca.vertcat(*zeros), 0.0, 0.0),
              ConstraintGroup("guards not met", ca.vertcat(*positive), 0.0, np.inf)]  # fmt: skip
    free, times = np.full(len(guess) - len(knots), np.inf), np.zeros(len(knots))
    bounds = np.append(-free, times), np.append(free, times + dt)
    return Nlp(ca.vertcat(ca.vec(x), ca.vec(u), late), cost, groups).solve(guess, *bounds)


def _flow(flow: Function, x: Any, u: Any, h: Any) -> Any:
    """The state after h [s], by Runge and Kutta's method."""
    h = h / SUBSTEPS
    for _ in range(SUBSTEPS):
        slope, total = ca.vertcat(*flow(x, u)), 0.0
        for part, weight in ((0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)):
            total += weight / 6.0 * slope
            slope = ca.vertcat(*flow(x + part * h * slope, u))
        x = x + h * total
    return x
