"""Impacts as velocities of their contacts: figures 9-11, 13 and 14, and the A1's beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.resolution import Resolution
from hybrid.impacts.sampling import SamplingOptions, sample_paths
from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, figure
from studies.halm_posa.impact_sets.cases import Subject
from studies.halm_posa.systems import (
    box_and_wall,
    compass_gait,
    disk_stacking,
    ramone,
    rocking_block,
)
from studies.halm_posa.systems.named_outcomes import named_outcomes

_ROUND = np.linspace(0.0, 2.0 * np.pi, 60)
PATHS = 1000  # that are drawn
CELLS = 400  # places of a picture, along each side, with one dot each
FLAT = 1e-9  # velocities nearer to each other are one [m/s]
FIGURES = {
    "rocking block": "figure-9",
    "compass gait": "figure-10",
    "box and wall": "figure-11",
    "RAMone": "figure-13",
    "disk stacking": "figure-14",
    "A1 trotting": "a1-trotting",
}  # name of the file by system, as the paper numbers them
_PATH, _SET = "0.75", "0.25"  # greys
_SEQUENTIAL = (COLOURS["dxr"], COLOURS["xi"])


class Sketch(NamedTuple):
    """One mechanism at the impact."""

    lines: list[Array]  # (k, 2) corners [m]
    contacts: Array  # (m, 2) [m]
    wall: float | None = None  # x of a wall [m]


def draw_sketch(axis: Any, name: str, contacts: tuple[str, ...]) -> None:
    """Draw the system ``name`` of the catalogue on the ground y = 0."""
    sketch = SKETCHES[name]()
    for line in sketch.lines:
        axis.plot(*line.T, color="0.3", lw=1.4)
    for at, label in zip(sketch.contacts, contacts, strict=True):
        axis.plot(*at, "o", color=COLOURS["dxr"], ms=4, zorder=3)
        axis.annotate(label, at, xytext=(9, 4), textcoords="offset points", fontsize=9)
    axis.axhline(0.0, **GUARD)
    if sketch.wall is not None:
        axis.axvline(sketch.wall, **GUARD)
    axis.set(xlabel="x [m]", ylabel="y [m]")
    axis.margins(0.15)
    axis.set_aspect("equal", adjustable="datalim")


def _block() -> Sketch:
    block = rocking_block.RockingBlock()
    feet = rocking_block.corners(block, rocking_block.standing(block))
    top = feet[::-1] + [0.0, block.height]
    return Sketch([np.vstack([feet, top, feet[:1]])], feet)


def _gait() -> Sketch:
    gait = compass_gait.CompassGait()
    hip, feet, masses = compass_gait.joints(gait, compass_gait.configuration(gait))
    weights = [mass + 0.03 * _circle() for mass in masses]
    return Sketch([np.array([feet[0], hip, feet[1]]), *weights], feet)


def _box() -> Sketch:
    box = box_and_wall.BoxAndWall()
    q = box_and_wall.configuration(box)
    right = box_and_wall.corners(box, q)
    left = 2.0 * q[:2] - right
    return Sketch([np.vstack([right, left, right[:1]])], right, 0.0)


def _ramone() -> Sketch:
    robot = ramone.Ramone()
    legs = ramone.joints(robot, ramone.configuration(robot))
    discs = [leg[-1] + robot.foot_radius * _circle() for leg in legs]
    return Sketch([*legs, *discs], legs[:, -1] - [0.0, robot.foot_radius])


def _stack() -> Sketch:
    stack = disk_stacking.DiskStacking()
    centres = disk_stacking.configuration(stack).reshape(3, 3)[:, :2]
    floor = centres * [1.0, 0.0]
    touching = [
        floor[disk] if other == disk_stacking.GROUND else 0.5 * (centres[disk] + centres[other])
        for disk, other in disk_stacking.CONTACTS.values()
    ]
    return Sketch([centre + stack.radius * _circle() for centre in centres], np.array(touching))


def _circle() -> Array:
    return np.stack([np.cos(_ROUND), np.sin(_ROUND)], axis=1)


SKETCHES = {
    "rocking block": _block,
    "compass gait": _gait,
    "box and wall": _box,
    "RAMone": _ramone,
    "disk stacking": _stack,
}  # by the catalogue's names


class Panel(NamedTuple):
    """Two contact velocities against each other."""

    x: tuple[str, int]  # "normal" or "tangential", and which contact
    y: tuple[str, int]


def panels(problem: ContactProblem) -> list[Panel]:
    """Each contact by itself and their normals for two contacts; pairs of normals for more."""
    if problem.count == 2:
        return [
            Panel(("tangential", 0), ("normal", 0)),
            Panel(("normal", 0), ("normal", 1)),
            Panel(("tangential", 1), ("normal", 1)),
        ]
    return [Panel(("normal", i), ("normal", i + 1)) for i in range(0, 2 * (problem.count // 2), 2)]


def draw(subject: Subject, outcomes: Array, seed: int = 0) -> Figure:
    """One impact: sampled paths, the set after it, and the simultaneous and sequential paths."""
    problem, v, views = subject.problem, subject.velocity, panels(subject.problem)
    paths = sample_paths(problem, v, SamplingOptions(PATHS, subject.step, seed=seed))
    named = [each.resolution for each in named_outcomes(problem, v)]
    posed = subject.name in SKETCHES
    count = len(views) + posed
    drawing, axes = figure(columns=count, width=3.2 * count, height=3.9)
    if posed:
        draw_sketch(axes[0], subject.name, problem.contacts)
    for axis, panel in zip(axes[posed:], views, strict=True):
        _draw_paths(axis, problem, panel, paths)
        _draw_set(axis, _in_panel(problem, panel, outcomes))
        _draw_named(axis, problem, panel, named)
        axis.plot(*_in_panel(problem, panel, v), "o", color="black", ms=4, zorder=6, label="before")
        axis.set(xlabel=_label(problem, panel.x), ylabel=_label(problem, panel.y))
        _frame(axis)
    handles, labels = axes[-1].get_legend_handles_labels()
    columns = 3 if count < 3 else 6
    drawing.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )
    drawing.suptitle(subject.name, fontsize=10)
    return drawing


def _draw_paths(axis: Any, problem: ContactProblem, panel: Panel, paths: list[Array]) -> None:
    lines = [_in_panel(problem, panel, path) for path in paths]
    axis.add_collection(LineCollection(lines, colors=_PATH, linewidths=0.4, zorder=1))
    axis.plot([], [], color=_PATH, lw=1.0, label="sampled paths")


def _draw_set(axis: Any, velocities: Array) -> None:
    """Dots of the set, one where many outcomes fall on the same place of the picture."""
    cell = np.maximum(np.ptp(velocities, axis=0) / CELLS, FLAT / CELLS)
    _, first = np.unique(np.round(velocities / cell), axis=0, return_index=True)
    axis.plot(*velocities[first].T, ".", color=_SET, ms=6.0, mew=0.0, zorder=2,
              label="after the impact")  # fmt: skip


def _draw_named(
    axis: Any, problem: ContactProblem, panel: Panel, resolutions: list[Resolution]
) -> None:
    """Simultaneous outcomes, then the two sequential ones, which come last."""
    for i, resolution in enumerate(resolutions[:-2]):
        axis.plot(*_in_panel(problem, panel, resolution.path).T, "-o", color=COLOURS["initial"],
                  ms=5, lw=1.2, zorder=3, label="simultaneous" if i == 0 else None)  # fmt: skip
    orders = zip(resolutions[-2:], _SEQUENTIAL, ("-", "--"), ("in order", "reversed"), strict=True)
    for resolution, colour, line, order in orders:
        axis.plot(*_in_panel(problem, panel, resolution.path).T, line, marker="s", ms=2.5, lw=1.2,
                  color=colour, zorder=4, label=f"sequential, {order}")  # fmt: skip


def _frame(axis: Any) -> None:
    """Axes through zero; a side along which nothing but rounding happens is not blown up."""
    axis.autoscale_view()
    for low_high, put in ((axis.get_xlim(), axis.set_xlim), (axis.get_ylim(), axis.set_ylim)):
        if low_high[1] - low_high[0] < FLAT:
            put(np.mean(low_high) - 0.05, np.mean(low_high) + 0.05)
    axis.axhline(0.0, color="0.5", lw=0.5, zorder=0)
    axis.axvline(0.0, color="0.5", lw=0.5, zorder=0)


def _in_panel(problem: ContactProblem, panel: Panel, velocities: Array) -> Array:
    """The two contact velocities (., 2) of velocities (., n)."""
    return np.stack([velocities @ _row(problem, *side) for side in panel], axis=-1)


def _row(problem: ContactProblem, kind: str, contact: int) -> Array:
    return (problem.J_n if kind == "normal" else problem.J_D[:: problem.directions])[contact]


def _label(problem: ContactProblem, side: tuple[str, int]) -> str:
    return f"{side[0]} velocity of {problem.contacts[side[1]]} [m/s]"
