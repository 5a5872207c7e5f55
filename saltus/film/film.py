"""How the robot of a recorded run moved, what it planned, and how it was pushed."""

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from robots.legs import Legs, foot_positions_in_base
from robots.robot import load_robot
from robots.rotations import rotation_from_quaternion
from runtime.messages import GroundTruth, Plan, Push, StateEstimate
from runtime.topics import GROUND_TRUTH, PLAN, PUSH, STATE_ESTIMATE
from saltus.common.console import RunProgress, say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S
from saltus.film.drawing import CAMERAS, Frames, Job, View, draw
from saltus.launch.assembly import make_script
from saltus.launch.trace import config_of_run
from saltus.recording.reading import StartAxes, messages_of_run
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
        footholds: (P, M, 3) where the plans set feet down [m]; NaN for none.
        force: (T, 4, 3) on the feet [N]; zero where they are estimates.
        pushes: by hand, and when [s].
    """

    time: Array
    q: Array
    estimated: bool
    plan_time: Array
    plan_paths: Array
    footholds: Array
    force: Array
    pushes: list[tuple[float, Push]]

    def frames(self, times: Array, captions: Sequence[str]) -> Frames:
        """Pictures at times (n,) [s]: the nearest states, and the newest plans that have begun."""
        middles = 0.5 * (self.time[1:] + self.time[:-1])
        nearest = np.searchsorted(middles, times)
        plain = Frames.plain(self.q[nearest], np.array(captions))
        plain = plain._replace(force=self.force[nearest])
        if not len(self.plan_time):
            return plain
        newest = np.maximum(np.searchsorted(self.plan_time, times, side="right") - 1, 0)
        return plain._replace(plan_path=self.plan_paths[newest], footholds=self.footholds[newest])


def read_motion(run: Path) -> RecordedMotion:
    """The motion of a run that ``saltus launch --record`` recorded.

    A recording that was cut off gives what it holds.

    Raises:
        BadRequest: there is no recording, no state in it, or another version recorded it.
    """
    try:
        config = config_of_run(run)
        reader, seen = _Reader(load_robot(config.robot).legs), StartAxes(config).to_local
    except BadRequest:
        reader, seen = _Reader(None), lambda message: message
    for _, message in messages_of_run(run, (GROUND_TRUTH, STATE_ESTIMATE, PLAN, PUSH)):
        reader.take(seen(message))
    if not (reader.truths or reader.estimates):
        raise BadRequest(f"{run}: no state of the robot in it: it is empty or was cut off")
    return reader.motion()


class _Reader:
    """Keeps the little of a recording that a film shows."""

    def __init__(self, legs: Legs | None) -> None:
        self._legs = legs  # None where no launch file says which robot it is
        self.truths: list[tuple[float, Array]] = []  # times by the launch's clock [s]
        self._forces: list[Array] = []
        self.estimates: list[tuple[float, Array]] = []  # until there is a true state
        self._plans: list[tuple[float, Array, Array]] = []
        self._pushes: list[tuple[float, Push]] = []
        self._tick_0 = 0.0  # when the first true state's tick 0 was [s]

    def take(self, message: GroundTruth | StateEstimate | Plan | Push) -> None:
        if isinstance(message, GroundTruth):
            if not self.truths:
                self._tick_0 = message.time - TICK_S * message.tick
            self.truths.append((message.time, message.q))
            self._forces.append(message.foot_force)
        elif isinstance(message, StateEstimate):
            if not self.truths and message.status != "starting":
                self.estimates.append((message.time, message.q))
        elif isinstance(message, Plan):
            # A copy, for the plan's states are large. Some recordings have knots of a few plans.
            if message.status != "failed" and len(message.states_q) > 1:
                path = message.states_q[:, :3].copy()
                self._plans.append((message.time, path, self._footholds(message)))
        elif self.truths:
            # Its own time is by the sender's clock.
            self._pushes.append((self.truths[-1][0], message))

    def _footholds(self, plan: Plan) -> Array:
        """Where a plan sets feet down (M, 3) [m]."""
        places = []
        for k, foot in np.argwhere(np.diff(plan.contacts, axis=0) > 0.0):
            if self._legs is not None:
                q = plan.states_q[k + 1]
                arm = foot_positions_in_base(self._legs, q[7:])[foot]
                places.append(q[:3] + rotation_from_quaternion(q[3:7]) @ arm)
        return np.reshape(places, (-1, 3))

    def motion(self) -> RecordedMotion:
        states = self.truths or self.estimates
        origin = self._tick_0 if self.truths else states[0][0]
        times = np.array([time for time, _ in states]) - origin
        order = np.argsort(times, kind="stable")
        began, paths, footholds = zip(*self._plans, strict=True) if self._plans else ((), (), ())
        force = np.array(self._forces)[order] if self.truths else np.zeros((len(times), 4, 3))
        return RecordedMotion(
            times[order], np.array([q for _, q in states])[order], not self.truths,
            np.array(began) - origin, _stacked(paths, "edge"),
            _stacked(footholds, "constant", constant_values=np.nan), force,
            [(time - origin, push) for time, push in self._pushes],
        )  # fmt: skip


def _stacked(parts: Sequence[Array], *how: Any, **options: Any) -> Array:
    """Arrays (k, 3) as one (P, K, 3), each lengthened as `np.pad` says."""
    most = max(map(len, parts), default=0)
    padded = [np.pad(each, ((0, most - len(each)), (0, 0)), *how, **options) for each in parts]
    return np.reshape(padded, (len(parts), most, 3))


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


MOST_FRAMES = {"mp4": 50_000, "gif": 2_000}  # a GIF's pictures are in memory at once
MOST_FRAMES_PER_SECOND = {"mp4": 240, "gif": 50}  # browsers show a faster GIF slowly
SIZES = (64, 3840)  # of a side [pixels]
STRIP = "film_strip.png"
PANEL = (480, 400)  # width, height [pixels]
AROUND_EVENT = (-0.1, 0.1, 0.3, 0.7, 2.0)  # panels before and after the first perturbation [s]


class FilmOptions(NamedTuple):
    """How a run is filmed.

    Attributes:
        view: where the camera stands; None: behind where a push goes aside, else at the side.
        speed: simulated seconds in a second of the film.
        begin: first instant that is filmed [s].
        end: last one [s]; None for the end of the run.
        size: width and height [pixels].
        frames_per_second: of the film.
    """

    view: View | None = None
    speed: float = 1.0
    begin: float = 0.0
    end: float | None = None
    size: tuple[int, int] = (960, 540)
    frames_per_second: int = 25


class Film(NamedTuple):
    """A film: its file, number of frames, length [s], size [bytes]."""

    file: Path
    frames: int
    seconds: float
    bytes: int


def make_film(runs: Sequence[Path], file: Path, options: FilmOptions) -> Film:
    """Film recorded runs side by side; ``file`` is whole or as it was.

    A run that ended earlier stands still.

    Raises:
        BadRequest: an option is bad, there is nothing to film, ``file`` cannot be written, or
            pictures cannot be drawn here.
    """
    ending = _ending(file)
    _check(options, ending)
    motions = [read_motion(run) for run in runs]
    longest = max(motions, key=lambda motion: motion.time[-1])
    times = _times(longest, options, MOST_FRAMES[ending])
    arrows = [arrows_of_run(run, motion) for run, motion in zip(runs, motions, strict=True)]
    goes_aside = any(abs(x) < abs(y) for each in arrows for x, y, _ in (a.vector for a in each))
    view = options.view or CAMERAS["behind" if goes_aside else "side"]
    jobs, frames = [], []
    for number, (run, motion, pushes) in enumerate(zip(runs, motions, arrows, strict=True)):
        config = config_of_run(run)
        name = f"{config.planner}   " if len(runs) > 1 else ""
        shown = motion.frames(times, _captions(motion, times, options.speed, name))
        frames.append(draw_arrows(shown, times, pushes, options.speed))
        jobs.append(Job(
            f"film-{number}" if number else "film", options.size, view, ending,
            options.frames_per_second, config.robot, config.terrain, config.simulation.seed,
        ))  # fmt: skip
    job = msgspec.structs.replace(jobs[0], beside=tuple(jobs[1:]))
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".film-") as beside:
            with RunProgress(len(times), "frames") as progress:
                failure = draw(
                    [(job, *frames)], Path(beside),
                    lambda n: progress.show(n, f"{times[n - 1]:.2f} s of the run"),
                )  # fmt: skip
            if failure:
                raise BadRequest(f"no film: {failure}")
            (Path(beside) / f"film.{ending}").replace(file)
    except OSError as error:
        raise BadRequest(f"{file}: cannot be written: {error.strerror or error}") from error
    seconds = len(times) / options.frames_per_second
    return Film(file, len(times), seconds, file.stat().st_size)


def _ending(file: Path) -> str:
    ending = file.suffix.lower().removeprefix(".")
    if ending not in MOST_FRAMES:
        accepted = " or ".join(f".{known}" for known in MOST_FRAMES)
        raise BadRequest(f"{file}: a film ends in {accepted}")
    if ending == "mp4" and find_spec("av") is None:
        raise BadRequest("H.264 needs PyAV: `pip install 'saltus[view]'`; a .gif needs nothing")
    if file.is_dir():
        raise BadRequest(f"{file}: is a folder; name a file")
    return ending


def _check(options: FilmOptions, ending: str) -> None:
    least, most = SIZES
    if not all(least <= side <= most and side % 2 == 0 for side in options.size):
        raise BadRequest(f"--size: sides are even numbers from {least} to {most} pixels")
    if not 0.001 <= options.speed <= 100.0:
        raise BadRequest(f"--speed {options.speed:g}: accepted: 0.001 to 100")
    fastest = MOST_FRAMES_PER_SECOND[ending]
    if not 1 <= options.frames_per_second <= fastest:
        raise BadRequest(
            f"--fps {options.frames_per_second}: accepted for .{ending}: 1 to {fastest}"
        )


def _times(motion: RecordedMotion, options: FilmOptions, most: int) -> NDArray[np.float64]:
    """Instants of the frames (n,) [s]."""
    first, last = float(motion.time[0]), float(motion.time[-1])
    begin = max(options.begin, first)
    end = last if options.end is None else min(options.end, last)
    if not begin < end:
        raise BadRequest(
            f"--from, --to: nothing lies between; the run has {first:.2f} to {last:.2f} s"
        )
    step = options.speed / options.frames_per_second
    count = max(1, round((end - begin) / step))
    if count > most:
        raise BadRequest(
            f"{count} frames are too many, at most {most}: film less (--from, --to) or faster "
            "(--speed), or name an .mp4"
        )
    return begin + step * np.arange(count, dtype=np.float64)


def _captions(motion: RecordedMotion, times: Array, speed: float, name: str) -> list[str]:
    """The text of each picture."""
    pace = "" if speed == 1.0 else f"   {speed:g}x"
    source = "   estimate" if motion.estimated else ""
    return [f"{name}{time:.2f} s{pace}{source}" for time in times]


def leave_strip(folder: Path, duration: float, events: Sequence[float]) -> None:
    """Draw a film strip of a recorded run into its folder; where that fails, say why.

    Args:
        folder: of the run.
        duration: length of the run [s].
        events: times of perturbations [s]; the first one is shown.
    """
    times = np.array(panel_times(duration, events))
    captions = [f"{time:.2f} s" for time in times]
    try:
        config = config_of_run(folder)
        frames = read_motion(folder).frames(times, captions)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".strip-") as beside:
            seed = config.simulation.seed
            job = Job(
                "strip", PANEL, View(), "png", robot=config.robot, terrain=config.terrain, seed=seed
            )
            failure = draw([(job, frames)], Path(beside))
            if not failure:
                (Path(beside) / "strip.png").replace(folder / STRIP)
    except (BadRequest, OSError) as error:
        failure = str(getattr(error, "strerror", None) or error)
    if failure:
        say(f"the film strip was not made: {failure}")


def panel_times(duration: float, events: Sequence[float]) -> list[float]:
    """Five instants [s]: around the first event, or spread over the run."""
    if events:
        return [min(max(events[0] + offset, 0.0), duration) for offset in AROUND_EVENT]
    return [duration * share for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
