"""Which feet come down together is found from contacts at every tick."""

import numpy as np
import pytest
from pytest import approx

from studies.a1.a1_touchdown import feet_of, touchdowns


def find(contacts):
    """The touchdowns of rows of contacts (T, 4), a millisecond apart; q and v hold the row."""
    row = np.arange(len(contacts), dtype=float)[:, None]
    return touchdowns(0.001 * row[:, 0], np.tile(row, 19), np.tile(row, 18), contacts)


def contacts_of(air, ticks=100):
    """All feet on the ground but for ``air``: (foot, first tick, tick of the landing)."""
    rows = np.ones((ticks, 4))
    for foot, begin, end in air:
        rows[begin:end, foot] = 0.0
    return rows


def test_a_landing_has_the_state_of_the_tick_before():
    found = find(contacts_of([(0, 10, 60)]))
    assert found.time == approx([0.059])
    assert np.all(found.q == 59.0) and np.all(found.v == 59.0)
    assert found.landing.tolist() == [[1, 0, 0, 0]] and found.standing.tolist() == [[0, 1, 1, 1]]


@pytest.mark.parametrize("later, rows", [(0, 1), (9, 1), (10, 2)])
def test_feet_that_land_within_a_knot_land_together(later, rows):
    found = find(contacts_of([(0, 10, 60), (3, 12, 60 + later)]))
    assert len(found.time) == rows
    if rows == 1:
        assert feet_of(found.landing[0]) == ("FR", "RL")
        assert feet_of(found.standing[0]) == ("FL", "RR")
    else:
        assert feet_of(found.standing[1]) == ("FR", "FL", "RR")


@pytest.mark.parametrize("air, rows", [(19, 0), (20, 1)])
def test_a_foot_that_bounces_does_not_land_anew(air, rows):
    """Off the ground from tick 31 on: at tick 30 it was last there."""
    assert len(find(contacts_of([(1, 31, 30 + air)])).time) == rows


def test_feet_in_the_air_at_first_land_and_standing_ones_do_not():
    rows = np.zeros((60, 4))
    rows[:, 0] = 1.0
    rows[40:, 1] = 1.0
    found = find(rows)
    assert [feet_of(row) for row in found.landing] == [("FL",)]
    assert find(np.ones((30, 4))).time.size == 0
