"""Which process has which core."""

import os

import pytest

from saltus.configuration.launch import load_launch
from saltus.configuration.planners import CONNECTIONS
from saltus.launch.cores import LISTENER_NICE, cores_of, preferred

EVERYBODY = ["tracker", "planner", "estimator", "simulation", "emulator"]


@pytest.mark.parametrize(
    "connection, guests", [("real", set()), ("simulated", set()), ("emulated", {"tracker"})]
)
def test_on_two_cores_the_planner_has_one_but_for_the_tracker_of_an_emulated_robot(
    connection, guests
):
    cores = {name: cores_of(name, {0, 1}, CONNECTIONS[connection]) for name in EVERYBODY}
    on_last = {name for name in EVERYBODY if cores[name] == {1}}
    assert on_last == {"planner"} | guests
    assert all(cores[name] == {0} for name in EVERYBODY if name not in on_last)


@pytest.mark.parametrize("available", [{0, 1, 2}, {2, 3, 5, 7}])
def test_on_more_cores_the_tracker_has_the_last_one_to_itself(available):
    for name in EVERYBODY:
        own = cores_of(name, available, CONNECTIONS["simulated"])
        assert own and own <= available
        assert (max(available) in own) == (name == "tracker")


def test_one_core_is_everybodys():
    assert all(cores_of(name, {3}, CONNECTIONS["simulated"]) == {3} for name in EVERYBODY)


def test_a_program_that_follows_a_launch_gives_its_priority_back():
    before = os.getpriority(os.PRIO_PROCESS, 0)  # where it is refused, it stays
    with preferred(load_launch("sim", mode="realtime")):
        assert os.getpriority(os.PRIO_PROCESS, 0) in (LISTENER_NICE, before)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
