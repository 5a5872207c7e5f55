"""Figures 2.4 to 2.10 of the rotary cart pole, and a stroboscopic view of its swing-ups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from controller.convergent.rotary.divergence import average_divergence, damping_divergence
from controller.convergent.rotary.model import pole_point
from controller.convergent.rotary.parameters import QUBE_SERVO_2
from controller.convergent.rotary.perturbation import Perturbed
from controller.convergent.rotary.tracking import Tracked
from controller.convergent.rotary.trajectory import SwingUp, interpolants
from hybrid.systems import Array
from studies.figures import COLOURS, GUARD, figure
from studies.kong.rotary.swing_ups import BASE, Solved

TITLES = {
    "minimal_energy": "minimal energy",
    "smooth": "smooth, minimal energy",
    "convergent": "convergent",
}
_ARM, _POLE, _BACK, _LOST = "tab:gray", "tab:blue", "tab:green", COLOURS["dxr"]
_FLASH = 0.025  # between two pictures of the stroboscopic view [s]
_SHOWN = 1.4  # of it before the end [s]; until then the pole hangs nearly still
_TURNS = [r"$-2\pi$", r"$-\pi$", "0", r"$\pi$", r"$2\pi$", r"$3\pi$"]
_VIEW = np.radians([-30.0, 20.0])  # from where it is seen: azimuth, elevation


def figures(base: Mapping[str, Solved]) -> dict[str, Figure]:
    """All figures of the swing-ups that there are."""
    drawn = {}
    for number, name in (("2.4", "minimal_energy"), ("2.5", "smooth"), ("2.6", "convergent")):
        if base[name].swing.ok:
            drawn[f"figure-{number}"] = draw_plan(base[name].swing, TITLES[name])
    for number, name in (("2.7", "smooth"), ("2.8", "convergent")):
        if (tracked := base[name].tracked) is not None:
            drawn[f"figure-{number}"] = draw_tracking(base[name].swing, tracked, TITLES[name])
    for number, name in (("2.9", "smooth"), ("2.10", "convergent")):
        if (perturbed := base[name].perturbed) is not None:
            drawn[f"figure-{number}"] = draw_perturbations(
                base[name].swing, perturbed, TITLES[name]
            )
    drawn["swing"] = draw_swings({name: entry.swing for name, entry in base.items()})
    return drawn


def draw_plan(swing: SwingUp, title: str) -> Figure:
    """Figures 2.4 to 2.6: angles, torque, and average divergence over time."""
    drawing, axes = figure(rows=3, height=5.4, sharex=True)
    times, states, torques = _fine(swing)
    axes[0].plot(times, states[:, 0], color=_ARM, label=r"arm $\theta$")
    axes[0].plot(times, states[:, 1], color=_POLE, label=r"pole $\alpha$")
    axes[0].set(ylabel="angle [rad]", title=title)
    axes[0].axhline(np.pi, **GUARD)
    axes[1].plot(times, torques, color="black")
    for side in (-1.0, 1.0):
        axes[1].axhline(side * BASE.task.torque_limit, **GUARD)
    axes[1].set(ylabel=r"torque $\tau$ [N m]")
    divergence = average_divergence(QUBE_SERVO_2, states.T)
    damping = damping_divergence(QUBE_SERVO_2, states[:, 1])
    axes[2].plot(times, divergence, color=COLOURS["xi"], label="$D_a$")
    axes[2].plot(times, damping, color=COLOURS["direct"], lw=1.0, label="part of the damping")
    axes[2].set(xlabel="time [s]", ylabel="average divergence [1/s]")
    for panel in (axes[0], axes[2]):
        panel.legend(frameon=False, loc="best", fontsize=8)
    return drawing


def draw_tracking(swing: SwingUp, tracked: Tracked, title: str) -> Figure:
    """Figures 2.7 and 2.8: the machines' angles and torques over the plan's."""
    drawing, axes = figure(rows=3, height=5.4, sharex=True)
    held, colours = tracked.times, _outcome(tracked.success)
    for panel, part, name in ((axes[0], 1, "pole"), (axes[1], 0, "arm")):
        _bundle(panel, held, tracked.states[:, part], colours)
        panel.plot(swing.times, swing.states[:, part], color="black", ls="--", lw=1.0, label="plan")
        panel.set(ylabel=f"{name} [rad]")
    _bundle(axes[2], held, tracked.torques, colours)
    axes[2].plot(swing.times, swing.torques, color="black", ls="--", lw=1.0)
    axes[2].set(xlabel="time [s]", ylabel=r"torque $\tau$ [N m]")
    kept = f"{int(np.sum(tracked.success))} of {len(tracked.success)} held"
    axes[0].set(title=f"{title}, simulated machines: {kept}")
    axes[0].legend(frameon=False, fontsize=8)
    return drawing


def draw_perturbations(swing: SwingUp, perturbed: Perturbed, title: str) -> Figure:
    """Figures 2.9 and 2.10: the pole's angle after each perturbation; lost ones in red.

    Some of the lost end with the pole held aside by an arm that spins, at odd multiples of pi / 2.
    """
    drawing, axes = figure(rows=2, height=5.4, sharex=True, sharey=True)
    N = len(swing.times)
    end = int(np.searchsorted(perturbed.times, swing.times[-1] + 1.0))
    for panel, sign, columns in (
        (axes[0], "+", slice(0, N)),
        (axes[1], "\N{MINUS SIGN}", slice(N, None)),
    ):
        success = perturbed.success[columns]
        alphas = perturbed.alphas[:end, columns]
        _bundle(panel, perturbed.times[:end], alphas, _outcome(success))
        panel.plot(swing.times, swing.states[:, 1], color="black", lw=1.4)
        panel.axvline(swing.times[-1], **GUARD)
        panel.set(ylabel=r"pole $\alpha$ [rad]", ylim=(-2.6 * np.pi, 3.1 * np.pi))
        panel.set_yticks(np.pi * np.arange(-2, 4), _TURNS)
        panel.set_title(f"{title}, {sign}1 rad: {int(np.sum(success))} of {N} recover")
    axes[1].set(xlabel="time [s]")
    return drawing


def draw_swings(swings: Mapping[str, SwingUp]) -> Figure:
    """The pole as a stroboscope shows it near the end: dark first, light last."""
    drawing, axes = figure(columns=len(swings), width=10.0, height=3.6, sharex=True, sharey=True)
    colours = mpl.colormaps["viridis"]
    for panel, (name, swing) in zip(np.atleast_1d(axes), swings.items(), strict=True):
        panel.set(
            title=TITLES[name], aspect="equal", xlabel=f"[m]; last {_SHOWN:g} s, dark to light"
        )
        if not swing.ok:
            continue
        times, states, _ = _fine(swing)
        flashes = times[-1] - _FLASH * np.arange(min(_SHOWN, times[-1]) / _FLASH)[::-1]
        x = np.stack([np.interp(flashes, times, state) for state in states.T])
        near, tip = (
            _project(*pole_point(QUBE_SERVO_2, x, r)) for r in (0.0, float(QUBE_SERVO_2.L_p))
        )
        shade = colours(np.linspace(0.0, 0.95, len(flashes)))
        poles = np.stack([near, tip], axis=1)
        arms = np.stack([np.zeros_like(near), near], axis=1)
        panel.add_collection(LineCollection(list(arms), colors="0.85", linewidths=0.6))
        panel.add_collection(LineCollection(list(poles), colors=list(shade), linewidths=1.0))
        late = states[times >= flashes[0]]
        fine = _project(*pole_point(QUBE_SERVO_2, late.T, QUBE_SERVO_2.L_p))
        panel.plot(*fine.T, color="black", lw=0.4)
    np.atleast_1d(axes)[0].set(xlim=(-0.16, 0.16), ylim=(-0.16, 0.11), ylabel="[m]")
    return drawing


def _fine(swing: SwingUp) -> tuple[Array, Array, Array]:
    """Times, states and torques closer together than the waypoints."""
    state, torque = interpolants(QUBE_SERVO_2, swing)
    times = np.linspace(swing.times[0], swing.times[-1], 5 * len(swing.times))
    return times, state(times), torque(times)


def _project(ahead: Array, aside: Array, up: Array) -> Array:
    """Places (k, 2) on the picture, without perspective."""
    azimuth, elevation = _VIEW
    right = aside * np.cos(azimuth) - ahead * np.sin(azimuth)
    depth = ahead * np.cos(azimuth) + aside * np.sin(azimuth)
    return np.stack([right, up * np.cos(elevation) - depth * np.sin(elevation)], axis=1)


def _outcome(success: Array) -> list[str]:
    return [_BACK if back else _LOST for back in success]


def _bundle(axes: Any, times: Array, values: Array, colours: list[str]) -> None:
    """One thin line for each column of values (k, m); lost ones above the others."""
    for column in sorted(range(len(colours)), key=lambda i: colours[i] == _LOST):
        axes.plot(times, values[:, column], color=colours[column], lw=0.5, alpha=0.5)
