"""Derivatives by central differences, a short flow to differentiate, and a law of derivatives."""

import numpy as np
from numpy.testing import assert_allclose

from robots.state import integrate


def slopes(function, x, step=1e-6):
    """Derivative of a function at x, an array or a number: (..., *x.shape)."""
    x = np.asarray(x, dtype=float)
    parts = step * np.eye(x.size).reshape(x.size, *x.shape)
    columns = [(function(x + part) - function(x - part)) / (2.0 * step) for part in parts]
    return np.stack(columns, axis=-1).reshape((*np.shape(columns[0]), *x.shape))


def moved(x, dx):
    """The state (37,) that differs from x by dx (36,)."""
    return np.concatenate(integrate(x[:19], x[19:], dx))


def error(found, expected):
    """Relative, by the norm."""
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def flow(dynamics, q, v, tau, contacts, t):
    """One midpoint step over a time of microseconds: error O(t^3)."""
    a, _ = dynamics.acceleration(q, v, tau, contacts)
    q_mid, v_mid = integrate(q, v, 0.5 * t * np.concatenate((v, a)))
    a_mid, _ = dynamics.acceleration(q_mid, v_mid, tau, contacts)
    return integrate(q, v, t * np.concatenate((v_mid, a_mid)))


def assert_joints_drift(linear, period):
    """Joints move by their velocities alone: the backward pass relies on it without a look."""
    assert linear.drift == (6, 18, 18, period)
    own = linear.A[:, 6:18] - period * linear.A[:, 24:]
    assert_allclose(own, np.tile(np.eye(36)[6:18], (len(own), 1, 1)), atol=1e-14)
    assert_allclose(linear.B[:, 6:18], period * linear.B[:, 24:], rtol=1e-14)
