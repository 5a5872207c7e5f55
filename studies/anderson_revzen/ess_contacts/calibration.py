"""The precision epsilon' at which the hopper is integrated as accurately as MuJoCo does (5.1).

Both have steps of 2 ms. Ours ends a step in the neighbourhood of a guard, and where in it depends
on where the steps before happen to fall: over epsilon, the error of one fall is a staircase. So
the search takes the error over falls from many heights, those of the plate in 5.2, where the paper
takes the one from 2 m.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid.event_selected.integrator import integrate
from hybrid.event_selected.system import EssOptions, EventSelectedSystem
from hybrid.systems import Array
from studies.anderson_revzen.ess_contacts.mujoco_models import TIMESTEP, hopper_model, trajectory
from studies.anderson_revzen.ess_contacts.spring_bed import HEIGHTS
from studies.anderson_revzen.ess_contacts.spring_hopper import (
    DURATION,
    START,
    SpringHopper,
    exact,
    spring_hopper,
)

STEPS = round(DURATION / TIMESTEP)
TIMES: Array = TIMESTEP * np.arange(STEPS + 1, dtype=np.float64)  # [s]
EPSILONS = (1e-4, 0.1)  # that the search is between [m]
FALLS = 41
_CLOSE = 0.01  # the search ends where its ends differ by this part


class Calibration(NamedTuple):
    """Table 5.1's epsilon', the errors of all falls at it, and figure 5.1's fall."""

    epsilon: float  # [m]
    ours_rms: float
    mujoco_rms: float
    exact: Array  # (n, 2) at TIMES, from START
    ours: Array  # (n, 2)
    mujoco: Array  # (n, 2)


def rms(states: Array, true: Array) -> float:
    """Root mean square over times and states; lengths, angles and rates alike, in SI units."""
    return float(np.sqrt(np.mean((states - true) ** 2)))


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


def calibrate(falls: int = FALLS, hopper: SpringHopper | None = None) -> Calibration:
    """Bisection for the largest epsilon at which ours is not less accurate.

    Raises:
        ValueError: it is less, or not less, accurate at both ends of EPSILONS.
    """
    hopper = hopper or SpringHopper()
    system, model = spring_hopper(hopper), hopper_model(hopper)
    starts = np.stack([np.linspace(*HEIGHTS, falls), np.zeros(falls)], axis=1)
    true = np.stack([exact(hopper, start, TIMES) for start in starts])

    def error(epsilon: float) -> float:
        options = same_steps(epsilon)
        return rms(np.stack([integrated(system, start, options) for start in starts]), true)

    allowed = rms(np.stack([trajectory(model, start, STEPS) for start in starts]), true)
    low, high = EPSILONS
    if not error(low) <= allowed < error(high):
        raise ValueError(
            f"no epsilon in {EPSILONS} m has MuJoCo's error, {allowed:.2g}, on {hopper}: give"
            " a hopper that lands within the duration, and compresses its spring by more"
        )
    while math.log(high / low) > _CLOSE:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if error(middle) <= allowed else (low, middle)
    start = np.array(START)
    drawn = exact(hopper, start, TIMES), integrated(system, start, same_steps(low))
    return Calibration(low, error(low), allowed, *drawn, trajectory(model, start, STEPS))
