"""Measures of a motion with flight from states that are known."""

import numpy as np
import pytest
from pytest import approx

from saltus.configuration.launch import load_launch
from saltus.metrics.run import MotionMetrics, run_metrics
from tests.a1 import A1, ground_truth


def truth(tick, height, contact, torque, heading=0.5 * np.pi):
    half = 0.5 * heading
    q = np.array([0.0, 0.0, height, 0.0, 0.0, np.sin(half), np.cos(half), *A1.stand])
    v = np.concatenate([np.zeros(6), np.full(12, -2.0)])
    return ground_truth(
        tick, q=q, v=v, contact=np.array(contact, float), torque=np.full(12, torque)
    )


@pytest.mark.parametrize("every", [1, 5])  # in real time some states may be missing
def test_a_hop_is_measured(every):
    metrics = MotionMetrics()
    for tick in range(0, 10, every):
        metrics.add(truth(tick, 0.3, (1, 1, 1, 1), 5.0, heading=0.1))
    for tick in range(10, 25, every):
        metrics.add(truth(tick, 0.4, (0, 0, 1, 1), -10.0))
    for tick in range(25, 45, every):
        metrics.add(truth(tick, 0.5, (0, 0, 0, 0), 0.0))
    metrics.add(truth(45, 0.3, (1, 0, 1, 1), 0.0))
    found = metrics.summary()
    assert found["largest_torque_n_m"] == 10.0 and found["largest_speed_rad_s"] == 2.0
    assert found["largest_power_w"] == approx(240.0) and found["highest_m"] == 0.5
    assert found["air_s"] == 0.02 and found["two_legs_s"] == 0.035
    assert found["heading_rad"] == approx(0.5 * np.pi - 0.1)


def test_motions_alone_have_these_measures():
    assert run_metrics(load_launch("backflip")).motion is not None
    assert "air_s" not in run_metrics(load_launch("sim")).summary()
