"""The trees' grid of buckets finds what a look at every node finds."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.convergent.hill import SINE_HILL
from controller.convergent.rrt.grid import add, empty_grid, near, nearest

LOW, HIGH = np.array([-2.0, 0.0]), np.array([2.0, 2.5])


@st.composite
def clouds(draw):
    """Places of the map, all over it or close together, and a place to ask about."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, spread = draw(st.integers(1, 60)), draw(st.sampled_from([0.03, 0.3, 5.0]))
    places = np.clip(rng.uniform(LOW, HIGH) + spread * rng.uniform(-1, 1, (count, 2)), LOW, HIGH)
    asked = rng.uniform(LOW, HIGH) if draw(st.booleans()) else places[0] + 0.01 * rng.normal(size=2)
    corner = np.array([draw(st.sampled_from([-2.0, 2.0])), draw(st.sampled_from([0.0, 2.5]))])
    asked = corner if draw(st.integers(0, 4)) == 0 else np.clip(asked, LOW, HIGH)
    return places, asked


def filled(places, side):
    grid = empty_grid(SINE_HILL, side, len(places))
    for node in range(len(places)):
        add(grid, places, node)
    return grid


@settings(max_examples=300)
@given(clouds(), st.sampled_from([0.025, 0.05, 0.7]))
def test_nearest_is_that_of_brute_force(cloud, side):
    places, asked = cloud
    node = nearest(filled(places, side), places, *asked)
    away = np.hypot(*(places - asked).T)
    assert away[node] == away.min()


@settings(max_examples=200)
@given(clouds(), st.sampled_from([0.01, 0.025, 0.3]))
def test_near_are_those_of_brute_force(cloud, radius):
    places, asked = cloud
    found = np.empty(len(places), dtype=np.int64)
    count = near(filled(places, 0.025), places, *asked, radius, found)
    square = np.sum((places - asked) ** 2, axis=1)
    assert sorted(found[:count]) == list(np.flatnonzero(square <= radius**2))
