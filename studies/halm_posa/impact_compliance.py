"""Stiff contacts compared with the set of rigid outcomes.

The rocking block lands on corners of finite stiffness, over ratios of stiffness and over angles of
a hundredth of a degree, and each outcome is compared with the set-valued law's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.sampling import SamplingOptions, sample_impacts
from hybrid.systems import Array
from studies.figures import figure
from studies.halm_posa.systems.compliant_block import collide
from studies.halm_posa.systems.compliant_contact import CompliantContact, stiffness_for
from studies.halm_posa.systems.named_outcomes import distances, set_size
from studies.halm_posa.systems.rocking_block import RockingBlock, problem, velocity
from studies.study import Criterion, StudyOptions, StudyResult, study

_PANELS = (
    ("stiffness_ratio", "stiffness varied", r"$k_A / k_B$", LogNorm),
    ("angle_deg", "angle varied", r"$\theta_0$ [deg]", Normalize),
)
TRIALS = 51  # in each sweep, 5.4.1
DECADES = 5.0  # k_A / k_B from 1e-5 to 1e5, 5.4.1
ANGLE = 1e-2  # largest theta_0 [deg], 5.4.1
STEP = 0.3  # h of the rigid law [N s], table 4
SAMPLES = 2**18  # table 4 has 2^14, which leave the set's ends less well covered
REQUIRED = 0.02  # distance to the set
RATIO, TILT = "stiffness_ratio", "angle_deg"  # the two sweeps
SHOWN = ("sweep", "value", "normal_velocity_A", "normal_velocity_B", "distance",
         "distance_over_set")  # fmt: skip


def draw(rows: Sequence[CollisionRow], predicted: Array) -> Figure:
    """Normal velocities after the collision, one panel a sweep.

    Args:
        rows: of the study.
        predicted: normal velocities (S, 2) of the rigid outcomes [m/s].
    """
    drawing, axes = figure(columns=2, width=9.0, height=3.6)
    shown = thinned(predicted)
    for panel, (sweep, title, label, norm) in zip(axes, _PANELS, strict=True):
        own = [row for row in rows if row.sweep == sweep]
        place = [[row.normal_velocity_A, row.normal_velocity_B] for row in own]
        values = [row.value for row in own]
        panel.scatter(*shown.T, s=90, color="0.75", linewidths=0, zorder=0, label="rigid set")
        dots = panel.scatter(*np.array(place).T, c=values, s=26, cmap="coolwarm", norm=norm(),
                             edgecolors="black", linewidths=0.5, label="compliant")  # fmt: skip
        drawing.colorbar(dots, ax=panel, label=label, shrink=0.8)
        panel.set(title=title, xlabel=r"A: $J_{n,A} v^+$ [m/s]", ylabel=r"B: $J_{n,B} v^+$ [m/s]")
        panel.set(aspect="equal")
        panel.legend(frameon=False)
    return drawing


def thinned(points: Array, cells: int = 400) -> Array:
    """One point of each cell of a grid over the points (S, 2): a picture needs no more."""
    span = np.ptp(points, axis=0).max()
    _, first = np.unique(np.round(points / span * cells), axis=0, return_index=True)
    return points[first]


class Prediction(NamedTuple):
    """The rigid law's outcomes."""

    impact: ContactProblem
    v: Array  # before the impact (3,)
    outcomes: Array  # (S, 3)
    message: str  # of the samples

    def distance(self, v: Array) -> float:
        """From the nearest outcome to v (3,), in |.|_M."""
        return float(distances(self.impact, self.outcomes, v).min())

    @property
    def size(self) -> float:
        """Distance between two outcomes far apart, in |.|_M."""
        return set_size(self.impact, self.outcomes)


@study("Halm and Posa, figure 12", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows of both sweeps, each of ``trials`` values."""
    trials = options.count(TRIALS)
    block = RockingBlock()
    options.progress(0, 2 * trials, "rigid outcomes")
    rigid = predict(block, options.seed)
    rows = []
    for row in sweeps(block, rigid, trials):
        rows.append(row)
        options.progress(len(rows), 2 * trials, row.sweep)
    drawing = draw(rows, rigid.outcomes @ rigid.impact.J_n.T)
    worst = max(row.distance for row in rows)
    criteria = [Criterion("largest distance from the rigid set, in |v_0|_M", worst, "<=", REQUIRED)]
    return StudyResult(
        rows, {"figure-12": drawing}, notes(rigid, rows), SHOWN, criteria=criteria
    )


def predict(block: RockingBlock, seed: int, samples: int = SAMPLES) -> Prediction:
    """Sample the set-valued law's outcomes for the block that lands flat."""
    impact, v = problem(block), velocity(block)
    sampled = sample_impacts(impact, v, SamplingOptions(samples, STEP, seed=seed))
    return Prediction(impact, v, sampled.outcomes, sampled.message)


def sweeps(block: RockingBlock, rigid: Prediction, trials: int) -> Iterator[CollisionRow]:
    """Rows, as they come: first over the ratio of stiffness, then over the angle."""
    ratios = 10.0 ** np.linspace(-DECADES, DECADES, trials)
    angles = np.linspace(-ANGLE, ANGLE, trials)
    cases: tuple[tuple[str, Array, Callable[[float], Any]], ...] = (
        (RATIO, ratios, lambda r: collide(block, CompliantContact(stiffness_for(r)))),
        (TILT, angles, lambda a: collide(block, CompliantContact(), float(np.radians(a)))),
    )
    size = rigid.size
    for sweep, values, outcome in cases:
        for value in values:
            yield _row(sweep, float(value), outcome(float(value)), rigid, size)


@dataclass(frozen=True)
class CollisionRow:
    """One compliant collision and its distance from the rigid set."""

    sweep: str
    value: float
    normal_velocity_A: float
    normal_velocity_B: float
    distance: float
    distance_over_set: float
    impulse_before_second: float
    milliseconds: float
    status: str


def _row(sweep: str, value: float, ended: Any, rigid: Prediction, size: float) -> CollisionRow:
    """One collision: the distance of v+ to the nearest outcome, in |.|_M over |v_0|_M."""
    distance = rigid.distance(ended.v_plus)
    normal = rigid.impact.J_n @ ended.v_plus
    return CollisionRow(
        sweep=sweep,
        value=value,
        normal_velocity_A=float(normal[0]),
        normal_velocity_B=float(normal[1]),
        distance=distance / rigid.impact.kinetic_norm(rigid.v),
        distance_over_set=distance / size,
        impulse_before_second=float(ended.before_second),
        milliseconds=1e3 * ended.time,
        status=ended.status,
    )


def notes(rigid: Prediction, rows: Sequence[CollisionRow]) -> Sequence[str]:
    """How far outcomes lie from the set, and how much of the set they cover."""
    worst, over_set = max(row.distance for row in rows), max(row.distance_over_set for row in rows)
    met = "all within" if worst <= REQUIRED else "NOT all within"
    over = "all within" if over_set <= REQUIRED else "not all within"
    failed = [f"{r.sweep} {r.value:.3g}: {r.status}" for r in rows
              if r.status != "separated"]  # fmt: skip
    before = max(row.impulse_before_second for row in rows)
    return (
        f"Compliant outcomes lie at most {worst:.2%} of |v_0|_M from the rigid set, {met} the"
        f" {REQUIRED:.0%} required; {over_set:.2%} of the set's own size ({rigid.size:.3g}),"
        f" {over} {REQUIRED:.0%}. Distances are in |.|_M, to the nearest of"
        f" {len(rigid.outcomes)} samples with both corners down at theta = 0.",
        *(_reach(sweep, rigid, rows) for sweep in (RATIO, TILT)),
        f"At the largest angle {before:.4%} of the first corner's impulse comes before the second"
        " touches (5.4.1: 99.9992 %).",
        "(88) prints the damping as 2 zeta sqrt(k / m); this study uses 2 zeta sqrt(k m), equal at"
        " 1 kg. A collision ends when no corner closes, the one still in the air included.",
        *failed,
        *filter(None, [rigid.message]),
    )


def _reach(sweep: str, rigid: Prediction, rows: Sequence[CollisionRow]) -> str:
    """Largest separating velocity of a sweep beside the rigid set's."""
    own = [row for row in rows if row.sweep == sweep]
    normal = rigid.outcomes @ rigid.impact.J_n.T
    pairs = [
        f"{name} {max(getattr(row, f'normal_velocity_{name}') for row in own):.4f} against"
        f" {normal[:, i].max():.4f} m/s"
        for i, name in enumerate(rigid.impact.contacts)
    ]
    over = "ratios of stiffness" if sweep == RATIO else "angles"
    return f"Largest separating velocity over the {over}, compliant against rigid: " + (
        ", ".join(pairs) + "."
    )
