"""Commands as they come: what is refused, what is clipped, and what silence does."""

from hypothesis import given
from hypothesis import strategies as st

from controller.driving.commands import TROT_ABOVE, WALK_BELOW, CommandIntake, Goal
from controller.gaits import GAITS
from controller.options import DriveOptions
from runtime.messages import Command

OPTIONS = DriveOptions()


def command(sequence=0, forward=0.3, **fields):
    values = {"left": 0.0, "yaw_rate": 0.0, "gait": "trot"} | fields
    return Command(sequence=sequence, time=0.0, forward=forward, **values)


numbers = st.floats(allow_nan=True, allow_infinity=True)

BETWEEN = 0.5 * (WALK_BELOW + TROT_ABOVE)

GAITS_OF_AUTO = [
    ({"forward": 0.1}, "walk"), ({"forward": BETWEEN}, "walk"), ({"forward": 1.0}, "trot"),
    ({"forward": BETWEEN}, "trot"), ({"forward": 0.1}, "walk"), ({"forward": 0.0}, "stand"),
    ({"forward": BETWEEN}, "walk"), ({"forward": 0.0, "yaw_rate": 1.5}, "trot"),
]  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.integers(0, 20), numbers, numbers, numbers, st.none() | numbers,
            st.sampled_from([*GAITS, "auto", "gallop", ""]), st.floats(0.0, 1.0),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_whatever_comes_the_goal_keeps_to_the_limits_and_everything_is_counted(stream):
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


def test_in_silence_it_stands_and_afterwards_numbers_may_begin_anew():
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


def test_at_the_end_it_stands_and_takes_no_command_any_more():
    intake = CommandIntake(OPTIONS)
    intake.offer(command(0), 0.0)
    intake.end()
    assert intake.goal() == Goal() and intake.goal().gait == "stand"
    assert not intake.offer(command(1), 0.1)
    assert intake.goal() == Goal() and intake.counts["over"] == 1


def test_auto_chooses_by_speed_and_keeps_its_gait_between_two_thresholds():
    intake = CommandIntake(OPTIONS)
    for sequence, (fields, gait) in enumerate(GAITS_OF_AUTO):
        intake.offer(command(sequence, gait="auto", **fields), 0.0)
        assert intake.goal().gait == gait
