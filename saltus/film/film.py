"""Films a recorded run: reads it, has it drawn, and puts the film in its place."""

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.common.errors import BadRequest
from saltus.common.progress import RunProgress
from saltus.film.camera import View
from saltus.film.frames import Frames
from saltus.film.jobs import Job, draw
from saltus.film.pushes import arrows_of_run, draw_arrows
from saltus.film.recorded_motion import RecordedMotion, read_motion
from saltus.trace import config_of_run

MOST_FRAMES = {"mp4": 50_000, "gif": 2_000}  # a GIF's pictures are in memory at once
MOST_FRAMES_PER_SECOND = {"mp4": 240, "gif": 50}  # browsers show a faster GIF slowly
SIZES = (64, 3840)  # of a side [pixels]


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
