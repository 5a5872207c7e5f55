"""Smooth profiles: ends at rest, and slopes that are the derivatives."""

import pytest
from numpy.testing import assert_allclose

from robots.profiles import bump, minimum_jerk
from tests.differences import slopes

H = 1e-6


@pytest.mark.parametrize("profile", [minimum_jerk, bump])
@pytest.mark.parametrize("s", [0.1, 0.37, 0.5, 0.9])
def test_the_slope_is_the_derivative(profile, s):
    found = slopes(lambda s: profile(s).value, s)
    assert profile(s).slope == pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize(("profile", "end"), [(minimum_jerk, 1.0), (bump, 0.0)])
def test_they_begin_and_end_at_rest(profile, end):
    assert_allclose(profile(0.0), 0.0, atol=1e-15)
    assert_allclose(profile(1.0), (end, 0.0), atol=1e-12)
    assert bump(0.5).value == 1.0
