"""How a touchdown maps errors when both the guard and a force sensor say when it happened.

By the guard, an error of the state or of the ground's height moves the time of the event: the
saltation matrix Xi has that in it, and the ground's share is a noise beside it (thesis 7.2). By the
sensor, the time is what it is whatever the state: errors go through D_x R, and the sensor's delay
is the noise. The two times are fused as two measurements of one number,

    kappa = s^2 / (s^2 + (h / n)^2),    Xi_kappa = D_x R + kappa (Xi - D_x R)

with s the sensor's deviation [s], h the ground's [m] and n the foot's normal velocity [m/s]. What
is left of the uncertainty of the time, sqrt(kappa) h / n, moves the state along F+ - D_x R F-. On
ground known exactly this is Xi, with a perfect sensor it is D_x R.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.rotations import Array
from robots.stance_touchdown import Landing


class TimedReset(NamedTuple):
    """First-order map of a touchdown, and the noise of its time."""

    jacobian: Array
    """(36, 36) Xi_kappa."""
    noise: Array
    """(36) deviation of the state along F+ - D_x R F-."""
    kappa: float
    """Share of the guard in what is known of the time, 0 to 1."""


@njit(cache=True)
def timed_reset(hit: Landing, terrain: float, delay: float) -> TimedReset:
    """Fuse the guard's time with that of a sensor.

    Args:
        hit: the touchdown, a transverse one.
        terrain: deviation of the ground's height [m].
        delay: deviation of the sensor's time [s]; infinite where there is no sensor.
    """
    by_guard = (terrain / hit.normal_velocity) ** 2  # [s2]
    kappa = 1.0 if np.isinf(delay) else delay**2 / (delay**2 + by_guard)
    jacobian = hit.reset_jacobian + kappa * (hit.saltation - hit.reset_jacobian)
    return TimedReset(jacobian, np.sqrt(kappa) * terrain * hit.guard_shift, kappa)
