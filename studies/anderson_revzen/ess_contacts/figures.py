"""Figures 5.1 and 5.2 of ``ess-contacts``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.anderson_revzen.ess_contacts.calibration import TIMES, Calibration
from studies.anderson_revzen.ess_contacts.measurement import BedRow, Sweep
from studies.figures import COLOURS, figure

_OURS, _MUJOCO = COLOURS["dxr"], COLOURS["initial"]  # red and blue, as in the paper
_LABELS = {
    "ours": "event-selected, 2 ms, as accurate as MuJoCo",
    "hopper_epsilon": r"event-selected, 2 ms, $\epsilon'$ of the hopper",
    "long_steps": "event-selected, steps as tolerances allow",
}
_STYLES = {"ours": "-", "hopper_epsilon": "--", "long_steps": ":"}


def calibration_figure(calibration: Calibration) -> Figure:
    """Figure 5.1: the hopper from 2 m, and below it what both are off by."""
    drawing, axes = figure(columns=2, rows=2, width=8.0, height=4.6, sharex=True)
    names = (("height", "m"), ("velocity", "m/s"))
    for column, (name, unit) in enumerate(names):
        above, below = axes[:, column]
        for states, label, colour, style in (
            (calibration.exact, "exact", COLOURS["seed"], ":"),
            (calibration.mujoco, "MuJoCo", _MUJOCO, "--"),
            (calibration.ours, "event-selected", _OURS, "-"),
        ):
            above.plot(TIMES, states[:, column], style, color=colour, lw=1.2, label=label)
            off = (states - calibration.exact)[:, column]
            below.plot(TIMES, off, style, color=colour, lw=1.2)
        above.set(ylabel=f"{name} [{unit}]")
        below.set(ylabel=f"error of {name} [{unit}]", xlabel="time [s]")
    drawing.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                   fontsize=8, frameon=False)  # fmt: skip
    return drawing


def cost_figure(measured: Sweep, rows: Sequence[BedRow]) -> Figure:
    """Figure 5.2: median and quartiles of the run times over contacts, and errors beside them."""
    drawing, (left, right) = figure(columns=2, width=9.0, height=3.8)
    low, middle, high = 1e3 * np.quantile(measured.times, (0.25, 0.5, 0.75), axis=0)
    contacts = measured.contacts
    for i, name in enumerate([*measured.settings, "mujoco"]):
        look = _look(name)
        left.plot(contacts, middle[:, i], **look)
        left.fill_between(contacts, low[:, i], high[:, i], color=look["color"], alpha=0.15, lw=0)
        errors = [getattr(row, f"{name}_rms") or np.nan for row in rows]
        right.plot(contacts, errors, **look)
    left.set(xlabel="contacts", ylabel="processor time of 2 s [ms]", ylim=(0.0, None))
    right.set(xlabel="contacts", ylabel="RMS error [SI units]", yscale="log")
    drawing.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2,
                   fontsize=8, frameon=False)  # fmt: skip
    return drawing


def _look(name: str) -> dict[str, Any]:
    if name == "mujoco":
        return {"color": _MUJOCO, "linestyle": "-", "marker": "o", "ms": 3, "label": "MuJoCo, 2 ms"}
    return {"color": _OURS, "linestyle": _STYLES[name], "marker": "o", "ms": 3,
            "label": _LABELS[name]}  # fmt: skip
