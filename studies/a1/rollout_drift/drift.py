"""How far one backend's rollouts are from another's, and whether a line search would notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.systems import Array
from robots.state import difference_batch
from sim_bridge.rollouts.batch import RolloutBatch
from studies.a1.rollout_drift.motions import Case
from studies.figures import figure

QUANTILES = (50, 99)  # [%], over candidates
FAR_OFF = 1e-4  # relative error of the cost, well above what rounding alone comes to
_ROWS = (("position", "base position [m]"), ("joints", "farthest joint [rad]"))
_COLOURS = ("tab:gray", "tab:blue", "tab:red")  # the yardstick first
_FLOOR = 1e-10  # smaller errors are drawn here


class Drift(NamedTuple):
    """One line search by a backend beside MuJoCo's; C' candidates that are finite in both."""

    position: Array  # of the base (C', N+1) [m]
    joints: Array  # farthest joint (C', N+1) [rad]
    velocity: Array  # of the base (C', N+1) [m/s]
    force: Array  # largest error of a foot's normal force (C', N) [N]
    cost: Array  # |J - J_cpu| / J_cpu (C')
    same_finite: bool  # the same candidates diverged
    same_choice: bool
    lost: float  # (J_cpu of its choice - best J_cpu) / best J_cpu


def compare(case: Case, rolled: RolloutBatch, expected: RolloutBatch) -> Drift:
    """Distances of `found` from `expected`, and what the line search takes."""
    both = rolled.finite & expected.finite
    dx = _differences(expected.states[both], rolled.states[both])
    force = np.abs(rolled.normal_forces - expected.normal_forces)[both].max(axis=2)
    ours, theirs = case.costs(expected), case.costs(rolled)
    best, choice = int(ours.argmin()), int(theirs.argmin())
    return Drift(
        np.linalg.norm(dx[..., :3], axis=2),
        np.abs(dx[..., 6:18]).max(axis=2),
        np.linalg.norm(dx[..., 18:21], axis=2),
        force,
        np.abs(theirs - ours)[both] / ours[both],
        bool((rolled.finite == expected.finite).all()),
        choice == best,
        float((ours[choice] - ours[best]) / ours[best]),
    )


def _differences(reference: Array, states: Array) -> Array:
    """x (-) x_ref of states (C, N+1, 37): (C, N+1, 36)."""
    flat, flat_reference = states.reshape(-1, 37), reference.reshape(-1, 37)
    dx = difference_batch(
        flat_reference[:, :19], flat_reference[:, 19:], flat[:, :19], flat[:, 19:]
    )
    return dx.reshape(*states.shape[:2], 36)


def drift_row(motion: str, backend: str, device: str, drifts: Sequence[Drift]) -> dict[str, Any]:
    """One row of the table: errors at the horizon's end, the force's and cost's over all of it."""
    values: dict[str, Any] = {
        "motion": motion, "backend": backend, "device": device, "searches": len(drifts),
        "candidates": sum(len(drift.cost) for drift in drifts),
    }  # fmt: skip
    quantities = (
        ("position_m", "position"), ("joints_rad", "joints"), ("velocity_m_s", "velocity"),
    )  # fmt: skip
    for key, field in quantities:
        values |= _quantiles(key, np.concatenate([getattr(d, field)[:, -1] for d in drifts]))
    values |= _quantiles("force_N", np.concatenate([drift.force.ravel() for drift in drifts]))
    cost = np.concatenate([drift.cost for drift in drifts])
    values |= _quantiles("cost_relative", cost)
    lost = [drift.lost for drift in drifts]
    return values | {
        "far_off": int((cost > FAR_OFF).sum()),
        "same_finite": all(drift.same_finite for drift in drifts),
        "same_choice": float(np.mean([drift.same_choice for drift in drifts])),
        "cost_lost_mean": float(np.mean(lost)),
        "cost_lost_worst": float(max(lost)),
    }


def _quantiles(key: str, values: Array) -> dict[str, float]:
    quantiles = {f"{key}_p{q}": float(np.percentile(values, q)) for q in QUANTILES}
    return quantiles | {f"{key}_worst": float(values.max())}


def draw(times: Array, drifts: Mapping[tuple[str, str, str], Sequence[Drift]]) -> Figure:
    """Median (solid) and 99 % (dashed) over candidates, by (motion, backend, device).

    `times` (N+1,) [s] of the knots.
    """
    motions = list(dict.fromkeys(motion for motion, _, _ in drifts))
    backends = list(dict.fromkeys((name, device) for _, name, device in drifts))
    drawing, axes = figure(
        columns=len(motions), rows=len(_ROWS), width=2.5 * len(motions), height=4.6,
        sharex=True, sharey="row", squeeze=False,
    )  # fmt: skip
    for (motion, name, device), rolled in drifts.items():
        colour = _COLOURS[backends.index((name, device)) % len(_COLOURS)]
        column = motions.index(motion)
        for panel, (field, _) in zip(axes[:, column], _ROWS, strict=True):
            errors = np.concatenate([getattr(drift, field) for drift in rolled])
            for q, line in ((50, "-"), (99, "--")):
                shown = np.maximum(np.percentile(errors, q, axis=0), _FLOOR)
                panel.semilogy(times, shown, line, color=colour, linewidth=1.2)
    for column, motion in enumerate(motions):
        axes[0, column].set_title(motion)
        axes[-1, column].set_xlabel("time [s]")
    for panel, (_, label) in zip(axes[:, 0], _ROWS, strict=True):
        panel.set_ylabel(label)
    for (name, device), colour in zip(backends, _COLOURS, strict=False):
        axes[0, 0].plot([], [], color=colour, label=f"{name} ({device})")
    axes[0, 0].plot([], [], "k-", linewidth=1.2, label="median")
    axes[0, 0].plot([], [], "k--", linewidth=1.2, label="99 %")
    drawing.legend(loc="outside lower center", ncols=len(backends) + 2, frameon=False, fontsize=8)
    return drawing
