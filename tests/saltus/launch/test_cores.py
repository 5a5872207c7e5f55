"""Which process has which core."""

import pytest

from saltus.launch.cores import cores_of

EVERYBODY = ("tracker", "planner", "estimator", "simulation", "emulator")


def test_on_two_cores_the_planner_has_one_to_itself():
    cores = {name: cores_of(name, {0, 1}) for name in EVERYBODY}
    assert cores.pop("planner") == {1}
    assert all(each == {0} for each in cores.values())


def test_beside_an_emulated_robot_the_tracker_shares_the_planners_core():
    cores = {name: cores_of(name, {0, 1}, emulated=True) for name in EVERYBODY}
    assert cores["tracker"] == cores["planner"] == {1}
    assert cores["estimator"] == cores["emulator"] == {0}


@pytest.mark.parametrize("available", [{0, 1, 2}, {2, 3, 5, 7}])
def test_on_more_cores_the_tracker_has_the_last_one_to_itself(available):
    for name in EVERYBODY:
        own = cores_of(name, available)
        assert own and own <= available
        assert (max(available) in own) == (name == "tracker")


def test_one_core_is_everybodys():
    assert all(cores_of(name, {3}) == {3} for name in EVERYBODY)
