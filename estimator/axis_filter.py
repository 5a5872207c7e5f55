"""The Kalman filter along one world axis: state [p, v, f_FR, f_FL, f_RR, f_RL] (6).

The 18-state filter has a linear model once the orientation is given, and every one of its noises
is isotropic. So its covariance has no cross terms between world axes, and the filter is exactly
three filters of six states: nine times cheaper, and better conditioned.
"""

from __future__ import annotations

from numba import njit

from robots.rotations import Array

POSITION, VELOCITY, FEET = 0, 1, 2
NO_STATE = -1


@njit(cache=True)
def predict(
    x: Array,
    covariance: Array,
    acceleration: float,
    dt: float,
    velocity_variance: float,
    position_variance: float,
) -> None:
    """Constant acceleration over `dt` [s], in place: x (6), covariance (6, 6).

    p+ = p + v dt + a dt^2/2, v+ = v + a dt; the acceleration's noise moves p and v together.
    velocity_variance [m2/s2] and position_variance [m2] are what this step adds.
    """
    x[POSITION] += dt * x[VELOCITY] + 0.5 * dt * dt * acceleration
    x[VELOCITY] += dt * acceleration
    covariance[POSITION] += dt * covariance[VELOCITY]
    covariance[:, POSITION] += dt * covariance[:, VELOCITY]
    covariance[POSITION, POSITION] += position_variance + 0.25 * dt * dt * velocity_variance
    covariance[POSITION, VELOCITY] += 0.5 * dt * velocity_variance
    covariance[VELOCITY, POSITION] += 0.5 * dt * velocity_variance
    covariance[VELOCITY, VELOCITY] += velocity_variance


@njit(cache=True)
def correct(
    x: Array, covariance: Array, plus: int, minus: int, measured: float, variance: float
) -> None:
    """Scalar update with h = x[plus] - x[minus] (`minus` may be NO_STATE), in place.

    Joseph's form P+ = (I - K H) P (I - K H)^T + K r K^T, then made exactly symmetric: it stays
    symmetric positive definite for ever, whatever the gain's rounding.
    """
    n = x.shape[0]
    g = covariance[:, plus].copy()
    innovation = measured - x[plus]
    if minus != NO_STATE:
        g -= covariance[:, minus]
        innovation += x[minus]
    s = g[plus] - (g[minus] if minus != NO_STATE else 0.0)
    gain = g / (s + variance)
    x += gain * innovation
    # (I - K H) P = P - K g^T, and that times H^T is g - K s.
    left = g - gain * s
    for i in range(n):
        for j in range(i + 1):
            covariance[i, j] += (
                variance * gain[i] * gain[j] - 0.5 * (gain[i] * g[j] + gain[j] * g[i])
            ) - 0.5 * (left[i] * gain[j] + left[j] * gain[i])
            covariance[j, i] = covariance[i, j]
