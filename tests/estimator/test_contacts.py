"""Contacts by force, and jumps of the base velocity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from estimator.contacts import JUMP_GATE, JUMP_SPEED, feet_agree_on_jump, learn_offset, update_trust
from estimator.options import LegOdometryOptions
from estimator.record import record_of

OPTIONS = LegOdometryOptions()
PARAMETERS = record_of(OPTIONS)[0]


class Contacts:
    def __init__(self):
        self.age, self.probability, self.trust = -np.ones(4), np.zeros(4), np.zeros(4)

    def step(self, force):
        forces = np.full(4, force)
        update_trust(forces, 1e-3, self.age, self.probability, self.trust, PARAMETERS)
        assert np.all(self.probability == self.probability[0])
        return float(self.probability[0]), float(self.trust[0])


def test_between_the_thresholds_a_foot_keeps_its_state():
    contacts, between = Contacts(), 0.5 * (OPTIONS.force_off + OPTIONS.force_on)
    assert contacts.step(between) == (0.0, 0.0)
    contacts.step(OPTIONS.force_full)
    assert contacts.step(between)[0] > 0.0
    assert contacts.step(0.9 * OPTIONS.force_off) == (0.0, 0.0)
    assert contacts.step(between) == (0.0, 0.0)


def test_trust_ramps_after_touchdown_and_falls_at_once():
    contacts = Contacts()
    trusts = [contacts.step(100.0)[1] for _ in range(30)]
    assert contacts.probability[0] == 1.0
    assert trusts[0] == 0.0
    assert np.all(np.diff(trusts) >= 0.0)
    halfway = round(0.5e3 * OPTIONS.touchdown_ramp)
    assert trusts[halfway] == approx(1e-3 * halfway / OPTIONS.touchdown_ramp)
    assert trusts[-1] == 1.0
    assert contacts.step(0.0) == (0.0, 0.0)


def test_probability_is_monotonic_in_force_and_spans_zero_to_one():
    contacts = Contacts()
    contacts.step(100.0)
    probabilities = [contacts.step(force)[0] for force in np.linspace(100.0, OPTIONS.force_off, 50)]
    assert np.all(np.diff(probabilities) <= 0.0)
    assert probabilities[0] == 1.0
    assert probabilities[-1] == approx(0.0, abs=1e-12)


def test_the_zero_of_a_sensor_is_learnt_in_the_air_only():
    offset = np.zeros(4)
    forces = np.array([8.0, 8.0, -15.0, 60.0])  # the last is no zero: something carries it
    clearance = np.array([0.05, 0.0, 0.05, 0.05])
    for _ in range(300):
        learn_offset(forces, clearance, 1e-3, offset)
    assert_allclose(offset, [8.0, 0.0, -15.0, 0.0], atol=0.01)


VARIANCE, FEET = 0.01, 4.0


def agrees(residuals, trust=None, noise=0.2, variance=VARIANCE):
    trust = np.ones(4) if trust is None else trust
    return feet_agree_on_jump(residuals, trust, variance, noise, 0.5)


def all_by(speed):
    return np.tile(speed * np.array([2.0, -1.0, 2.0]) / 3.0, (4, 1))


@pytest.mark.parametrize("share, jump", [(0.99, False), (1.01, True)])
def test_three_axes_of_the_prediction_and_of_the_feet_make_the_gate(share, jump):
    gate = JUMP_GATE * np.sqrt(3.0 * (VARIANCE + 0.2**2 / FEET))
    assert agrees(all_by(share * gate)) is jump
    assert agrees(all_by(share * JUMP_SPEED), None, 0.0, 0.0) is jump  # never below this speed


@pytest.mark.parametrize("trust, jump", [((1, 0.4, 0, 0), False), ((1, 0.5, 0, 0), True)])
def test_it_takes_two_feet_and_the_others_do_not_count(trust, jump):
    residuals = all_by(3.0)
    residuals[2:] = -50.0
    assert agrees(residuals, np.array(trust)) is jump
