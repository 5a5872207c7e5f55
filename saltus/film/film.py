"""The film of a recorded run, and the film strip that every recorded run leaves in its folder."""

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.progress import RunProgress
from saltus.film.drawing import Frames, Job, View, draw
from saltus.film.motion import RecordedMotion, arrows_of_run, draw_arrows, read_motion
from saltus.trace import config_of_run

MOST_FRAMES = {"mp4": 50_000, "gif": 2_000}  # a GIF's pictures are in memory at once
MOST_FRAMES_PER_SECOND = {"mp4": 240, "gif": 50}  # browsers show a faster GIF slowly
SIZES = (64, 3840)  # of a side [pixels]
STRIP = "film_strip.png"
PANEL = (480, 400)  # width, height [pixels]
AROUND_EVENT = (-0.1, 0.1, 0.3, 0.7, 2.0)  # panels before and after the first perturbation [s]


class FilmOptions(NamedTuple):
    """How a run is filmed.

    Attributes:
        view: where the camera stands.
        speed: simulated seconds in a second of the film.
        begin: first instant that is filmed [s].
        end: last one [s]; None for the end of the run.
        size: width and height [pixels].
        frames_per_second: of the film.
    """

    view: View
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


def make_film(run: Path, file: Path, options: FilmOptions) -> Film:
    """Film the recorded run in the folder ``run``; ``file`` is whole or as it was.

    Raises:
        BadRequest: an option is bad, there is nothing to film, ``file`` cannot be written, or
            pictures cannot be drawn here.
    """
    ending = _ending(file)
    _check(options, ending)
    motion = read_motion(run)
    times = _times(motion, options, MOST_FRAMES[ending])
    arrows = arrows_of_run(run, motion)
    frames = draw_arrows(_frames(motion, times, options.speed), times, arrows, options.speed)
    config = config_of_run(run)
    job = Job(
        "film", options.size, options.view, ending, options.frames_per_second, config.robot,
        config.terrain, config.simulation.seed,
    )  # fmt: skip
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".film-") as beside:
            with RunProgress(len(times), "frames") as progress:
                failure = draw(
                    [(job, frames)], Path(beside),
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


def _frames(motion: RecordedMotion, times: NDArray[np.float64], speed: float) -> Frames:
    """What the frames show, pushes apart."""
    pace = "" if speed == 1.0 else f"   {speed:g}x"
    source = "   estimate" if motion.estimated else ""
    captions = np.array([f"{time:.2f} s{pace}{source}" for time in times])
    plain = Frames.plain(motion.q_at(times), captions)
    return plain._replace(plan_path=motion.plan_path_at(times))


def leave_strip(folder: Path, duration: float, events: Sequence[float]) -> None:
    """Draw a film strip of a recorded run into its folder; where that fails, say why.

    Args:
        folder: of the run.
        duration: length of the run [s].
        events: times of perturbations [s]; the first one is shown.
    """
    times = np.array(panel_times(duration, events))
    captions = np.array([f"{time:.2f} s" for time in times])
    try:
        config = config_of_run(folder)
        frames = Frames.plain(read_motion(folder).q_at(times), captions)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".strip-") as beside:
            seed = config.simulation.seed
            job = Job(
                "strip", PANEL, View(), "png", robot=config.robot, terrain=config.terrain, seed=seed
            )
            failure = draw([(job, frames)], Path(beside))
            if not failure:
                (Path(beside) / "strip.png").replace(folder / STRIP)
    except (BadRequest, OSError) as error:
        failure = str(error)
    if failure:
        say(f"the film strip was not made: {failure}")


def panel_times(duration: float, events: Sequence[float]) -> list[float]:
    """Five instants [s]: around the first event, or spread over the run."""
    if events:
        return [min(max(events[0] + offset, 0.0), duration) for offset in AROUND_EVENT]
    return [duration * share for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
