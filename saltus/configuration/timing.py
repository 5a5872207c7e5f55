"""The latency model of lock step: how long solves take and how old estimates are, by choice."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec

from controller.solve_schedule import TICK_S, SolveSchedule
from runtime.messages import Plan
from runtime.options import Options, Range
from runtime.wire import DecodeError
from saltus.common.errors import BadRequest

LONGEST_S = 1.0  # of a solve or an age that is accepted


class TimingOptions(Options, frozen=True):
    """What takes time in lock step.

    Attributes:
        solve: duration of a solve; or a recording (`run.mcap` or its folder) of a run in real
            time, whose solves' durations are taken in their order, over and over again.
        estimate: age of the estimates that planner and tracker have.
    """

    solve: Annotated[float, Range("s", 0.0, LONGEST_S)] | str = 0.0
    estimate: Annotated[float, Range("s", 0.0, LONGEST_S)] = 0.0

    def __post_init__(self) -> None:
        """Read a number that is text; raise ValueError for a time that is out of range."""
        with suppress(ValueError):  # YAML takes 1e-3, without a point, for text
            msgspec.structs.force_setattr(self, "solve", float(self.solve))
        Options.__post_init__(self)


def make_schedule(options: TimingOptions, every: int) -> SolveSchedule:
    """The solves of a run in lock step.

    Args:
        options: the latency model.
        every: least number of ticks from one solve to the next.

    Raises:
        BadRequest: there is no such recording, or it holds no plan that was timed.
    """
    given = options.solve
    durations = recorded_durations(given) if isinstance(given, str) else [given]
    return SolveSchedule(every, durations, round(options.estimate / TICK_S))


def recorded_durations(name: str) -> list[float]:
    """Durations of the solves in a recording [s], in their order.

    Raises:
        BadRequest: there is no such recording, or it holds no plan that was timed.
    """
    from runtime.recording import read_recording  # few launches read one

    path = Path(name)
    path = path / "run.mcap" if path.is_dir() else path
    try:
        plans = [message for _, message in read_recording(path) if isinstance(message, Plan)]
    except (OSError, ValueError, DecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadRequest(f"timing.solve {name}: {reason}; give seconds or a recording") from error
    durations = [plan.solve_s for plan in plans if 0.0 < plan.solve_s <= LONGEST_S]
    if not durations:
        raise BadRequest(
            f"timing.solve {name}: holds no solve that was timed; record one in real time: "
            "saltus launch sim --mode realtime --record DIR"
        )
    return durations
