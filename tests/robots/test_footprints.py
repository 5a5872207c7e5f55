"""The plane of the ground through footprints."""

import numpy as np
from pytest import approx

from robots.footprints import ROUGHNESS, STEEPNESS, height_on, plane_of

FEET = np.array([[0.18, -0.13, 0.0], [0.18, 0.13, 0.0], [-0.18, -0.13, 0.0], [-0.18, 0.13, 0.0]])


def on_plane(a, b, at):
    feet = FEET + at
    feet[:, 2] += a * feet[:, 0] + b * feet[:, 1]
    return feet


def test_it_is_the_plane_of_regularised_least_squares():
    feet = on_plane(0.2, -0.1, np.array([3.0, -2.0, 0.5]))
    feet[:, 2] += [0.01, -0.02, 0.005, 0.0]
    feet[0, :2] += 0.1
    plane = plane_of(feet)
    offsets = feet - feet.mean(axis=0)
    rows = np.vstack([offsets[:, :2] / ROUGHNESS, np.eye(2) / STEEPNESS])
    right = np.concatenate([offsets[:, 2] / ROUGHNESS, np.zeros(2)])
    slope = np.linalg.lstsq(rows, right, rcond=None)[0]
    assert plane.slope == approx(slope, abs=1e-12)
    assert plane.covariance == approx(np.linalg.inv(rows.T @ rows), rel=1e-9)
    assert plane.centre == approx(feet.mean(axis=0))
    assert plane.variance == approx(ROUGHNESS**2 / 4)
    away = np.array([0.5, -0.4])
    variance = plane.variance + away @ plane.covariance @ away + ROUGHNESS**2
    assert height_on(plane, *(plane.centre[:2] + away))[1] == approx(variance)
