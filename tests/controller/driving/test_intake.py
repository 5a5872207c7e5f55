"""Commands as they come: what is refused, what is clipped, and what silence does."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.driving.commands import TROT_ABOVE, WALK_BELOW, CommandIntake, Goal
from controller.gaits import GAITS
from controller.options import DriveOptions
from runtime.messages import Command

OPTIONS = DriveOptions()


def command(sequence: int = 0, forward: float = 0.3, **fields: object) -> Command:
    values = {"left": 0.0, "yaw_rate": 0.0, "gait": "trot"} | fields
    return Command(sequence=sequence, time=0.0, forward=forward, **values)  # type: ignore[arg-type]


numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 20), numbers, numbers, numbers, st.none() | numbers,
            st.sampled_from([*GAITS, "auto", "gallop", ""]), st.floats(0.0, 1.0),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_whatever_comes_the_goal_keeps_to_the_limits_and_everything_is_counted(stream) -> None:
    intake, now = CommandIntake(OPTIONS), 0.0
    for sequence, forward, left, yaw_rate, height, gait, pause in stream:
        now += pause
        before = intake.goal()
        accepted = intake.offer(
            command(sequence, forward, left=left, yaw_rate=yaw_rate, height=height, gait=gait), now
        )
        goal = intake.goal()
        assert accepted or goal == before
        limits = OPTIONS.limits(goal.gait)
        assert abs(goal.forward) <= limits.forward and abs(goal.left) <= limits.left
        assert abs(goal.yaw_rate) <= limits.yaw_rate and goal.gait in GAITS
        assert goal.height is None or OPTIONS.height[0] <= goal.height <= OPTIONS.height[1]
    counts = intake.counts
    refused = sum(counts[cause] for cause in ("not_finite", "unknown_gait", "old"))
    assert counts["accepted"] + refused == len(stream)


@pytest.mark.parametrize(
    "bad, cause",
    [
        (command(1, math.nan), "not_finite"),
        (command(1, height=math.inf), "not_finite"),
        (command(1, gait="gallop"), "unknown_gait"),
        (command(0), "old"),
    ],
)
def test_what_is_refused_changes_nothing_and_its_cause_is_counted(bad: Command, cause: str) -> None:
    intake = CommandIntake(OPTIONS)
    assert intake.offer(command(0), 0.0)
    goal = intake.goal()
    assert not intake.offer(bad, 0.1)
    assert intake.goal() == goal and intake.counts[cause] == 1


def test_in_silence_it_stands_and_afterwards_numbers_may_begin_anew() -> None:
    intake = CommandIntake(OPTIONS)
    intake.offer(command(100), 0.0)
    intake.look(OPTIONS.silence)
    assert intake.goal().gait == "trot" and intake.counts["silences"] == 0
    intake.look(OPTIONS.silence + 0.01)
    assert intake.goal().gait == "stand" and intake.newest is None
    intake.look(2.0)
    assert intake.counts["silences"] == 1
    assert intake.offer(command(0), 2.1)
    assert intake.goal().gait == "trot"


def test_at_the_end_it_stands_and_takes_no_command_any_more() -> None:
    intake = CommandIntake(OPTIONS)
    intake.offer(command(0), 0.0)
    intake.end()
    assert intake.goal() == Goal() and intake.goal().gait == "stand"
    assert not intake.offer(command(1), 0.1)
    assert intake.goal() == Goal() and intake.counts["over"] == 1


def test_what_exceeds_the_limits_is_clipped_and_counted() -> None:
    intake = CommandIntake(OPTIONS)
    intake.offer(command(0, 99.0, left=-99.0, yaw_rate=0.1, height=1.0, gait="walk"), 0.0)
    walk = OPTIONS.walk
    assert intake.goal() == Goal(walk.forward, -walk.left, 0.1, OPTIONS.height[1], "walk")
    intake.offer(command(1, 0.1), 0.0)
    assert intake.counts["clipped"] == 1


@pytest.mark.parametrize("gait", [*GAITS, "auto"])
def test_a_command_of_zero_velocity_is_one_to_stand(gait: str) -> None:
    intake = CommandIntake(OPTIONS)
    intake.offer(command(0, 0.0, gait=gait), 0.0)
    assert intake.goal().gait == "stand"


def test_auto_chooses_by_speed_and_keeps_its_gait_between_two_thresholds() -> None:
    intake, between = CommandIntake(OPTIONS), 0.5 * (WALK_BELOW + TROT_ABOVE)
    speeds = [0.1, between, 1.0, between, 0.1, 0.0, between]
    gaits = []
    for sequence, speed in enumerate(speeds):
        intake.offer(command(sequence, speed, gait="auto"), 0.0)
        gaits.append(intake.goal().gait)
    assert gaits == ["walk", "walk", "trot", "trot", "walk", "stand", "walk"]


def test_auto_takes_a_turn_for_speed() -> None:
    intake = CommandIntake(OPTIONS)
    intake.offer(command(0, 0.0, yaw_rate=1.5, gait="auto"), 0.0)
    assert intake.goal().gait == "trot"
