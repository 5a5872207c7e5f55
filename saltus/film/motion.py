"""How the robot of a recorded run moved, what it planned, and how it was pushed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.messages import GroundTruth, Plan, Push, StateEstimate
from runtime.topics import GROUND_TRUTH, PLAN, PUSH, STATE_ESTIMATE
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S
from saltus.film.drawing import Frames
from saltus.launch.assembly import make_script
from saltus.recording.reading import messages_of_run
from saltus.recording.start_axes import StartAxes
from saltus.trace import config_of_run
from sim_bridge.perturbations import BaseForce, MotorBlock, Perturbation

SHOWN_S = 0.6  # of the film: a push that is shorter is shown for so long [s]
METRES_PER_SPEED, METRES_PER_FORCE = 0.3, 0.004  # length of an arrow [m per m/s], [m per N]
LENGTHS = (0.12, 0.6)  # shortest and longest arrow [m]

Array = NDArray[np.float64]


class RecordedMotion(NamedTuple):
    """A robot's motion as its start sees it, T states, and its P plans.

    Attributes:
        time: (T,) since tick 0 of a simulated run, or the first estimate [s]; ascending.
        q: (T, 19) configurations.
        estimated: they are estimates: nobody recorded the true ones.
        plan_time: (P,) of the plans' first knots [s].
        plan_paths: (P, K, 3) base positions [m]; a shorter plan stays at its last one.
        pushes: by hand, and when [s].
    """

    time: Array
    q: Array
    estimated: bool
    plan_time: Array
    plan_paths: Array
    pushes: list[tuple[float, Push]]

    def q_at(self, times: Array) -> Array:
        """Configurations (n, 19) nearest to times (n,) [s]."""
        middles = 0.5 * (self.time[1:] + self.time[:-1])
        return self.q[np.searchsorted(middles, times)]

    def plan_path_at(self, times: Array) -> Array:
        """Base path (n, K, 3) of the newest plan that has begun at times (n,) [s]; K = 0: none."""
        if not len(self.plan_time):
            return np.zeros((len(times), 0, 3))
        newest = np.searchsorted(self.plan_time, times, side="right") - 1
        return self.plan_paths[np.maximum(newest, 0)]


def read_motion(run: Path) -> RecordedMotion:
    """The motion of a run that ``saltus launch --record`` recorded.

    A recording that was cut off gives what it holds.

    Raises:
        BadRequest: there is no recording, no state in it, or another version recorded it.
    """
    reader, seen = _Reader(), _seen_from_start(run)
    for _, message in messages_of_run(run, (GROUND_TRUTH, STATE_ESTIMATE, PLAN, PUSH)):
        reader.take(seen(message))
    if not (reader.truths or reader.estimates):
        raise BadRequest(f"{run}: no state of the robot in it: it is empty or was cut off")
    return reader.motion()


def _seen_from_start(run: Path) -> Callable[[Any], Any]:
    """Moves messages to the run's start, which its launch file names."""
    try:
        return StartAxes(config_of_run(run)).to_local
    except BadRequest:
        return lambda message: message


class _Reader:
    """Keeps the little of a recording that a film shows."""

    def __init__(self) -> None:
        self.truths: list[tuple[float, Array]] = []  # times by the launch's clock [s]
        self.estimates: list[tuple[float, Array]] = []  # until there is a true state
        self._plans: list[tuple[float, Array]] = []
        self._pushes: list[tuple[float, Push]] = []
        self._tick_0 = 0.0  # when the first true state's tick 0 was [s]

    def take(self, message: GroundTruth | StateEstimate | Plan | Push) -> None:
        if isinstance(message, GroundTruth):
            if not self.truths:
                self._tick_0 = message.time - TICK_S * message.tick
            self.truths.append((message.time, message.q))
        elif isinstance(message, StateEstimate):
            if not self.truths and message.status != "starting":
                self.estimates.append((message.time, message.q))
        elif isinstance(message, Plan):
            # A copy, for the plan's states are large. Some recordings have knots of a few plans.
            if message.status != "failed" and len(message.states_q) > 1:
                self._plans.append((message.time, message.states_q[:, :3].copy()))
        elif self.truths:
            # Its own time is by the sender's clock.
            self._pushes.append((self.truths[-1][0], message))

    def motion(self) -> RecordedMotion:
        states = self.truths or self.estimates
        origin = self._tick_0 if self.truths else states[0][0]
        times = np.array([time for time, _ in states]) - origin
        order = np.argsort(times, kind="stable")
        knots = max((len(path) for _, path in self._plans), default=0)
        paths = [np.pad(path, ((0, knots - len(path)), (0, 0)), "edge") for _, path in self._plans]
        return RecordedMotion(
            times[order], np.array([q for _, q in states])[order], not self.truths,
            np.array([time for time, _ in self._plans]) - origin,
            np.array(paths).reshape(len(paths), knots, 3),
            [(time - origin, push) for time, push in self._pushes],
        )  # fmt: skip


class Arrow(NamedTuple):
    """What a film shows of a push.

    Attributes:
        begin: of the push [s].
        end: of the push [s].
        vector: (3,) in world [m]; zero where a push has no direction.
        label: when and how much.
    """

    begin: float
    end: float
    vector: Array
    label: str


def arrows_of_run(run: Path, motion: RecordedMotion) -> list[Arrow]:
    """The pushes of a run by its script and by hand; a line where its launch file is no use."""
    arrows = [_by_hand(time, push) for time, push in motion.pushes]
    try:
        config = config_of_run(run)
        occurrences = make_script(config).occurrences(round(motion.time[-1] / TICK_S))
    except BadRequest as error:
        say(f"the film shows no scripted pushes: {error}")
        return arrows
    if config.kind.simulated:
        arrows += [_by_script(TICK_S * first, TICK_S * last, event)
                   for first, last, event in occurrences]  # fmt: skip
    return arrows


def draw_arrows(frames: Frames, times: Array, arrows: list[Arrow], speed: float) -> Frames:
    """The frames, of times (n,) [s], with arrows and labels, in a film of that speed."""
    vectors = frames.arrow.copy()
    labels, captions = list(frames.arrow_label), list(frames.caption)
    for arrow in arrows:
        until = max(arrow.end, arrow.begin + SHOWN_S * speed)
        for i in np.flatnonzero((arrow.begin <= times) & (times < until)):
            if arrow.vector.any():
                vectors[i], labels[i] = arrow.vector, arrow.label
            else:
                captions[i] += f"\n{arrow.label}"
    return frames._replace(arrow=vectors, arrow_label=np.array(labels), caption=np.array(captions))


def _by_script(begin: float, end: float, event: Perturbation) -> Arrow:
    if isinstance(event, MotorBlock):
        return Arrow(begin, end, np.zeros(3), f"{begin:.2f} s: motors blocked")
    value, is_force = np.array(event.value), isinstance(event, BaseForce)
    scale, unit = (METRES_PER_FORCE, "N") if is_force else (METRES_PER_SPEED, "m/s")
    return Arrow(begin, end, _vector(value, scale), _label(begin, value, unit))


def _by_hand(time: float, push: Push) -> Arrow:
    unit = "m/s" if push.body == "base" else f"m/s, {push.body}"
    vector = _vector(push.velocity, METRES_PER_SPEED)
    return Arrow(time, time, vector, _label(time, push.velocity, unit))


def _vector(value: Array, scale: float) -> Array:
    size = float(np.linalg.norm(value))
    return value * (np.clip(scale * size, *LENGTHS) / size) if size else value


def _label(begin: float, value: Array, unit: str) -> str:
    return f"{begin:.2f} s: {np.linalg.norm(value):.3g} {unit}"
