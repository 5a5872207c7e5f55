"""The trees' grid of buckets finds what a look at every node finds."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.convergent.hill import SINE_HILL, Hill
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


def test_a_ring_without_anything_nearer_does_not_end_the_search_too_early():
    places = LOW + np.array([[0.95, 1.05], [1.201, 1.05]])  # in rings 1 and 2
    asked = LOW + np.array([1.099, 1.05])
    assert nearest(filled(places, 0.1), places, *asked) == 1


def test_a_vast_map_has_longer_buckets():
    """A map of 4000 km would have 1e19 buckets of 1 mm."""

    def plane(x, y):
        return x, 1.0, 0.0, 0.0, 0.0, 0.0

    vast = Hill("vast", plane, (-2e6, 2e6), (0.0, 2.5e6))
    thin = Hill("thin", plane, (0.0, 1e6), (0.0, 1e-3))
    for hill in (vast, thin):
        grid = empty_grid(hill, 1e-3, 2)
        assert grid.first.size < 3e6
        places = np.array([[hill.x_bounds[1], hill.y_bounds[1]], [0.0, 0.0]])
        for node in range(2):
            add(grid, places, node)
        assert nearest(grid, places, 1.0, 0.0) == 1


def test_an_empty_grid_has_no_nearest():
    grid = empty_grid(SINE_HILL, 0.1, 1)
    assert nearest(grid, np.zeros((1, 2)), 0.0, 1.0) == -1
