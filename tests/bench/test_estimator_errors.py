"""Errors of a filter on made-up runs whose errors are known."""

from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx

from robots.rotations import exp3, quaternion_from_rotation
from runtime.messages import SensorReading
from runtime.rows import layout_of
from saltus.bench.estimators import AFTER_TOUCHDOWN, IN_THE_AIR, after_touchdown, replay, rms
from saltus.bench.streams import Recording
from tests.a1 import A1


class Wrong:
    """A filter that says what a test gives it."""

    divergences = 0
    velocity_covariance = np.eye(3)

    def __init__(self, q, v):
        self._said = iter(zip(q, v, strict=True))

    def reset(self, position):
        assert position.shape == (2,)

    def update(self, reading):
        return SimpleNamespace(**dict(zip("qv", next(self._said), strict=True)))


def test_known_errors_have_known_measures():
    stand = np.concatenate([[0.0, 0.0, A1.stand_height], [0.0, 0.0, 0.0, 1.0], A1.stand.ravel()])
    q, v = np.tile(stand, (100, 1)), np.zeros((100, 18))
    q[:, 0] = np.linspace(0.0, 2.0, 100)  # it walks 2 m
    q_hat, v_hat = q.copy(), v.copy()
    v_hat[:, :3] += [0.3, 0.0, -0.4]
    v_hat[:, 3:] += 7.0  # no part of the linear velocity
    q_hat[:, 2] -= 0.02
    q_hat[:, 1] += np.linspace(1.0, 1.1, 100)  # a constant offset is no drift
    tilted = exp3(np.array([0.0, 0.0, 1.3])) @ exp3(np.array([0.1, 0.0, 0.0]))
    q_hat[:, 3:7] = quaternion_from_rotation(tilted)
    readings = np.zeros((100, layout_of(SensorReading).width))
    recording = Recording(readings, q, v, np.ones((100, 4), dtype=bool), np.zeros(1, dtype=bool))
    found = replay(Wrong(q_hat, v_hat), recording)
    assert rms(found.velocity) == approx(0.5)
    assert rms(found.tilt) == approx(0.1)  # the heading does not count
    assert rms(found.height) == approx(0.02)
    assert found.distance == approx(2.0) and found.drift == approx(0.1)
    assert found.nees == approx(0.25)


def steps(*changes):
    """Contact (400, 4): only the second foot lifts; it switches at the ticks `changes`."""
    contact = np.ones((400, 4), dtype=bool)
    for change in changes:
        contact[change:, 1] ^= True
    return contact


def test_the_50_ms_after_a_touchdown_begin_with_it():
    found = after_touchdown(steps(100, 200))
    assert np.flatnonzero(found).tolist() == list(range(200, 200 + AFTER_TOUCHDOWN))


@pytest.mark.parametrize("off, counts", [(IN_THE_AIR - 1, False), (IN_THE_AIR, True)])
def test_a_bounce_is_no_touchdown(off, counts):
    assert after_touchdown(steps(100, 100 + off)).any() == counts
