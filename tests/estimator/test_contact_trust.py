"""Contact from foot forces: hysteresis, probability and the ramp after touchdown."""

import numpy as np
import pytest

from estimator.contacts import learn_offset, update_trust
from estimator.options import LegOdometryOptions
from estimator.record import record_of

OPTIONS = LegOdometryOptions()
PARAMETERS = record_of(OPTIONS)[0]


class Contacts:
    def __init__(self) -> None:
        self.age, self.probability, self.trust = -np.ones(4), np.zeros(4), np.zeros(4)

    def step(self, force: float) -> tuple[float, float]:
        forces = np.full(4, force)
        update_trust(forces, 1e-3, self.age, self.probability, self.trust, PARAMETERS)
        assert np.all(self.probability == self.probability[0])
        return float(self.probability[0]), float(self.trust[0])


def test_between_the_thresholds_a_foot_keeps_its_state() -> None:
    contacts, between = Contacts(), 0.5 * (OPTIONS.force_off + OPTIONS.force_on)
    assert contacts.step(between) == (0.0, 0.0)
    contacts.step(OPTIONS.force_full)
    assert contacts.step(between)[0] > 0.0
    assert contacts.step(0.9 * OPTIONS.force_off) == (0.0, 0.0)
    assert contacts.step(between) == (0.0, 0.0)


def test_trust_ramps_after_touchdown_and_falls_at_once() -> None:
    contacts = Contacts()
    trusts = [contacts.step(100.0)[1] for _ in range(30)]
    assert contacts.probability[0] == 1.0
    assert trusts[0] == 0.0
    assert np.all(np.diff(trusts) >= 0.0)
    halfway = round(0.5e3 * OPTIONS.touchdown_ramp)
    assert trusts[halfway] == pytest.approx(1e-3 * halfway / OPTIONS.touchdown_ramp)
    assert trusts[-1] == 1.0
    assert contacts.step(0.0) == (0.0, 0.0)


def test_probability_is_monotonic_in_force_and_spans_zero_to_one() -> None:
    contacts = Contacts()
    contacts.step(100.0)
    probabilities = [contacts.step(force)[0] for force in np.linspace(100.0, OPTIONS.force_off, 50)]
    assert np.all(np.diff(probabilities) <= 0.0)
    assert probabilities[0] == 1.0
    assert probabilities[-1] == pytest.approx(0.0, abs=1e-12)


def test_the_zero_of_a_sensor_is_learnt_in_the_air_only() -> None:
    offset = np.zeros(4)
    forces = np.array([8.0, 8.0, -15.0, 60.0])  # the last is no zero: something carries it
    clearance = np.array([0.05, 0.0, 0.05, 0.05])
    for _ in range(300):
        learn_offset(forces, clearance, 1e-3, offset, PARAMETERS)
    np.testing.assert_allclose(offset, [8.0, 0.0, -15.0, 0.0], atol=0.01)


def test_options_refuse_what_is_not_positive() -> None:
    with pytest.raises(ValueError, match="height_noise"):
        LegOdometryOptions(height_noise=0.0)
    with pytest.raises(ValueError, match="force_on"):
        LegOdometryOptions(force_on=float("nan"))
