"""The plate on a bed of springs: its events, its forces and its motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.event_selected.integrator import integrate
from saltation.event_selected.system import EssOptions
from studies.anderson_revzen.systems.spring_bed import (
    INERTIA,
    SpringBed,
    depths,
    random_starts,
    spring_bed,
)
from studies.anderson_revzen.systems.spring_hopper import GRAVITY, MASS, START, exact
from tests.differences import slopes

BED = SpringBed(5, 170.0)
TIGHT = EssOptions(epsilon=1e-6, max_step=0.01, rtol=1e-10, atol=1e-11)


def energy(bed, x):
    """Energy of plate and springs [J], which the flow keeps."""
    spring = 0.5 * bed.spring_stiffness * np.sum(np.maximum(depths(bed, x), 0.0) ** 2)
    moving = 0.5 * MASS * (x[3] ** 2 + x[4] ** 2) + 0.5 * INERTIA * x[5] ** 2
    return float(moving + MASS * GRAVITY * x[1] + spring)


def states(count, seed=0):
    """Tilted plates, some of whose tips are touched."""
    return np.random.default_rng(seed).normal(
        [0.0, 0.95, 0.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.4, 1.0, 1.0, 1.0], (count, 6)
    )


def test_events_state_is_the_derivative_of_the_events():
    system = spring_bed(BED)
    for x in states(20):
        Dh = slopes(lambda x: system.events(x, system.parameters), x)
        assert_allclose(system.events_state(x, system.parameters), Dh, atol=1e-9)


def test_the_motion_keeps_the_energy_and_lands_on_every_tip():
    bed = SpringBed(7)
    system = spring_bed(bed)
    for start in random_starts(2, np.random.default_rng(3)):
        run = integrate(system, start, 2.0, TIGHT)
        assert energy(bed, run.final_state) == approx(energy(bed, start), rel=1e-8)
        guards = [crossing.guard for crossing in run.crossings]
        assert set(guards) == set(range(14))  # every tip is landed on, and left


@pytest.mark.parametrize("springs", [1, 4])
def test_a_level_plate_is_the_hopper(springs):
    times = np.linspace(0.0, 2.0, 41)
    start = np.array([0.0, START[0], 0.0, 0.0, START[1], 0.0])
    run = integrate(spring_bed(SpringBed(springs)), start, 2.0, TIGHT)
    true = exact(np.array(START), times)
    assert_allclose(run.at(times)[:, [1, 4]], true, atol=1e-7)
