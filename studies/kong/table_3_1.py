"""Covariance through events: particles against saltation and reset Jacobian.

The divergence (3.161) is of the prediction from the particles' own final covariance, Sigma_0. That
of ASLIP is of the body's six coordinates; with the printed mean and duration it ends in flight,
after one touchdown and one liftoff. The figures are of the wide covariance.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import cho_solve

from hybrid.batch import simulate_batch
from hybrid.derivatives import jacobian
from hybrid.examples import bouncing_ball
from hybrid.simulation import simulate_step
from hybrid.systems import Array, System
from hybrid.variational import fundamental_matrix, propagate_covariance
from saltus.common.errors import BadRequest
from studies.figures import COLOURS, GUARD, figure
from studies.kong.systems import aslip, constant_flow, pendulum
from studies.study import Criterion, StudyOptions, StudyResult, study

Level = Literal["low", "high"]
LEVELS: tuple[Level, ...] = ("low", "high")
_DEVIATIONS = np.sqrt(5.991)  # of an ellipse that holds 95% of a Gaussian in the plane
_KNOTS = 120  # of the nominal trajectory
_ARROWS = 15  # along each axis
PARTICLES = 1000  # 3.8.5


def _itself(coordinates: Array) -> Array:
    return coordinates


def _state(mode: int, state: Array) -> Array:
    return state


class Case(NamedTuple):
    """A system, where its particles start, and for how long they are followed.

    Particles are drawn, and covariances compared, in ``coordinates`` of which none depends on the
    others; where the state has no such dependence they are the state itself.
    """

    name: str
    system: System
    mode: int  # at the start
    mean: Array  # in coordinates (d,)
    low: float  # variance of each coordinate
    high: float
    duration: float  # [s]
    state: Callable[[Array], Array] = _itself  # at the start, from coordinates
    coordinates: Callable[[int, Array], Array] = _state  # of (mode, state), at the end

    @property
    def input(self) -> Array:
        """Input that is held: zero (m,)."""
        return np.zeros(self.system.modes[self.mode].input_dim)


def cases() -> tuple[Case, ...]:
    """All four, in the order of the table."""
    return (_constant_flow(), _bouncing_ball(), _pendulum(), _aslip())


def _constant_flow() -> Case:
    system, mean = constant_flow.constant_flow(), np.array([-2.5, 0.0])
    return Case("constant_flow", system, constant_flow.LEFT, mean, 0.005, 0.1, 5.0)


def _bouncing_ball() -> Case:
    system, mean = bouncing_ball.bouncing_ball(restitution=0.75), np.array([3.0, -2.0])
    return Case("bouncing_ball", system, bouncing_ball.FALLING, mean, 0.001, 0.05, 1.0)


def _pendulum() -> Case:
    system, mean = pendulum.pendulum(), np.array([np.pi / 4, -3.7])
    return Case("pendulum", system, pendulum.FREE, mean, 0.001, 0.05, 0.3)


def _aslip() -> Case:
    """Drawn and compared in the body's configuration and velocity (6,).

    The toe follows from the body ("no additional noise ... constrained to the body states"), so
    the covariance of the eight states has rank six and no density: the divergence is that of the
    body's six, at the end too, where stance is taken there by (4.28).

    The printed mean ends "0 - 10", read as 0, -1, 0: x_b, y_b, theta_b at rates 0, -1 m/s, 0. So
    the toe meets the ground at 0.175 s and leaves it at 0.282 s, and 0.55 s end in flight, not in
    mode 2 as the text has it. None of the readings of those digits ends in stance (one would need
    1.5 to 2.1 m/s upwards, where neither map predicts well), so the printed numbers are kept.
    """
    system = aslip.aslip()
    liftoff = system.outgoing(aslip.STANCE)[0]

    def body(mode: int, state: Array) -> Array:
        flight = state if mode == aslip.FLIGHT else liftoff.reset(0.0, state, np.zeros(0))
        return flight[[0, 1, 2, 5, 6, 7]]

    mean = np.array([0.0, 1.8, 5.0 * np.pi / 12.0, 0.0, -1.0, 0.0])
    return Case("aslip", system, aslip.FLIGHT, mean, 0.00005, 0.001, 0.55, aslip.at_rest, body)


class Experiment(NamedTuple):
    """One row of the table: N particles and three covariances, in a case's coordinates (d,)."""

    case: Case
    level: Level
    initial: Array  # (N, d)
    final: Array  # (N, d)
    mean: Array  # of the initial particles (d,)
    mean_end: Array  # where the trajectory from that mean ends (d,)
    Sigma_initial: Array  # of the particles (d, d), as are the next three
    Sigma_actual: Array
    Sigma_reset: Array  # predicted with D_x R
    Sigma_saltation: Array  # predicted with Xi
    lost: int  # particles whose simulation did not reach the end, left out

    def row(self) -> dict[str, Any]:
        """The row: KL(actual || predicted) for either prediction [nat]; particles left out."""
        return {
            "system": self.case.name,
            "covariance": self.level,
            "kl_reset": kl_divergence(self.Sigma_actual, self.Sigma_reset),
            "kl_saltation": kl_divergence(self.Sigma_actual, self.Sigma_saltation),
            "lost": self.lost,
        }


@study("Kong, table 3.1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows for four systems at two initial covariances, and one figure a system.

    Raises:
        BadRequest: fewer particles than a covariance of six coordinates needs.
    """
    particles, every = options.count(PARTICLES), cases()
    needed = 2 + max(len(case.mean) for case in every)
    if particles < needed:
        raise BadRequest(f"--trials {particles}: give {needed} or more, for a covariance")
    pairs = [(case, level) for case in every for level in LEVELS]
    found = [experiment(case, level, particles, options.seed)
             for case, level in options.track(pairs, lambda pair: pair[0].name)]  # fmt: skip
    rows = [one.row() for one in found]
    criteria = [
        Criterion(f"{row['system']}, {row['covariance']}: KL with Xi", row["kl_saltation"], "<",
                  row["kl_reset"])
        for row in rows
    ]  # fmt: skip
    numbers = {"constant_flow": "3_9", "bouncing_ball": "3_10", "pendulum": "3_11"}
    figures = {f"figure_{numbers.get(one.case.name, one.case.name)}": draw(one)
               for one in found if one.level == "high"}  # fmt: skip
    return StudyResult(rows, figures, criteria=criteria)


def experiment(case: Case, level: Level, particles: int, seed: int = 0) -> Experiment:
    """Follow particles through the events, and their first covariance along their mean (3.37)."""
    spread = np.sqrt(case.low if level == "low" else case.high)
    noise = np.random.default_rng(seed).standard_normal((particles, len(case.mean)))
    initial = case.mean + spread * noise
    states = np.array([case.state(start) for start in initial])
    batch = simulate_batch(case.system, case.mode, states, case.duration, case.input)
    initial, ok = initial[batch.ok], batch.ok
    ends = zip(batch.modes[ok], batch.states[ok], strict=True)
    final = np.array([case.coordinates(int(mode), state) for mode, state in ends])
    mean, Sigma = initial.mean(axis=0), np.cov(initial.T)
    Phi, mean_end = _first_order(case, mean, with_reset_jacobian=False)
    Phi_reset, _ = _first_order(case, mean, with_reset_jacobian=True)
    return Experiment(
        case,
        level,
        initial,
        final,
        mean,
        mean_end,
        Sigma,
        np.cov(final.T),
        propagate_covariance(Sigma, Phi_reset),
        propagate_covariance(Sigma, Phi),
        int(np.sum(~ok)),
    )


def _first_order(case: Case, mean: Array, with_reset_jacobian: bool) -> tuple[Array, Array]:
    """Phi (d, d) from coordinates to coordinates, and where the mean ends (d,).

    Raises:
        RuntimeError: the mean fails or grazes a guard.
    """
    solution = fundamental_matrix(
        case.system, case.mode, case.state(mean), case.duration,
        with_reset_jacobian=with_reset_jacobian,
    )  # fmt: skip
    if not solution.ok:
        raise RuntimeError(f"no first-order map along the mean of {case.name}: {solution.message}")
    before = jacobian(case.state, mean)
    after = jacobian(lambda state: case.coordinates(solution.mode, state), solution.state)
    return after @ solution.Phi @ before, case.coordinates(solution.mode, solution.state)


def kl_divergence(Sigma_0: Array, Sigma_1: Array) -> float:
    """(tr(Sigma_1^-1 Sigma_0) - n + ln |Sigma_1| / |Sigma_0|) / 2: the divergence (3.161).

    Of two Gaussians with one mean [nat]: the information lost if Sigma_1 is used for Sigma_0. Zero
    where the two are equal, infinite where either (n, n) matrix is not positive definite. The
    print has an error: docs/errata.md.

    Raises:
        ValueError: the matrices are not square and of one size.
    """
    Sigma_0, Sigma_1 = np.asarray(Sigma_0), np.asarray(Sigma_1)
    n = len(Sigma_0)
    if Sigma_0.shape != (n, n) or Sigma_1.shape != (n, n):
        raise ValueError(
            f"covariances of shapes {Sigma_0.shape} and {Sigma_1.shape}: give two (n, n) of one n"
        )
    try:
        actual, estimate = np.linalg.cholesky(Sigma_0), np.linalg.cholesky(Sigma_1)
    except np.linalg.LinAlgError:
        return float(np.inf)
    trace = np.trace(cho_solve((estimate, True), Sigma_0))
    log_ratio = 2.0 * np.sum(np.log(np.diag(estimate) / np.diag(actual)))
    return float(max(0.0, 0.5 * (trace - n + log_ratio)))  # rounding may leave it below zero


class Plane(NamedTuple):
    """How a system with two states is drawn."""

    labels: tuple[str, str]
    guards: tuple[tuple[str, float, str], ...]  # (axis that is constant, its value, label)
    mode: Callable[[float, float], int]  # of a point


_PLANES = {
    "constant_flow": Plane(
        ("$x_1$", "$x_2$"),
        (("x", 0.0, "$g_{(1,2)}$"),),
        lambda a, b: constant_flow.LEFT if a < 0.0 else constant_flow.RIGHT,
    ),
    "bouncing_ball": Plane(
        ("$y$ [m]", r"$\dot{y}$ [m/s]"),
        (("x", 0.0, "$g_{(1,2)}$"), ("y", 0.0, "$g_{(2,1)}$")),
        lambda a, b: bouncing_ball.FALLING if b < 0.0 else bouncing_ball.RISING,
    ),
    "pendulum": Plane(
        (r"$\theta$ [rad]", r"$\dot{\theta}$ [rad/s]"),
        (("x", 0.0, "$g_{(1,2)}, g_{(2,1)}$"),),
        lambda a, b: pendulum.FREE if a > 0.0 else pendulum.CONTACT,
    ),
}


def draw(one: Experiment) -> Figure:
    """Particles and their covariances, at the start and at the end, in the plane of the states."""
    if one.case.name not in _PLANES:
        return _draw_aslip(one)
    plane = _PLANES[one.case.name]
    made, axes = figure(width=6.4, height=4.2)
    _particles(axes, one, (0, 1))
    _, path = _nominal(one.case, one.mean)
    axes.plot(path[:, 0], path[:, 1], "--", color=COLOURS["initial"], linewidth=1.2)
    for axis, value, label in plane.guards:
        _guard(axes, axis, value, label)
    _arrows(axes, one.case, plane.mode)
    axes.set(xlabel=plane.labels[0], ylabel=plane.labels[1])
    axes.legend(fontsize=7, frameon=False, loc="best")
    return made


def _particles(axes: Any, one: Experiment, pick: tuple[int, int]) -> None:
    """Dots and 95% ellipses of two of the coordinates."""
    a, b = pick
    dots = {"marker": ".", "markersize": 2.0, "linestyle": "none", "alpha": 0.5}
    axes.plot(one.initial[:, a], one.initial[:, b], color=COLOURS["initial"], **dots)
    axes.plot(one.final[:, a], one.final[:, b], color=COLOURS["final"], **dots)
    start, end, predicted = one.mean, one.final.mean(axis=0), one.mean_end
    for centre, covariance, colour, line, label in (
        (start, one.Sigma_initial, "red", "-", "initial covariance"),
        (end, one.Sigma_actual, COLOURS["actual"], "-", "final covariance"),
        (predicted, one.Sigma_reset, COLOURS["dxr"], "--", r"predicted with $D_xR$"),
        (predicted, one.Sigma_saltation, COLOURS["xi"], "--", r"predicted with $\Xi$"),
    ):
        curve = ellipse(centre[[a, b]], covariance[np.ix_(pick, pick)])
        axes.plot(curve[:, 0], curve[:, 1], line, color=colour, linewidth=1.6, label=label)


def ellipse(centre: Array, covariance: Array, points: int = 100) -> Array:
    """Curve (points, 2) around 95% of a Gaussian with that covariance (2, 2)."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    circle = np.stack((np.cos(angle), np.sin(angle)))
    return centre + _DEVIATIONS * ((vectors * np.sqrt(np.maximum(values, 0.0))) @ circle).T


def _nominal(case: Case, mean: Array) -> tuple[list[int], Array]:
    """Modes and states of the trajectory from a mean, in steps and at every event."""
    mode, x, h = case.mode, case.state(mean), case.duration / _KNOTS
    modes, states = [mode], [x]
    for k in range(_KNOTS):
        step = simulate_step(case.system, mode, x, h, case.input, k * h)
        for event in step.events:
            modes += [event.transition.source, event.transition.target]
            states += [event.state_before, event.state_after]
        mode, x = step.mode, step.state
        modes.append(mode)
        states.append(x)
    return modes, np.array(states)


def _guard(axes: Any, axis: str, value: float, label: str) -> None:
    """Dashed line with its name at its upper or right end."""
    if axis == "x":
        axes.axvline(value, **GUARD)
        where, place = (value, 1.0), axes.get_xaxis_transform()
    else:
        axes.axhline(value, **GUARD)
        where, place = (1.0, value), axes.get_yaxis_transform()
    axes.annotate(label, where, xycoords=place, xytext=(3, 3), textcoords="offset points",
                  fontsize=8, ha="left" if axis == "x" else "right")  # fmt: skip


def _arrows(axes: Any, case: Case, mode: Callable[[float, float], int]) -> None:
    """Directions of the flow over what is shown, in arrows of one length on the page."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    across, up = np.linspace(left, right, _ARROWS), np.linspace(low, high, _ARROWS)
    points = np.array([(a, b) for a in across for b in up])
    flows = [
        case.system.modes[mode(a, b)].flow(0.0, np.array([a, b]), case.input) for a, b in points
    ]
    scaled = np.array(flows) / (right - left, high - low)
    scaled /= np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-12)
    axes.quiver(points[:, 0], points[:, 1], scaled[:, 0], scaled[:, 1], color="0.8", width=0.0022,
                scale=28, pivot="mid", zorder=0)  # fmt: skip
    axes.set(xlim=(left, right), ylim=(low, high))


def _draw_aslip(one: Experiment) -> Figure:
    """Snapshots of body and leg, then two planes of the body's coordinates."""
    made, (shots, place, fall) = figure(columns=3, width=9.6, height=3.8)
    modes, path = _nominal(one.case, one.mean)
    _snapshots(shots, one.case, modes, path)
    bodies = np.array([one.case.coordinates(*both) for both in zip(modes, path, strict=True)])
    for axes, pick, labels in (
        (place, (0, 1), ("$x_b$ [m]", "$y_b$ [m]")),
        (fall, (1, 4), ("$y_b$ [m]", r"$\dot{y}_b$ [m/s]")),
    ):
        _particles(axes, one, pick)
        axes.plot(*bodies[:, list(pick)].T, "--", color=COLOURS["initial"], linewidth=1.2)
        axes.set(xlabel=labels[0], ylabel=labels[1])
    place.legend(fontsize=7, frameon=False, loc="best")
    return made


def _snapshots(axes: Any, case: Case, modes: list[int], path: Array) -> None:
    """Body's centre, hip and toe now and then, darker as time goes on."""
    l_b, shown = aslip.AslipParameters().body_length, range(0, len(path), 15)
    for i in shown:
        x_b, y_b, theta_b = case.coordinates(modes[i], path[i])[:3]
        hip = x_b - l_b * np.cos(theta_b), y_b - l_b * np.sin(theta_b)
        colour = str(0.8 - 0.8 * i / len(path))
        axes.plot([x_b, hip[0]], [y_b, hip[1]], color=colour, linewidth=4.0)
        axes.plot([hip[0], path[i, 3]], [hip[1], path[i, 4]], color=colour, linewidth=1.2)
    axes.axhline(0.0, **GUARD)
    axes.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal", xlim=(-0.8, 0.8))
