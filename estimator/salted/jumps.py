"""Pushes that change the base velocity between two samples of the accelerometer.

No inertial sensor sees one; the feet that stand all contradict the velocity by the same vector.
For a while they slip before they hold, those with little load the longest.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.salted.layout import VELOCITY
from estimator.salted.memory import AGE, Memory
from estimator.salted.options import SaltedOptions
from estimator.velocity_jump import feet_agree_on_jump
from robots.rotations import Array, rotation_from_quaternion

UP = 2
SMALLEST_JUMP = 1e-6
"""Below this the feet tell no direction [m/s]."""
HOLDING = 0.3
"""Trust from which a foot can be the one that follows the jump best."""
LEAST_SHARE = 0.02


@njit(cache=True)
def watch_for_jump(
    m: Memory, residuals: Array, trust: Array, dt: float, parameters: SaltedOptions
) -> bool:
    """Free the horizontal velocity while a jump is under way; True meanwhile.

    residuals (4, 3): base velocity by each foot's own sensors less the state's, world axes [m/s];
    trust (4).
    The freedom is given before the tick is predicted: the velocity of the tick before has it too,
    so the accelerometer, which did not see the jump, does not deny it.
    """
    R = rotation_from_quaternion(m.q[3:7])
    block = m.P[VELOCITY : VELOCITY + 3, VELOCITY : VELOCITY + 3]
    variance = max(block[0, 0], block[1, 1], block[2, 2])
    agree = feet_agree_on_jump(residuals, trust, variance, parameters)
    if agree:  # also along the ground: at a take-off all feet spring back
        level = residuals.copy()
        level[:, UP] = 0.0
        agree = feet_agree_on_jump(level, trust, variance, parameters)
    evidence, window = m.jump[0] + dt if agree else 0.0, m.jump[1] - dt
    # Half a step of slack: rounding of time stamps must not decide on which tick it opens.
    if evidence >= parameters.jump_persistence - 0.5 * dt:
        window = parameters.jump_window
    in_the_air = m.contact[AGE].max() < 0.0
    m.jump[0], m.jump[1] = evidence, window if window > 0.5 * dt and not in_the_air else 0.0
    if m.jump[1] == 0.0:
        return False
    if agree:
        m.jump[2:] = _direction(residuals, trust)
    along = m.jump[2:] @ R
    across = np.eye(3) - np.outer(R[2], R[2])
    sideways = parameters.jump_sideways**2
    block += (
        parameters.jump_noise**2 * dt
        * ((1.0 - sideways) * np.outer(along, along) + sideways * across)
    )  # fmt: skip
    return True


@njit(cache=True)
def _direction(residuals: Array, trust: Array) -> Array:
    """Horizontal unit vector (3) of the feet's mean residual, world axes; zero without one."""
    mean = np.zeros(3)
    for i in range(4):
        mean[:2] += trust[i] * residuals[i, :2]
    size = np.sqrt((mean * mean).sum())
    return mean / size if size > SMALLEST_JUMP else mean


@njit(cache=True)
def followers(residuals: Array, trust: Array, parameters: SaltedOptions) -> Array:
    """What a jump leaves of each foot's trust (4): less the further it lags behind, slipping."""
    share, mean = np.ones(4), np.zeros(3)
    for i in range(4):
        mean += trust[i] * residuals[i]
    size = np.sqrt((mean * mean).sum())
    if size < SMALLEST_JUMP:
        return share
    along = residuals @ (mean / size)
    top = -np.inf
    for i in range(4):
        if trust[i] > HOLDING and along[i] > top:
            top = along[i]
    for i in range(4):
        lag = max(0.0, top - along[i]) / parameters.jump_selection
        share[i] = max(LEAST_SHARE, np.exp(-lag * lag))
    return share
