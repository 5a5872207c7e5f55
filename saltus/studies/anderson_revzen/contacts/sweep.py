"""Both integrators over beds of several sizes, for ``ess-contacts``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybrid.event_selected.system import EssOptions
from hybrid.systems import Array
from saltus.studies.anderson_revzen.contacts.calibration import same_steps
from saltus.studies.anderson_revzen.contacts.measurement import (
    Bed,
    as_accurate,
    our_errors,
    prepared,
    timed,
)
from saltus.studies.anderson_revzen.contacts.spring_bed import SpringBed

LOOSE = 1e-6, 1e-8  # tolerances, relative and absolute, where they alone choose the steps

Step = Callable[[str], None]  # told of every step of the work


class Sweep(NamedTuple):
    """What was measured."""

    starts: Array  # (S, 6)
    beds: tuple[Bed, ...]
    epsilon: float | None  # with which no start is less accurate than in MuJoCo [m]
    ways: dict[str, EssOptions]  # of ours, by the beginning of their keys in a row
    times: Array  # (S, beds, ways + 1) [s]; MuJoCo's are the last

    @property
    def contacts(self) -> Array:
        """Springs of each bed (beds,)."""
        return np.array([bed.bed.springs for bed in self.beds])

    @property
    def medians(self) -> Array:
        """Median times over the starts (beds, ways + 1) [s]."""
        return np.median(self.times, axis=0)

    @property
    def ratios(self) -> dict[str, float]:
        """Marginal cost of a contact over MuJoCo's, by way: slopes of the medians."""
        slopes = np.polyfit(self.contacts, self.medians, 1)[0]
        return {way: float(slopes[i] / slopes[-1]) for i, way in enumerate(self.ways)}


def sweep(beds: Sequence[SpringBed], starts: Array, hopper_epsilon: float, step: Step) -> Sweep:
    """Find the precision that matches MuJoCo's on all beds, and take the times."""
    made = []
    for bed in beds:
        step(f"trajectories on {bed.springs} springs")
        made.append(prepared(bed, starts))
    step("precision on the plate")
    epsilon = as_accurate(made, starts, hopper_epsilon)
    as_mujoco = epsilon or hopper_epsilon
    ways = {
        "ours": same_steps(as_mujoco),
        "hopper_epsilon": same_steps(hopper_epsilon),
        "long_steps": EssOptions(*LOOSE, epsilon=as_mujoco),
    }
    timed(made, starts[0], ways)  # warms both up
    times = []
    for start in starts:
        step("run times")
        times.append(timed(made, start, ways))
    return Sweep(starts, tuple(made), epsilon, ways, np.array(times))


def steps_of(beds: int, starts: int) -> int:
    """How often ``sweep`` calls ``step``."""
    return beds + 1 + starts


def rows(found: Sweep) -> list[dict[str, Any]]:
    """A row for each bed: times [s], RMS errors [SI units], and the ratios of all beds."""
    made: list[dict[str, Any]] = []
    for bed, median in zip(found.beds, found.medians, strict=True):
        row: dict[str, Any] = {"contacts": bed.bed.springs, "mujoco_s": float(median[-1])}
        row["mujoco_rms"] = _whole(bed.mujoco_rms)
        for i, (way, options) in enumerate(found.ways.items()):
            errors = our_errors(bed, found.starts, options)
            row[f"{way}_s"], row[f"{way}_rms"] = float(median[i]), _whole(errors)
            row[f"{way}_worse"] = float(np.mean(~(errors <= bed.mujoco_rms)))
            key = "marginal_ratio" if way == "ours" else f"{way}_marginal_ratio"
            row[key] = found.ratios[way]
        row["epsilon"] = float(found.ways["ours"].epsilon)
        row["in_contact"] = bed.in_contact
        made.append(row)
    return made


def _whole(errors: Array) -> float | None:
    """RMS error over all starts; None where a run broke off."""
    value = float(np.sqrt(np.mean(errors**2)))
    return value if np.isfinite(value) else None
