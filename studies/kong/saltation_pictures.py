"""Xi in pictures: neighbours, covariances and regression beside Xi and D_x R.

Neighbours start beside a nominal state, at the same time, and are simulated through one event. Xi
maps them to second order, exactly where the order is inf; D_x R errs by a fixed part of their
distance. Regression (4.8) is least squares on samples of both ends, of which the second are
measured with noise; its error is that of the noise alone. 3.5 prints neither the ball's slope nor
its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saltation.batch import simulate_batch
from saltation.simulation import simulate
from saltation.systems import Array, FlowMap, Mode, System, Transition
from saltation.variational import Variation, fundamental_matrix
from studies.figures import Panel, Styled, convergence, dots, draw
from studies.kong.systems.constant_flow import LEFT, constant_flow
from studies.kong.systems.slope_ball import GRAVITY, SLOPE
from studies.kong.table_3_1 import ellipse
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

DISTANCE = 0.1  # of neighbours from the nominal start, and deviation of the samples in the figures
SPREAD, NOISE = 1e-2, 1e-3  # deviations of the samples of a regression, and of their measurement
SAMPLES = (20, 80, 320)
TRIALS = 50  # regressions
EXACT = 1e-9  # error that is rounding
ORDER, REGRESSION = 1.9, 1.15  # least order; largest error over the expected one
PREDICTED = {"xi": (r"predicted, $\Xi$", "+"), "dxr": ("predicted, $D_xR$", "x")}
NORMAL, ALONG = (np.sin(SLOPE), np.cos(SLOPE)), (-np.cos(SLOPE), np.sin(SLOPE))  # (3.45)


class Case(NamedTuple):
    """A nominal trajectory, and the directions (2, 2) of its four neighbours in the figures."""

    name: str
    system: System
    mode: int
    start: Array
    duration: float
    directions: Any
    guard: Any  # (2, 2) what is drawn of it, in the plane of the first two states
    labels: tuple[str, str] = ("$q_1$ [m]", "$q_2$ [m]")

    def ends(self, starts: Array) -> Array:
        """Ends (N, n) of the trajectories from states (N, n)."""
        return simulate_batch(self.system, self.mode, starts, self.duration).states

    def first_order(self, with_reset_jacobian: bool = False) -> Variation:
        """Fundamental matrix and nominal end."""
        return fundamental_matrix(self.system, self.mode, self.start, self.duration,
                                  with_reset_jacobian=with_reset_jacobian)  # fmt: skip


def slope_drop(kept: Array) -> System:
    """Ball of 3.5 that keeps the part ``kept`` (2, 2) of velocity and acceleration at the slope.

    With the projection onto `ALONG` it slides without friction, (3.43)-(3.44); with zero it sticks,
    (3.46)-(3.47).
    """
    (sine, cosine), weight = NORMAL, np.array([0.0, -GRAVITY])

    def falling(name: str, push: Array) -> Mode:
        def flow(t: float, x: Array, u: Array) -> Array:
            return np.array([x[2], x[3], push[0], push[1]])

        def solution(t: float, x: Array, u: Array, h: float) -> Array:
            return np.concatenate((x[:2] + h * (x[2:] + 0.5 * h * push), x[2:] + h * push))

        def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
            return np.eye(4) + h * np.eye(4, k=2), np.zeros((4, 0))

        return Mode(name, 4, 0, flow, flow_map=FlowMap(solution, jacobians))

    contact = Transition(
        1, 2, lambda t, x, u: sine * x[0] + cosine * x[1],
        lambda t, x, u: np.concatenate((x[:2], kept @ x[2:])), name="impact", time_invariant=True
    )  # fmt: skip
    modes = {1: falling("air", weight), 2: falling("slope", kept @ weight)}
    return System(modes, (contact,), "drop on a slope")


VELOCITY = (0.2344, 0.9721)  # direction of the ball's when it lands, which sticking eliminates
FLOW = Case("constant_flow", constant_flow(), LEFT, np.array([-0.5, 0.0]), 1.0, np.eye(2),
            ((0.0, -0.6), (0.0, 0.6)), ("$x_1$", "$x_2$"))  # fmt: skip
SLIDE, STICK = (
    Case(name, slope_drop(kept), 1, np.array([0.0, 0.8, -1.0, -2.0]), 0.5, (lost, ALONG),
         np.outer((0.7, -0.6), ALONG))
    for name, kept, lost in (("slope_sliding", np.outer(ALONG, ALONG), NORMAL),
                             ("slope_sticking", np.zeros((2, 2)), VELOCITY))
)  # fmt: skip
CASES = (FLOW, SLIDE, STICK)
PANELS = (("3.4", FLOW, False), ("3.5", FLOW, True), ("3.1", SLIDE, True), ("3.6", SLIDE, False),
          ("3.7", STICK, False))  # fmt: skip


@study("Kong, figures 3.1, 3.4-3.7 and section 4.8", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row a system: errors relative to the neighbours' distance, and of the regression."""
    rows, criteria, rng = list[Row](), list[Criterion](), np.random.default_rng(options.seed)
    for case in options.track(CASES):
        (xi, half), (reset, _) = (neighbour_errors(case, other) for other in (False, True))
        order = 1.0 + np.log2(xi / half) if half > EXACT else np.inf
        measured = regression_errors(case, options.count(TRIALS), rng)
        n = len(case.start)
        expected = NOISE / SPREAD * n / np.sqrt(np.subtract(SAMPLES, n + 2.0))
        rows.append({"system": case.name, "error_xi": xi, "order_xi": order, "error_reset": reset,
                     "regression_error": measured, "expected_error": expected})  # fmt: skip
        criteria += [
            Criterion(f"{case.name}: order of Xi", order, ">=", ORDER),
            Criterion(f"{case.name}: regression over expected error",
                      np.max(measured / expected), "<=", REGRESSION),
        ]  # fmt: skip
    errors = {row["system"]: row["regression_error"] for row in rows}
    slope = convergence(SAMPLES, errors, -0.5, rows[0]["expected_error"][0], "samples",
                        "error of the regression")  # fmt: skip
    figure = draw(*(panel(*each) for each in PANELS), slope, columns=3)
    return StudyResult(rows, {"saltation-pictures": figure}, criteria=criteria)


def neighbour_errors(case: Case, with_reset_jacobian: bool) -> tuple[float, float]:
    """Largest error over all directions, at `DISTANCE` and at half of it, over that distance."""
    found, sizes = case.first_order(with_reset_jacobian), (DISTANCE, 0.5 * DISTANCE)
    axes = np.vstack((np.eye(len(case.start)), -np.eye(len(case.start))))
    missed = [case.ends(case.start + h * axes) - found.state - h * axes @ found.Phi.T
              for h in sizes]  # fmt: skip
    whole, half = (np.max(np.linalg.norm(each, axis=1)) for each in missed)
    return whole / DISTANCE, half / (0.5 * DISTANCE)


def regression_errors(case: Case, trials: int, rng: np.random.Generator) -> Array:
    """Root mean square of ||Phi_N - Phi||, Frobenius, for each number N of samples."""
    Phi, n = case.first_order().Phi, len(case.start)
    errors = []
    for N in SAMPLES:
        starts = SPREAD * rng.standard_normal((trials, N, n))
        ends = case.ends((case.start + starts).reshape(-1, n)).reshape(trials, N, n)
        ends += NOISE * rng.standard_normal(ends.shape)
        x, y = (each - each.mean(axis=1, keepdims=True) for each in (starts, ends))
        fitted = np.linalg.solve(x.swapaxes(1, 2) @ x, x.swapaxes(1, 2) @ y).swapaxes(1, 2)
        errors.append(np.sqrt(np.mean(np.sum((fitted - Phi) ** 2, axis=(1, 2)))))
    return np.array(errors)


def panel(figure: str, case: Case, spread: bool) -> Panel:
    """Neighbours, or samples of a covariance and 95 % of it, where they end and are predicted."""
    pairs, rng = np.array(case.directions), np.random.default_rng(0)
    unit = rng.standard_normal((200, 2)) if spread else np.concatenate((pairs, -pairs))
    offsets, path = DISTANCE * unit, simulate(case.system, case.mode, case.start, case.duration)
    starts = case.start + np.pad(offsets, ((0, 0), (0, len(case.start) - 2)))
    curves: Row = {
        "guard": case.guard,
        "_nominal": Styled([arc.states[:, :2] for arc in path.segments], {"color": "0.7"}),
        "initial": dots(starts[:, :2]), "final": dots(case.ends(starts)[:, :2])
    }  # fmt: skip
    for name, (label, marker) in PREDICTED.items():
        found = case.first_order(name == "dxr")
        Phi, end = found.Phi[:2, :2], found.state[:2]
        curves[name] = (
            Styled(ellipse(end, DISTANCE**2 * Phi @ Phi.T), {"label": label}) if spread
            else dots(end + offsets @ Phi.T, label=label, marker=marker, markersize=7)
        )  # fmt: skip
    return Panel(curves, *case.labels, settings={"title": f"Figure {figure}", "aspect": "equal"})
