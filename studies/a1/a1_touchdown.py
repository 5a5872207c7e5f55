"""Unpredictability of the A1's touchdowns in walk, trot and bound.

Each gait is walked in lock step, undisturbed. At every touchdown the velocity before it, the feet
that land within 10 ms, with the state before the first of them, and those that stand go to Halm and
Posa's set-valued impact. If only one foot closes, and its impact closes no other, there is one
outcome. ended is the share of sampled impacts that terminated.

jump_m_s: change of the base velocity to the mean of the outcomes. spread_m_s: largest distance of
the base velocity between two outcomes, median over the touchdowns (spread_max_m_s: the largest); of
random samples, a lower bound of the set's. rms_m_s: RMS distance from the mean. spread_kinetic:
spread of all velocities in the kinetic metric, over the length of the velocity before the impact.
orders_m_s: spread of impacts one foot after another, in every order. planner_m_s: distance of the
base velocity after the planner's impact (every foot on the ground sticks) from the nearest outcome.
The planner's contact point is the centre of a foot's sphere, that of the outcomes its lowest point.

s: cosine of largest magnitude between the contact normals of a landing foot and any other foot on
the ground, Seghete and Murphey's (22); s_landing: among the landing feet. 0 means independent
contacts. rank_approach, rank_s: Spearman's correlation of the spread of all touchdowns with the
largest landing speed of a foot, and with |s|.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import combinations, groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from controller.gaits import GAITS
from robots.contact_dynamics import ContactDynamics
from robots.conventions import FOOT_NAMES
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot, load_robot
from robots.touchdown import impact
from saltus.configuration.launch import make_config
from saltus.launch.lock_step import LockStep, Tick
from saltus.metrics.touchdowns import Array, TouchdownFinder, Touchdowns, feet_of
from studies.a1.systems.touchdown_spread import (
    Outcomes,
    Spread,
    kind_of,
    largest_distance,
    ordered_outcomes,
    outcomes_of,
    spread_of,
)
from studies.figures import COLOURS, Panel, dots, draw
from studies.study import StudyOptions, StudyResult, study

SPEED = 0.2  # commanded [m/s]


class Walked(NamedTuple):
    """The touchdowns of one run, at full speed."""

    gait: str
    touchdowns: Touchdowns
    fell: bool


class MeasuredTouchdown(NamedTuple):
    """One touchdown."""

    gait: str
    landing: tuple[str, ...]
    kind: str
    standing: tuple[str, ...]
    v: Array  # (18) before
    spread: Spread
    orders: float  # largest distance of outcomes of impacts foot after foot [m/s of the base]
    planner: float  # from the planner's impact, all feet stuck, to the nearest outcome [m/s]
    outcomes: Outcomes


def walk(gait: str, duration: float, seed: int, tick: Callable[[int], None]) -> Walked:
    """Let the A1 follow a gait undisturbed, under HiLQR, and keep the touchdowns after the ramp.

    Args:
        gait: walk, trot or bound.
        duration: of the run [s].
        seed: of the sensors' noise.
        tick: called at every tick with its number.
    """
    config = make_config(
        {"reference": gait, "duration": duration, "command": {"velocity_x": SPEED},
         "simulation": {"seed": seed}}, f"study of {gait}",
    )  # fmt: skip
    logging.getLogger("controller").addHandler(logging.NullHandler())  # that it starts is no news
    run, finder = LockStep(config), TouchdownFinder()

    def keep(at: Tick) -> None:
        truth = at.truth
        finder.add(truth.time, truth.q, truth.v, truth.contact)
        tick(truth.tick)

    fell = run.run(keep).fell
    touchdowns, settled = finder.touchdowns(), GAITS[gait].start + GAITS[gait].ramp
    return Walked(gait, touchdowns.rows(touchdowns.time >= settled), fell)


def measure(
    robot: Robot, walked: Walked, samples: int, options: StudyOptions
) -> list[MeasuredTouchdown]:
    """Sample the outcomes of each touchdown, and compare other impact laws with them."""
    model = load_pinocchio(robot)
    dynamics = ContactDynamics(model, foot_frame_ids(model))
    impacts, touchdowns = [], walked.touchdowns
    rows = range(len(touchdowns.time))
    for row in options.track(rows, lambda _: f"{walked.gait}: outcomes"):
        q, v, landing = touchdowns.q[row], touchdowns.v[row], touchdowns.landing[row]
        outcomes = outcomes_of(robot, touchdowns, row, samples, options.seed)
        stuck = impact(dynamics, q, v, landing + touchdowns.standing[row]).v_plus
        distance = np.linalg.norm(outcomes.v_plus[:, :3] - stuck[:3], axis=1)
        impacts.append(MeasuredTouchdown(
            walked.gait, feet_of(landing), kind_of(landing), feet_of(touchdowns.standing[row]), v,
            spread_of(outcomes, v, landing),
            largest_distance(ordered_outcomes(outcomes.problem, v)[:, :3]), float(distance.min()),
            outcomes,
        ))  # fmt: skip
    return impacts


GAIT_COLOURS = {"walk": COLOURS["initial"], "trot": COLOURS["xi"], "bound": COLOURS["dxr"]}
_MARKS = {"one foot": ".", "diagonal pair": "x", "front pair": "^", "rear pair": "v",
          "side pair": "s"}  # fmt: skip
_SMALLEST = 1e-5  # spread that the figure shows, in place of less [m/s]


def spread_figure(impacts: Sequence[MeasuredTouchdown]) -> Figure:
    """Spread against the foot's speed and against s, and s of every pair of feet on the ground."""
    by_speed, by_cosine, by_pair = {}, {}, {}
    for gait, kind in dict.fromkeys((each.gait, each.kind) for each in impacts):
        spreads = [each.spread for each in impacts if (each.gait, each.kind) == (gait, kind)]
        look = {"color": GAIT_COLOURS[gait], "marker": _MARKS.get(kind, "D"), "markersize": 5}
        for curves, x in ((by_speed, [each.approach for each in spreads]),
                          (by_cosine, np.abs([each.cosine for each in spreads]))):  # fmt: skip
            y = [max(each.base, _SMALLEST) for each in spreads]
            curves[f"{gait}, {kind}"] = dots(np.column_stack((x, y)), **look)
    pairs, gaits = list(combinations(FOOT_NAMES, 2)), GAIT_COLOURS.items()
    for shift, (gait, colour) in zip(np.linspace(-0.2, 0.2, len(gaits)), gaits, strict=True):
        marks = [
            (column + shift, each.spread.pairs[pair])
            for column, pair in enumerate(pairs)
            for each in impacts
            if each.gait == gait and pair in each.spread.pairs
        ]
        if marks:
            by_pair[gait] = dots(marks, marker="_", markersize=7, color=colour)
    label = f"spread of the base [m/s], at least {_SMALLEST:g}"
    ticks = {"xticks": range(len(pairs)), "xticklabels": ["\n".join(pair) for pair in pairs]}
    return draw(
        Panel(by_speed, "largest landing speed of a foot [m/s]", label,
              settings={"yscale": "log", "xlim": (-0.05, None)}),
        Panel(by_cosine, "largest |s| of a landing foot", label,
              settings={"yscale": "log", "xlim": (0.0, None)}),
        Panel(by_pair, "", "s of a pair of feet", ((), (0.0,)), ticks), width=3.5, height=3.7,
    )  # fmt: skip


def cloud_figure(impacts: Sequence[MeasuredTouchdown]) -> Figure:
    """Of each gait the touchdown that spreads most: where the base's velocity may end.

    Changes forward and upward in the base's axes.
    """
    panels = []
    for gait in dict.fromkeys(each.gait for each in impacts):
        of_gait = [each for each in impacts if each.gait == gait]
        most = max(of_gait, key=lambda each: each.spread.base)
        ordered = ordered_outcomes(most.outcomes.problem, most.v)
        curves = {
            name: dots(1e3 * (outcomes - most.v)[:, [0, 2]], color=colour, marker=mark)
            for name, outcomes, colour, mark in (
                ("samples", most.outcomes.v_plus, "0.45", "."),
                ("one foot after another", ordered, COLOURS["dxr"], "+"),
            )
        }
        title = {"title": f"{gait}: {', '.join(most.landing)} down"}
        panels.append(
            Panel(curves, "change forward [mm/s]", "change upward [mm/s]", settings=title)
        )
    return draw(*panels, width=3.5, height=3.5)


GAIT_NAMES = ("walk", "trot", "bound")
DURATION_S, FULL_DURATION_S = 4.0, 20.0  # of each run
SAMPLES, FULL_SAMPLES = 256, 2048  # of each touchdown
SHOWN = ("gait", "landing", "touchdowns", "jump_m_s", "spread_m_s", "spread_max_m_s",
         "spread_kinetic", "s", "ended", "energy_growth", "fell")  # fmt: skip


@study("the A1 in simulation", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: gait, feet that land, and medians over the touchdowns of that kind.

    ``options.trials`` is the number of samples of each touchdown.
    """
    samples = options.count(SAMPLES, FULL_SAMPLES)
    duration = FULL_DURATION_S if options.full else DURATION_S
    walked, impacts = [], []
    for gait in GAIT_NAMES:
        walked.append(walk(gait, duration, options.seed, _tick_progress(options, gait, duration)))
        impacts += measure(load_robot("a1"), walked[-1], samples, options)
    fell = {each.gait: each.fell for each in walked}
    rows = [row | {"fell": fell[row["gait"]]} | ranks(impacts) for row in rows_of(impacts)]
    drawn = {"spread": spread_figure, "outcomes": cloud_figure} if impacts else {}
    figures = {name: function(impacts) for name, function in drawn.items()}
    return StudyResult(rows, figures, SHOWN)


def ranks(impacts: Sequence[MeasuredTouchdown]) -> dict[str, float | None]:
    """Spearman's rank correlations of the spread; None where not both vary."""
    spread = np.array([each.spread.base for each in impacts])
    found: dict[str, float | None] = {}
    for key, name in (("rank_approach", "approach"), ("rank_s", "cosine")):
        other = np.abs([getattr(each.spread, name) for each in impacts])
        a, b = other[np.isfinite(other)], spread[np.isfinite(other)]
        varies = len(a) > 2 and np.ptp(a) > 0.0 and np.ptp(b) > 0.0
        found[key] = float(spearmanr(a, b)[0]) if varies else None
    return found


def _tick_progress(options: StudyOptions, gait: str, duration: float) -> Any:
    """Progress of a run, reported every 50 ms of its time."""
    total = round(duration * 1e3)

    def report(tick: int) -> None:
        if tick % 50 == 0:
            options.progress(tick, total, f"{gait}: run")

    return report


def rows_of(impacts: Sequence[MeasuredTouchdown]) -> list[dict[str, Any]]:
    """One row for each gait and kind of touchdown."""
    rows = []
    for _, gait in groupby(impacts, key=lambda each: each.gait):
        of_gait = list(gait)
        for kind in sorted({each.kind for each in of_gait}):
            rows.append(_row([each for each in of_gait if each.kind == kind]))
    return rows


def _row(impacts: Sequence[MeasuredTouchdown]) -> dict[str, Any]:
    spreads = [each.spread for each in impacts]
    together = [spread.pairs[each.landing] for each, spread in zip(impacts, spreads, strict=True)
                if len(each.landing) == 2]  # fmt: skip
    return {
        "gait": impacts[0].gait,
        "landing": impacts[0].kind,
        "touchdowns": len(impacts),
        "standing": float(np.mean([len(each.standing) for each in impacts])),
        "approach_m_s": _median([spread.approach for spread in spreads]),
        "jump_m_s": _median([spread.jump for spread in spreads]),
        "spread_m_s": _median([spread.base for spread in spreads]),
        "spread_max_m_s": max(spread.base for spread in spreads),
        "rms_m_s": _median([spread.rms for spread in spreads]),
        "spread_kinetic": _median([spread.kinetic for spread in spreads]),
        "s": max((spread.cosine for spread in spreads if spread.pairs), key=abs, default=None),
        "s_landing": max(together, key=abs, default=None),
        "orders_m_s": _median([each.orders for each in impacts]),
        "planner_m_s": _median([each.planner for each in impacts]),
        "ended": min(each.outcomes.ended for each in impacts),
        "energy_growth": max(each.outcomes.energy_growth for each in impacts),
    }


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
