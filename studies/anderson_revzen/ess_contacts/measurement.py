"""Beds of springs for ``ess-contacts``: errors of both integrators, and their times by turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from hybrid.event_selected.integrator import integrate_batch
from hybrid.event_selected.system import EssOptions, EventSelectedSystem
from hybrid.systems import Array
from studies.anderson_revzen.ess_contacts.calibration import STEPS, integrated, rms, same_steps
from studies.anderson_revzen.ess_contacts.mujoco_models import (
    TIMESTEP,
    plate_model,
    simulate,
    trajectory,
)
from studies.anderson_revzen.ess_contacts.spring_bed import SpringBed, depths, spring_bed
from studies.anderson_revzen.ess_contacts.spring_hopper import DURATION

TIGHT = EssOptions(epsilon=1e-7, max_step=TIMESTEP, rtol=1e-11, atol=1e-11)  # of the reference
RUNS = 15  # that the share of collision detection is taken from
FINER = 0.8  # from one epsilon that is tried to the next
FINEST = 1e-6  # epsilon at which the search gives up [m]
LOOSE = 1e-6, 1e-8  # tolerances, relative and absolute, where they alone choose the steps

Step = Callable[[str], None]  # called with the name of every step of the work


class Bed(NamedTuple):
    """One bed as both have it, and what MuJoCo made of the starts."""

    bed: SpringBed
    system: EventSelectedSystem
    model: mujoco.MjModel
    data: mujoco.MjData
    true: Array  # (S, n, 6) the reference, at TIMES
    mujoco_rms: Array  # (S,)
    in_contact: float  # mean over starts, times and springs


def prepared(bed: SpringBed, starts: Array) -> Bed:
    """The bed as both have it, and both trajectories from the starts (S, 6)."""
    system, model = spring_bed(bed), plate_model(bed)
    true = np.stack([integrated(system, start, TIGHT) for start in starts])
    theirs = np.stack([trajectory(model, start, STEPS) for start in starts])
    errors = np.array([rms(*pair) for pair in zip(theirs, true, strict=True)])
    states = true[:, ::20].reshape(-1, 6)
    touching = float(np.mean([depths(bed, x) > 0.0 for x in states]))
    return Bed(bed, system, model, mujoco.MjData(model), true, errors, touching)


def our_errors(bed: Bed, starts: Array, options: EssOptions) -> Array:
    """RMS error (S,) of the event-selected integrator."""
    made = (integrated(bed.system, start, options) for start in starts)
    return np.array([rms(*pair) for pair in zip(made, bed.true, strict=True)])


def as_accurate(beds: Sequence[Bed], starts: Array, epsilon: float) -> float | None:
    """Largest epsilon, in steps down from the one given, with no start worse than MuJoCo's.

    None where even ``FINEST`` is worse on some start of some bed.
    """
    while epsilon >= FINEST:
        if not any(_is_worse(bed, starts, same_steps(epsilon)) for bed in reversed(beds)):
            return epsilon
        epsilon *= FINER
    return None


def _is_worse(bed: Bed, starts: Array, options: EssOptions) -> bool:
    for start, true, allowed in zip(starts, bed.true, bed.mujoco_rms, strict=True):
        if not rms(integrated(bed.system, start, options), true) <= allowed:
            return True
    return False


def timed(
    beds: Sequence[Bed], start: Array, settings: Mapping[str, EssOptions]
) -> list[list[float]]:
    """Processor time [s] from one start, by bed and then by settings and MuJoCo.

    One thread each; both leave the end of the run alone and record nothing on the way.
    """
    rows = []
    for bed in beds:
        row = []
        for options in settings.values():
            began = time.thread_time()
            integrate_batch(bed.system, start[None], DURATION, options, threads=1)
            row.append(time.thread_time() - began)
        began = time.thread_time()
        simulate(bed.model, bed.data, start, STEPS)
        rows.append([*row, time.thread_time() - began])
    return rows


def collision_share(bed: Bed, start: Array) -> float | None:
    """Collision detection's part of MuJoCo's steps; None where its stage timers are stopped.

    Those measure the clock on the wall, in which other programs take part: the median of a few.
    """
    timers, shares = mujoco.mjtTimer, []
    for _ in range(RUNS):
        simulate(bed.model, bed.data, start, STEPS)
        whole = bed.data.timer[timers.mjTIMER_STEP].duration
        if whole == 0.0:
            return None
        shares.append(bed.data.timer[timers.mjTIMER_POS_COLLISION].duration / whole)
    return float(np.median(shares))


class Sweep(NamedTuple):
    """What was measured."""

    starts: Array  # (S, 6)
    beds: tuple[Bed, ...]
    epsilon: float | None  # with which no start is less accurate than in MuJoCo [m]
    settings: dict[str, EssOptions]  # of ours, by the beginning of their keys in a row
    times: Array  # (S, beds, settings + 1) [s]; MuJoCo's are the last

    @property
    def contacts(self) -> Array:
        """Springs of each bed (beds,)."""
        return np.array([bed.bed.springs for bed in self.beds])

    @property
    def medians(self) -> Array:
        """Median times over the starts (beds, settings + 1) [s]."""
        return np.median(self.times, axis=0)

    @property
    def ratios(self) -> dict[str, float]:
        """Marginal cost of a contact over MuJoCo's, by settings: slopes of the medians."""
        slopes = np.polyfit(self.contacts, self.medians, 1)[0]
        return {name: float(slopes[i] / slopes[-1]) for i, name in enumerate(self.settings)}


def sweep(beds: Sequence[SpringBed], starts: Array, hopper_epsilon: float, step: Step) -> Sweep:
    """Find the precision that matches MuJoCo's on all beds, and take the times."""
    made = []
    for bed in beds:
        step(f"trajectories on {bed.springs} springs")
        made.append(prepared(bed, starts))
    step("precision on the plate")
    epsilon = as_accurate(made, starts, hopper_epsilon)
    as_mujoco = epsilon or hopper_epsilon
    settings = {
        "ours": same_steps(as_mujoco),
        "hopper_epsilon": same_steps(hopper_epsilon),
        "long_steps": EssOptions(*LOOSE, epsilon=as_mujoco),
    }
    timed(made, starts[0], settings)  # warms both up
    times = []
    for start in starts:
        step("run times")
        times.append(timed(made, start, settings))
    return Sweep(starts, tuple(made), epsilon, settings, np.array(times))


def steps_of(beds: int, starts: int) -> int:
    """How often ``sweep`` calls ``step``."""
    return beds + 1 + starts


def rows(measured: Sweep) -> list[dict[str, Any]]:
    """A row for each bed: times [s], RMS errors [SI units], and the ratios of all beds."""
    made: list[dict[str, Any]] = []
    for bed, median in zip(measured.beds, measured.medians, strict=True):
        row: dict[str, Any] = {"contacts": bed.bed.springs, "mujoco_s": float(median[-1])}
        row["mujoco_rms"] = _rms_over_starts(bed.mujoco_rms)
        for i, (name, options) in enumerate(measured.settings.items()):
            errors = our_errors(bed, measured.starts, options)
            row[f"{name}_s"], row[f"{name}_rms"] = float(median[i]), _rms_over_starts(errors)
            row[f"{name}_worse"] = float(np.mean(~(errors <= bed.mujoco_rms)))
            key = "marginal_ratio" if name == "ours" else f"{name}_marginal_ratio"
            row[key] = measured.ratios[name]
        row["epsilon"] = float(measured.settings["ours"].epsilon)
        row["in_contact"] = bed.in_contact
        made.append(row)
    return made


def _rms_over_starts(errors: Array) -> float | None:
    """RMS error over all starts; None where a run broke off."""
    value = float(np.sqrt(np.mean(errors**2)))
    return value if np.isfinite(value) else None
