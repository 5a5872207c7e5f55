"""Cost of a contact: a plate on up to 100 springs, event-selected and in MuJoCo.

Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". Their integrator, in
NumPy, has MuJoCo's marginal cost of a contact (slope of the median time over the number of
contacts); ours is compiled, as MuJoCo is. Ours is written for this model; MuJoCo takes any model,
detects the contacts, and solves for all contact forces together. It computes forces while tips
touch, the share in_contact; ours evaluates every tip at every step, and each crossing.

Keys named ours are at the largest epsilon at which each start on each bed is as accurate as MuJoCo,
hopper_epsilon at the epsilon' at which the hopper is: table 5.1 has 0.13 m, for a stiffness that is
not printed. Springs closer than epsilon' give one projection after the other, which is Euler's
method with their distance as step. long_steps are as long as the tolerances and the guards allow.
The springs of a bed have the hopper's stiffness in total, no dampers, and push along the plate's
normal, as contacts in MuJoCo do. stiff_ratios are marginal costs over MuJoCo's where every spring
is as stiff as on the bed of two: the plate then leaves a larger bed sooner.

Times are processor times of one thread; only the final state is stored. The shaded areas of figure
5.2 hold the middle half of the starts. The paper's h_1 of the hopper decreases at the landing and
is zero at the start height; this study uses L0 - z.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from timeit import timeit
from typing import Any, NamedTuple

import mujoco
import numpy as np
from matplotlib.figure import Figure

from saltation.event_selected.integrator import integrate, integrate_batch
from saltation.event_selected.system import EssOptions, EventSelectedSystem
from saltation.systems import Array
from sim_bridge.compiled_step import stop_stage_timers
from studies.anderson_revzen.systems.spring_bed import (
    HEIGHTS,
    INERTIA,
    TIP_RADIUS,
    SpringBed,
    depths,
    random_starts,
    spring_bed,
)
from studies.anderson_revzen.systems.spring_hopper import (
    DURATION,
    GRAVITY,
    LENGTH,
    MASS,
    START,
    exact,
    spring_hopper,
)
from studies.figures import Band, Panel, Styled, draw, over
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

TIMESTEP = 0.002  # MuJoCo's own, and 5.1's [s]
IMPEDANCE = 1e-4  # d, the smallest that MuJoCo takes
ADDED_MASS = 1e-7  # of all contacts together, over the body's own mass
_PLATE = "3 1 1"  # half sizes of the plate [m]: long enough for any tilt, and never sunk through


def plate_model(bed: SpringBed) -> mujoco.MjModel:
    """The plate on its bed: coordinates x, z, theta as in ``SpringBed``."""
    return _model(bed, (
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        '<joint type="hinge" axis="0 -1 0"/>'
    ))  # fmt: skip


def simulate(model: mujoco.MjModel, data: mujoco.MjData, start: Array, steps: int) -> None:
    """Step from ``start`` (2 nv,), positions and velocities, in one call of MuJoCo."""
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = start[: model.nv], start[model.nv :]
    if steps:
        mujoco.mj_step(model, data, nstep=steps)


def trajectory(model: mujoco.MjModel, start: Array) -> Array:
    """States (n, 2 nv) at TIMES, positions and velocities."""
    data, states = mujoco.MjData(model), [start]
    simulate(model, data, start, 0)
    for _ in TIMES[1:]:
        mujoco.mj_step(model, data)
        states.append(np.concatenate((data.qpos, data.qvel)))
    return np.array(states)


def _model(bed: SpringBed, joints: str) -> mujoco.MjModel:
    height, filtered = LENGTH - TIP_RADIUS, 'contype="0" conaffinity="0"'
    tips = "\n".join(
        f'<geom name="tip{i}" size="{TIP_RADIUS}" pos="{x!r} 0 {height!r}" {filtered}/>'
        for i, x in enumerate(bed.positions.tolist())
    )
    pairs = "\n".join(
        f'<pair geom1="tip{i}" geom2="plate" condim="1" solref="-1 0"'
        f' solimp="{IMPEDANCE} {IMPEDANCE} 1"/>'
        for i in range(bed.springs)
    )
    model = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="{TIMESTEP}" gravity="0 0 {-GRAVITY}"/>
  <worldbody>
    {tips}
    <body>
      <inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
      {joints}
      <geom name="plate" type="box" size="{_PLATE}" pos="0 0 1" {filtered}/>
    </body>
  </worldbody>
  <contact>{pairs}</contact>
</mujoco>""")
    added = ADDED_MASS * MASS / bed.springs  # by one contact
    w = IMPEDANCE / ((1.0 - IMPEDANCE) * added)
    model.body_invweight0[1:] = w
    model.pair_solref[:, 0] = -(1.0 - IMPEDANCE) * w * bed.spring_stiffness
    return model


STEPS = round(DURATION / TIMESTEP)
TIMES: Array = TIMESTEP * np.arange(STEPS + 1, dtype=np.float64)  # [s]
EPSILONS = (1e-4, 0.1)  # that the search is between [m]
FALLS = 41
_CLOSE = 0.01  # the search ends where its ends differ by this part


def rms(states: Array, true: Array) -> float:
    """Root mean square over times and states; lengths, angles and rates alike, in SI units."""
    return np.sqrt(np.mean((states - true) ** 2))


def same_steps(epsilon: float) -> EssOptions:
    """Integration in steps of at most MuJoCo's, as in 5.1."""
    return EssOptions(epsilon=epsilon, max_step=TIMESTEP)


def integrated(system: EventSelectedSystem, start: Array, options: EssOptions) -> Array:
    """States (n, ...) at TIMES; NaN where the integration broke off."""
    run = integrate(system, start, DURATION, options)
    states = np.full((len(TIMES), system.state_dim), np.nan)
    reached = TIMES <= run.final_time
    states[reached] = run.at(TIMES[reached])
    return states


def calibrate(falls: int = FALLS) -> tuple[float, float, float, dict[str, Array]]:
    """Bisection for the largest epsilon at which ours is not less accurate.

    The hopper in MuJoCo is a plate that only slides up and down, on one spring.

    Returns:
        Table 5.1's epsilon' [m], the RMS errors of ours and of MuJoCo over all falls at it, and the
        states (n, 2) at TIMES of figure 5.1's fall, the exact ones first.

    Raises:
        ValueError: it is less, or not less, accurate at both ends of EPSILONS.
    """
    system, model = spring_hopper(), _model(SpringBed(1), '<joint type="slide" axis="0 0 1"/>')
    starts = np.stack([np.linspace(*HEIGHTS, falls), np.zeros(falls)], axis=1)
    true = np.stack([exact(start, TIMES) for start in starts])

    def error(epsilon: float) -> float:
        options = same_steps(epsilon)
        return rms(np.stack([integrated(system, start, options) for start in starts]), true)

    allowed = rms(np.stack([trajectory(model, start) for start in starts]), true)
    low, high = EPSILONS
    if not error(low) <= allowed < error(high):
        raise ValueError(f"no epsilon in {EPSILONS} m has MuJoCo's error on the hopper")
    while math.log(high / low) > _CLOSE:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if error(middle) <= allowed else (low, middle)
    start = np.array(START)
    return low, error(low), allowed, {
        "exact": exact(start, TIMES),
        "MuJoCo": trajectory(model, start),
        "event-selected": integrated(system, start, same_steps(low))
    }  # fmt: skip


TIGHT = EssOptions(epsilon=1e-7, max_step=TIMESTEP, rtol=1e-11, atol=1e-11)  # of the reference
FINER = 0.8  # from one epsilon that is tried to the next
FINEST = 1e-6  # epsilon at which the search gives up [m]
LOOSE = 1e-6, 1e-8  # tolerances, relative and absolute, where they alone choose the steps


class Bed(NamedTuple):
    """One bed as both have it, and what MuJoCo made of the starts."""

    bed: SpringBed
    system: EventSelectedSystem
    model: mujoco.MjModel
    data: mujoco.MjData
    true: Array  # (S, n, 6) the reference, at TIMES
    mujoco_rms: Array  # (S,)
    in_contact: Any  # mean over starts, times and springs


def prepared(bed: SpringBed, starts: Array) -> Bed:
    """The bed as both have it, and both trajectories from the starts (S, 6)."""
    system, model = spring_bed(bed), plate_model(bed)
    true = np.stack([integrated(system, start, TIGHT) for start in starts])
    errors = np.array([rms(trajectory(model, start), states)
                       for start, states in zip(starts, true, strict=True)])  # fmt: skip
    touching = np.mean([depths(bed, x) > 0.0 for x in true[:, ::20].reshape(-1, 6)])
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
        options = same_steps(epsilon)
        if all(np.all(our_errors(bed, starts, options) <= bed.mujoco_rms) for bed in beds[::-1]):
            return epsilon
        epsilon *= FINER
    return None


def timed(
    beds: Sequence[Bed], start: Array, settings: Mapping[str, EssOptions]
) -> list[list[float]]:
    """Processor time [s] from one start, by bed and then by settings and MuJoCo.

    One thread each; both leave the end of the run alone and record nothing on the way.
    """
    rows = []
    for bed in beds:
        runs: list[Any] = [
            partial(integrate_batch, bed.system, start[None], DURATION, options, threads=1)
            for options in settings.values()
        ]
        runs.append(partial(simulate, bed.model, bed.data, start, STEPS))
        rows.append([timeit(run, number=1, timer=time.thread_time) for run in runs])
    return rows


class Sweep(NamedTuple):
    """Measurements: times of ours by the beginning of their keys in a row, then MuJoCo's."""

    epsilon: float | None  # with which no start is less accurate than in MuJoCo [m]
    times: dict[str, Array]  # (S, beds) [s]
    ratios: dict[str, float]  # marginal cost of a contact over MuJoCo's: slopes of the medians
    rows: list[Row]  # of each bed: times [s], RMS errors [SI units], and the ratios of all beds


def sweep(
    beds: Sequence[SpringBed], starts: Array, hopper_epsilon: float, options: StudyOptions
) -> Sweep:
    """Find the precision that matches MuJoCo's on all beds, and take the times.

    An error is None where a run broke off.
    """
    tracked = options.track(beds, "trajectories")
    made = [prepared(bed, starts) for bed in tracked]
    epsilon = as_accurate(made, starts, hopper_epsilon)
    as_mujoco = epsilon or hopper_epsilon
    settings = {
        "ours": same_steps(as_mujoco),
        "hopper_epsilon": same_steps(hopper_epsilon),
        "long_steps": EssOptions(*LOOSE, epsilon=as_mujoco),
    }
    timed(made, starts[0], settings)  # warms both up
    times = np.array([timed(made, start, settings)
                      for start in options.track(starts, "run times")])  # fmt: skip
    medians = np.median(times, axis=0)
    *slopes, theirs = np.polyfit([bed.springs for bed in beds], medians, 1)[0]
    ratios = {name: slope / theirs for name, slope in zip(settings, slopes, strict=True)}
    rows: list[Row] = []
    for bed, median in zip(made, medians, strict=True):
        row: Row = {"contacts": bed.bed.springs, "mujoco_s": median[-1],
                    "mujoco_rms": _together(bed.mujoco_rms)}  # fmt: skip
        for i, (name, own) in enumerate(settings.items()):
            errors = our_errors(bed, starts, own)
            row[f"{name}_s"], row[f"{name}_rms"] = median[i], _together(errors)
            row[f"{name}_worse"] = np.mean(~(errors <= bed.mujoco_rms))
            row["marginal_ratio" if name == "ours" else f"{name}_marginal_ratio"] = ratios[name]
        rows.append(row | {"epsilon": as_mujoco, "in_contact": bed.in_contact})
    by_name = dict(zip((*settings, "mujoco"), np.moveaxis(times, 2, 0), strict=True))
    return Sweep(epsilon, by_name, ratios, rows)


def _together(errors: Array) -> float | None:
    return np.sqrt(np.mean(errors**2))


ALLOWED_RATIO = 0.5  # of the marginal costs
TRIALS = 120  # random starts, 5.2
CONTACTS = (2, 10, 25, 50, 75, 100)
STIFF_PART = 4  # of the starts, one in so many is tried on the beds that stiffen too


@study("Anderson and Revzen, table 5.1", "trials", "seed")
def run(options: StudyOptions, contacts: Sequence[int] = CONTACTS) -> StudyResult:
    """Rows ``contacts, ours_s, mujoco_s, ours_rms, mujoco_rms, marginal_ratio`` and more.

    The rows are of beds that are equally stiff; beds of equally stiff springs are measured beside.
    """
    starts = random_starts(options.count(TRIALS), np.random.default_rng(options.seed))
    beds = [SpringBed(count) for count in contacts]
    each = SpringBed(2).spring_stiffness
    stiffer = [SpringBed(count, stiffness=count * each) for count in contacts]
    hopper_epsilon, hopper_rms, hopper_mujoco, falls = calibrate()
    stop_stage_timers()
    measured = sweep(beds, starts, hopper_epsilon, options)
    stiff = sweep(stiffer, starts[::STIFF_PART], hopper_epsilon, options)
    beside = {
        "hopper_epsilon_m": hopper_epsilon,
        "hopper_rms": hopper_rms,
        "hopper_mujoco_rms": hopper_mujoco,
        "stiff_epsilon_m": stiff.epsilon,
        "stiff_ratios": stiff.ratios,
        "stiff_in_contact": [row["in_contact"] for row in stiff.rows],
    }
    made = [row | beside for row in measured.rows]
    figures = {"figure-5.1": figure_5_1(falls), "figure-5.2": figure_5_2(measured)}
    ratio = None if measured.epsilon is None else measured.ratios["ours"]
    criteria = [
        Criterion("largest epsilon with every start as accurate [m]", measured.epsilon, ">", 0.0),
        Criterion("marginal cost of a contact over MuJoCo's", ratio, "<=", ALLOWED_RATIO),
    ]
    columns = (
        "contacts, ours_s, mujoco_s, ours_rms, mujoco_rms, hopper_epsilon_s, hopper_epsilon_rms,"
        " long_steps_s, marginal_ratio, in_contact"
    )
    return StudyResult(made, figures, columns, criteria)


def figure_5_1(found: dict[str, Array]) -> Figure:
    """The hopper from 2 m, and what both are off by."""
    panels = []
    for label, off in (("{}", 0.0), ("error of {}", found["exact"])):
        for column, what in enumerate(("height [m]", "velocity [m/s]")):
            curves = {name: over(TIMES, (states - off)[:, column])
                      for name, states in found.items()}  # fmt: skip
            panels.append(Panel(curves, "time [s]", label.format(what)))
    return draw(*panels, columns=2)


def figure_5_2(measured: Sweep) -> Figure:
    """Median and quartiles of the run times over contacts, and errors beside them."""
    contacts, times, errors = [row["contacts"] for row in measured.rows], {}, {}
    for name, taken in measured.times.items():
        times[name] = Styled(Band(contacts, 1e3 * taken), {"marker": "o"})
        rms_of = [row[f"{name}_rms"] for row in measured.rows]
        errors[name] = over(contacts, rms_of, marker="o")
    return draw(
        Panel(times, "contacts", "processor time of 2 s [ms]"),
        Panel(errors, "contacts", "RMS error [SI units]", settings={"yscale": "log"}),
    )
