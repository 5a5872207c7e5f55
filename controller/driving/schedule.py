"""The swings of a course, in seconds."""

from __future__ import annotations

from controller.contact_schedule import Swing
from controller.driving.course import Ahead, Course

SLACK = 1e-9  # [s]: knot times are sums of 0.01 s and must not fall before their event


class CourseSchedule:
    """The swings of the strides of a course."""

    def __init__(self) -> None:
        """All feet stand."""
        self._swings: list[list[Swing]] = [[] for _ in range(4)]

    @property
    def is_stand(self) -> bool:
        """Whether no foot swings, now or within what is known."""
        return not any(self._swings)

    def follow(self, course: Course, ahead: Ahead) -> None:
        """Take the swings of a course ahead."""
        self._swings = [[] for _ in range(4)]
        for foot, lift, _, height in ahead.swings.tolist():
            gait = course.strides.at(round(lift)).gait
            self._swings[int(foot)].append(
                Swing(lift * course.period, gait.swing_duration, height, gait.duty * gait.period)
            )

    def swing(self, foot: int, time: float) -> Swing | None:
        """See `ContactSchedule`."""
        for swing in self._swings[foot]:
            if swing.lift_off <= time + SLACK < swing.landing:
                return swing
        return None

    def next_swing(self, foot: int, time: float) -> Swing | None:
        """See `ContactSchedule`."""
        return next((s for s in self._swings[foot] if s.lift_off > time + SLACK), None)
