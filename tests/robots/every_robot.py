"""The robots of this project, one after the other, in the place of the A1."""

import pytest

from robots.robot import load_robot


@pytest.fixture(scope="module", params=["a1", "go1", "go2"])
def quadruped(request):
    return load_robot(request.param)
