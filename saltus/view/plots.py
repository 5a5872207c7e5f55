"""Scrolling plots of a page."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import viser
from viser import uplot

from saltus.view.instant import Measures

SPAN_S = 10.0  # that a plot shows [s]
EVERY_S = 0.2  # by the wall clock, between two updates [s]


class _Curve(NamedTuple):
    field: str  # of Measures
    label: str
    colour: str


PLOTS: dict[str, tuple[_Curve, ...]] = {
    "solve time [ms]": (_Curve("solve_ms", "solve", "#3c78dc"),),
    "age of the newest plan [ms]": (_Curve("plan_age_ms", "age", "#3c78dc"),),
    "forward velocity [m/s]": (
        _Curve("forward_command", "command", "#eb8c28"), _Curve("forward", "robot", "#3caa5a"),
    ),
    "yaw rate [rad/s]": (
        _Curve("yaw_rate_command", "command", "#eb8c28"), _Curve("yaw_rate", "robot", "#3caa5a"),
    ),
    "NEES of the velocity (3 expected)": (_Curve("nees", "NEES", "#a050c8"),),
}  # fmt: skip


class Plots:
    """The last ten seconds of each measure."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Add the plots where the caller's container is."""
        self._measures: deque[Measures] = deque(maxlen=round(60 * SPAN_S))
        self._due = 0.0
        empty = np.zeros(1)
        self._handles = {
            title: server.gui.add_uplot(
                (empty, *[empty] * len(curves)),
                (uplot.Series(label="s"), *[
                    uplot.Series(label=c.label, stroke=c.colour, width=1.5) for c in curves
                ]),
                title=title, height=150, scales={"x": uplot.Scale(time=False)},
            )
            for title, curves in PLOTS.items()
        }  # fmt: skip

    def add(self, measures: Measures) -> None:
        """Take the measures of one instant; time that went back begins anew."""
        if self._measures and measures.time < self._measures[-1].time:
            self._measures.clear()
        self._measures.append(measures)
        while measures.time - self._measures[0].time > SPAN_S:
            self._measures.popleft()

    def update(self, now: float) -> None:
        """Send what has changed, at most five times a second; `now` is the wall clock's [s]."""
        if now < self._due or not self._measures:
            return
        self._due = now + EVERY_S
        columns = {name: np.array([getattr(each, name) for each in self._measures])
                   for name in Measures._fields}  # fmt: skip
        for title, curves in PLOTS.items():
            self._handles[title].data = (columns["time"], *(columns[c.field] for c in curves))
