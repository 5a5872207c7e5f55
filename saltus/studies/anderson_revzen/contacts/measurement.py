"""Beds of springs for ``ess-contacts``: errors of both integrators, and their times by turns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from hybrid.event_selected.integrator import integrate_batch
from hybrid.event_selected.system import EssOptions, EventSelectedSystem
from hybrid.systems import Array
from saltus.studies.anderson_revzen.contacts.calibration import STEPS, integrated, rms, same_steps
from saltus.studies.anderson_revzen.contacts.mujoco_models import (
    TIMESTEP,
    plate_model,
    simulate,
    trajectory,
)
from saltus.studies.anderson_revzen.contacts.spring_bed import SpringBed, depths, spring_bed
from saltus.studies.anderson_revzen.contacts.spring_hopper import DURATION

TIGHT = EssOptions(epsilon=1e-7, max_step=TIMESTEP, rtol=1e-11, atol=1e-11)  # of the reference
RUNS = 15  # that the share of collision detection is taken from
FINER = 0.8  # from one epsilon that is tried to the next
FINEST = 1e-6  # epsilon at which the search gives up [m]


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
    seen = true[:, ::20].reshape(-1, 6)
    touching = float(np.mean([depths(bed, x) > 0.0 for x in seen]))
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


def timed(beds: Sequence[Bed], start: Array, ways: Mapping[str, EssOptions]) -> list[list[float]]:
    """Processor time [s] from one start, by bed and then by way and MuJoCo.

    One thread each; both leave the end of the run alone and record nothing on the way.
    """
    rows = []
    for bed in beds:
        row = []
        for options in ways.values():
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
