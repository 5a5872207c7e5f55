"""Metrics of a run from messages whose errors are known in closed form."""

import math

import numpy as np
import pytest
from pytest import approx

from saltus.metrics.run import RunMetrics, has_fallen, squared_errors
from tests import a1
from tests.a1 import ground_truth


def quaternion(axis, angle):
    q = np.zeros(4)
    q[axis], q[3] = math.sin(0.5 * angle), math.cos(0.5 * angle)
    return q


def configuration(x=0.0, y=0.0, axis=0, angle=0.0):
    return np.concatenate([[x, y, 0.3], quaternion(axis, angle), np.zeros(12)])


def truth(tick, q, **changes):
    return ground_truth(tick, q=q, **changes)


def estimate(tick, q, v=0.0):
    return a1.estimate(tick, q=q, v=np.full(18, v))


@pytest.mark.parametrize("axis", [0, 1])
def test_tilt_error_is_the_angle_and_heading_does_not_count(axis):
    level, turned = configuration(), configuration(axis=2, angle=2.0)
    tilted = configuration(axis=axis, angle=0.3)
    error = squared_errors(level, np.zeros(18), tilted, np.zeros(18))
    assert error[2] == approx(0.09)
    assert squared_errors(level, np.zeros(18), turned, np.zeros(18))[2] == approx(0.0)


@pytest.mark.parametrize("angle, fell", [(59.0, False), (61.0, True), (float("nan"), True)])
def test_fall_is_a_tilt_past_60_degrees(angle, fell):
    assert has_fallen(truth(0, configuration(axis=0, angle=math.radians(angle)))) is fell
    assert has_fallen(truth(0, configuration(axis=1, angle=-math.radians(angle)))) is fell


def test_a_tilt_of_the_reference_is_no_fall_at_its_time_since_the_first_state():
    metrics = RunMetrics(tilt_allowance=lambda time: math.radians(60.0) if time < 0.15 else 0.0)
    for tick in (1000, 1100):
        metrics.add_truth(truth(tick, configuration(axis=1, angle=math.radians(100.0))))
        assert not metrics.fell
    metrics.add_truth(truth(1200, configuration(axis=1, angle=math.radians(100.0))))
    assert metrics.fell and metrics.fell_at_s == approx(0.2)


def test_trunk_on_the_ground_is_a_fall():
    assert has_fallen(truth(0, configuration(), trunk_contact=True))


def test_distance_deviation_and_errors_of_a_known_run():
    metrics = RunMetrics()
    for tick, (x, y) in enumerate([(1.0, 0.0), (1.1, -0.3), (1.4, 0.2)]):
        metrics.add_truth(truth(tick, configuration(x, y)))
        metrics.add_estimate(estimate(tick, configuration(x, y + 0.1), v=0.2))
    assert metrics.distance == approx(0.4)
    assert metrics.max_lateral_deviation == approx(0.3)
    assert metrics.summary()["simulated_s"] == 0.002
    errors = metrics.estimator()
    assert errors["position_rmse_m"] == approx(0.1)
    assert errors["velocity_rmse_m_s"] == approx(0.2 * math.sqrt(3.0))
    assert errors["tilt_rmse_rad"] == 0.0
