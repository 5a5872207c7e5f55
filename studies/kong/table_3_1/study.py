"""Covariance through events: particles against saltation and reset Jacobian.

The divergence (3.161) is of the prediction from the particles' own final covariance, Sigma_0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.examples import bouncing_ball
from hybrid.simulation import simulate_step
from hybrid.systems import Array
from saltus.common.errors import BadRequest
from studies.figures import COLOURS, GUARD, figure
from studies.kong.systems import aslip, constant_flow, pendulum
from studies.kong.table_3_1.experiment import Case, Experiment, Level, cases, experiment
from studies.study import StudyOptions, StudyResult, study

_DEVIATIONS = np.sqrt(5.991)  # of an ellipse that holds 95% of a Gaussian in the plane
_KNOTS = 120  # of the nominal trajectory
_ARROWS = 15  # along each axis
PARTICLES = 1000  # 3.8.5
LEVELS: tuple[Level, ...] = ("low", "high")
ASLIP_NOTE = (
    "aslip: divergence of the body's six coordinates; with the printed mean and duration it ends"
    " in flight, after one touchdown and one liftoff"
)


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
        return _aslip(one)
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


def _aslip(one: Experiment) -> Figure:
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


@study("Kong, table 3.1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows for four systems at two initial covariances, and one figure a system.

    Raises:
        BadRequest: fewer particles than a covariance of six coordinates needs.
    """
    particles = PARTICLES if options.trials is None else options.trials
    every = cases()
    needed = 2 + max(len(case.mean) for case in every)
    if particles < needed:
        raise BadRequest(f"--trials {particles}: give {needed} or more, for a covariance")
    experiments: list[Experiment] = []
    for case in every:
        for level in LEVELS:
            options.progress(len(experiments), len(LEVELS) * len(every), f"{case.name} {level}")
            experiments.append(experiment(case, level, particles, options.seed))
    options.progress(len(experiments), len(experiments), "figures")
    figures = {f"figure_{key}": draw(one) for key, one in _drawn(experiments)}
    notes = [ASLIP_NOTE]
    notes += [f"{one.case.name} {one.level}: {one.lost} particles lost" for one in experiments
              if one.lost]  # fmt: skip
    return StudyResult([one.row() for one in experiments], figures, notes)


def _drawn(experiments: list[Experiment]) -> list[tuple[str, Experiment]]:
    """Those that get a figure: the wide ones, as what differs is seen there."""
    numbers = {"constant_flow": "3_9", "bouncing_ball": "3_10", "pendulum": "3_11"}
    wide = [one for one in experiments if one.level == "high"]
    return [(numbers.get(one.case.name, one.case.name), one) for one in wide]
