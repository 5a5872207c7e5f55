"""A change of the units of length, time or mass changes no status, no event and no state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from saltation.simulation import simulate
from saltation.systems import Mode, System, Transition
from tests.saltation.driven_systems import SETTLE, bounce, height, lie

TOLERANCE = 1e-7  # of states and times, in their units
FIRST = 25  # events: the ball has 31 or 35, as rounding has it where they accumulate


def bouncing_ball(L, T, M):
    """It comes to rest."""
    flight = Mode("flight", 2, 0, lambda t, x, u: np.array([x[1], -9.81 * L / T**2]))
    edges = Transition(1, 1, height, bounce, name="impact"), SETTLE
    return System({1: flight, 2: Mode("rest", 2, 0, lie)}, edges), [L, 0.0], 3.0 * T, [L, L / T]


def sliding_block(L, T, M):
    """A block on a belt, held by a spring: it sticks and slips."""
    stiffness, belt, weight = 50.0 * M / T**2, 0.3 * L / T, 9.81 * M * L / T**2
    modes = {
        1: Mode("stick", 2, 0, lambda t, x, u: np.array([belt, 0.0])),
        2: Mode("slip", 2, 0,
                lambda t, x, u: np.array([x[1], (0.3 * weight - stiffness * x[0]) / M])),
    }  # fmt: skip
    edges = (
        Transition.continuous(1, 2, lambda t, x, u: 0.6 * weight - stiffness * x[0], name="slip"),
        Transition(2, 1, lambda t, x, u: belt - x[1], lambda t, x, u: np.array([x[0], belt]),
                   name="stick", on="edge"),
    )  # fmt: skip
    return System(modes, edges), [0.0, belt], 5.0 * T, [L, L / T]


def simulated(make, L=1.0, T=1.0, M=1.0):
    """Status, FIRST and last events with their times, and the end in units of L, T, M."""
    system, x, duration, units = make(L, T, M)
    run = simulate(system, 1, x, duration)
    events = [*run.events[:FIRST], run.events[-1]]
    times = np.array([event.time for event in events]) / T
    names = [event.transition.name for event in events]
    return run.status, names, times, run.final_state / units


@pytest.mark.parametrize("make", [bouncing_ball, sliding_block])
@settings(max_examples=8)
@given(powers=st.tuples(*[st.sampled_from([-9, -4, 0, 5, 9])] * 3))
def test_units_change_nothing(make, powers):
    status, names, times, state = simulated(make)
    found = simulated(make, *(10.0**power for power in powers))
    assert status == "ok" and names and found[:2] == (status, names)
    assert_allclose(found[2], times, rtol=0.0, atol=TOLERANCE * times[-1])
    assert_allclose(found[3], state, rtol=0.0, atol=TOLERANCE)
