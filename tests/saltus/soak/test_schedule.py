"""The schedule of a launch: the same for the same seed, within bounds, and accepted by a launch."""

import math
from pathlib import Path

import numpy as np
import pytest

from robots.terrain import height_at
from saltus.launch import assembly
from saltus.soak.schedule import (
    BOUNDS,
    CALM_S,
    FAR,
    Command,
    Steering,
    draw_schedule,
)
from saltus.soak.soak import soak_config
from tests.a1 import A1

HOUR = 3600.0
COMMANDS = BOUNDS["commands"]
FORWARD, LEFT, TURN = COMMANDS["velocity"].values()


def test_same_seed_and_launch_give_the_same_schedule():
    assert draw_schedule(3, 0, 600.0) == draw_schedule(3, 0, 600.0)
    assert draw_schedule(3, 0, 600.0) != draw_schedule(4, 0, 600.0)
    assert draw_schedule(3, 0, 600.0) != draw_schedule(3, 1, 600.0)


def test_a_shorter_launch_gets_the_beginning_of_the_longer_ones_schedule():
    long, short = draw_schedule(5, 2, HOUR), draw_schedule(5, 2, 200.0)
    for name in ("commands", "pushes", "incidents", "harms"):
        items = getattr(short, name)
        assert 0 < len(items) < len(getattr(long, name))
        assert getattr(long, name)[: len(items)] == items
    assert (short.terrain, short.network) == (long.terrain, long.network)


@pytest.mark.parametrize("seed", range(3))
def test_everything_is_within_its_bounds(seed):
    schedule = draw_schedule(seed, 0, HOUR)
    assert {command.gait for command in schedule.commands} == set(COMMANDS["gaits"])
    for command in schedule.commands:
        assert FORWARD[0] <= command.forward <= FORWARD[1]
        assert LEFT[0] <= command.left <= LEFT[1] and TURN[0] <= command.turn <= TURN[1]
        low, high = COMMANDS["height"]
        assert command.height is None or low <= command.height <= high
        assert command.gait != "stand" or not any(command[2:5])
    strongest = BOUNDS["pushes"]["sizes"]["strong"][1]
    assert 0.0 < max(math.hypot(*push["value"]) for push in schedule.pushes) <= strongest
    assert {event["kind"] for event in schedule.incidents} == {
        "cut", "heat", "drive_joint", "remote",
    }  # fmt: skip
    longest = {"planner": 0.08, "estimator": 0.03, "tracker": 0.0}
    assert all(harm.seconds <= longest[harm.victims[0]] for harm in schedule.harms)
    times = [push["at"] for push in schedule.pushes]
    for at in [*times, *(harm.at for harm in schedule.harms)]:
        assert CALM_S <= at < HOUR - CALM_S


@pytest.mark.parametrize("number", range(10))
def test_a_launch_takes_the_schedule_and_its_ground_is_no_higher_than_the_robot_can_step(number):
    """By more than a step, a box and the rise of a slope within a hand's breadth."""
    schedule = draw_schedule(8, number, 60.0)
    config = soak_config(schedule, 60.0, Path("/bus"))
    ground, spacing = assembly.make_ground(config), 0.02
    axis = np.arange(-FAR - 1.0, FAR + 1.0, spacing)
    heights = np.array([[height_at(ground, x, y) for x in axis] for y in axis])
    for way in (0, 1):
        assert np.abs(np.diff(heights, axis=way)).max() <= 0.05 + 0.04 + 0.15 * spacing
    assert len(ground.patch) == 1 and config.drive.source == "client"
    assert len(config.emulator.events) == len(schedule.pushes) + len(schedule.incidents)
    assert config.emulator.network.loss == schedule.network["loss"]


def pose(x, y, heading):
    q = np.zeros(19)
    q[:3] = x, y, A1.stand_height
    q[5:7] = math.sin(0.5 * heading), math.cos(0.5 * heading)
    return q


@pytest.mark.parametrize("heading", [0.0, 1.5, 3.0, -2.0])
def test_a_robot_that_strays_comes_home_and_goes_its_way_again(heading):
    away = Command(0.0, "trot", FORWARD[1], 0.0, 0.1, None)
    steering, x, y = Steering(), FAR - 0.1, 0.0
    farthest, came_home = 0.0, False
    for _ in range(3000):  # a body that does what it is told, for a minute
        command = steering.steer(away, pose(x, y, heading))
        heading += 0.02 * command.turn
        x += 0.02 * command.forward * math.cos(heading)
        y += 0.02 * command.forward * math.sin(heading)
        farthest = max(farthest, math.hypot(x, y))
        came_home |= farthest > FAR and not steering.is_homing
    assert farthest < FAR + 0.5
    assert came_home
