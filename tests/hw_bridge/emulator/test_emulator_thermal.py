"""The motors' heat: laws of one thermal mass, and the shutdown."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hw_bridge.emulator.motors import AIR, RISE, TIME_CONSTANT, Thermal


@given(st.floats(0.0, 10.0), st.floats(12.0, 1200.0))
def test_follows_the_exponential_of_a_constant_torque(torque, duration):
    thermal = Thermal()
    for _ in range(1000):
        thermal.step(np.full(12, torque), 0.001 * duration)
    rise = RISE * torque**2 * (1.0 - np.exp(-duration / TIME_CONSTANT))
    assert_allclose(thermal.temperature, AIR + rise, atol=0.002 * rise + 1e-9)


def test_a_hot_motor_shuts_down_and_works_again_only_when_it_has_cooled():
    thermal = Thermal()
    states = []
    for temperature in (64.0, 66.0, 60.0, 54.0, 60.0):
        thermal.temperature[7] = temperature
        thermal.step(np.zeros(12), 0.0)
        states.append(bool(thermal.shut_down[7]))
    assert states == [False, True, True, False, False]
    assert not np.delete(thermal.shut_down, 7).any()


def test_a_torque_that_is_no_number_leaves_the_temperature():
    thermal = Thermal()
    thermal.step(np.full(12, np.nan), 0.001)
    assert_array_equal(thermal.temperature, AIR)
