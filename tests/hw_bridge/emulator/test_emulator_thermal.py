"""The motors' heat: laws of one thermal mass, and the shutdown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hw_bridge.emulator.motors import Thermal
from hw_bridge.emulator.options import ThermalOptions


@given(st.floats(0.0, 10.0), st.floats(1.0, 100.0))
def test_follows_the_exponential_of_a_constant_torque(torque, duration):
    options = ThermalOptions(time_constant=50.0, stop=120.0, restart=110.0)
    thermal = Thermal(options)
    for _ in range(1000):
        thermal.step(np.full(12, torque), 0.001 * duration)
    rise = options.rise * torque**2 * (1.0 - np.exp(-duration / 50.0))
    assert_allclose(thermal.temperature, 25.0 + rise, atol=0.002 * rise + 1e-9)


def test_a_hot_motor_shuts_down_and_works_again_only_when_it_has_cooled():
    thermal = Thermal(ThermalOptions(stop=65.0, restart=55.0))
    states = []
    for temperature in (64.0, 66.0, 60.0, 54.0, 60.0):
        thermal.temperature[7] = temperature
        thermal.step(np.zeros(12), 0.0)
        states.append(bool(thermal.shut_down[7]))
    assert states == [False, True, True, False, False]
    assert not np.delete(thermal.shut_down, 7).any()


def test_a_torque_that_is_no_number_leaves_the_temperature():
    thermal = Thermal(ThermalOptions())
    thermal.step(np.full(12, np.nan), 0.001)
    assert_array_equal(thermal.temperature, 25.0)


def test_options_out_of_order_are_refused():
    with pytest.raises(ValueError, match="restart is 55"):
        ThermalOptions(stop=50.0)
