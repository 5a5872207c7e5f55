"""Motion, plans and pushes of the robot of a recorded run."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robots.legs import Legs, foot_positions_in_base
from robots.rotations import rotation_from_quaternion
from runtime.checked import Array
from runtime.messages import PlanOutline
from saltus.common.console import RunProgress, say
from saltus.common.errors import BadRequest, refusing
from saltus.configuration.launch import TICK_S
from saltus.film.drawing import CAMERAS, Job, Picture, View, draw_file
from saltus.launch.assembly import make_script
from saltus.launch.recorded import RecordedRun
from sim_bridge.perturbations import BaseForce, MotorBlock

SHOWN_S = 0.6  # of the film: a push that is shorter is shown for so long [s]
METRES_PER_SPEED, METRES_PER_FORCE = 0.3, 0.004  # length of an arrow [m per m/s], [m per N]
LENGTHS = (0.12, 0.6)  # shortest and longest arrow [m]


def pictures_of(
    run: RecordedRun, times: Sequence[float] | Array, captions: Sequence[str]
) -> list[Picture]:
    """Pictures of a run at times (n,) since its first state [s], with the plans in force."""
    drawn: dict[int, tuple[Array, Array]] = {}  # path and footholds by plan
    pictures, legs = [], run.config.robot_model.legs
    for time, caption in zip(times, captions, strict=True):
        instant = run.at(float(time))
        plan, truth = instant.plan, instant.truth
        if instant.state is None:
            continue
        picture = Picture(instant.state.q, caption)
        if truth is not None:
            picture = picture._replace(force=truth.foot_force)
        if plan is not None and plan.status != "failed":
            if plan.id not in drawn:
                drawn[plan.id] = plan.states_q[:, :3], touchdowns(plan, legs)
            path, footholds = drawn[plan.id]
            picture = picture._replace(plan_path=path, footholds=footholds)
        pictures.append(picture)
    return pictures


def touchdowns(plan: PlanOutline, legs: Legs) -> Array:
    """Places where a plan sets feet down (M, 3) [m]."""
    places = []
    for knot, foot in np.argwhere(np.diff(plan.contacts, axis=0) > 0.0):
        q = plan.states_q[knot + 1]
        arm = foot_positions_in_base(legs, q[7:])[foot]
        places.append(q[:3] + rotation_from_quaternion(q[3:7]) @ arm)
    return np.reshape(places, (-1, 3))


class Arrow(NamedTuple):
    """Arrow of a push.

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


def arrows_of_run(run: RecordedRun) -> list[Arrow]:
    """The pushes of a run, by hand and by its script."""
    arrows = [
        _arrow(time, time, push.velocity, "m/s" + f", {push.body}" * (push.body != "base"))
        for time, push in run.pushes
    ]
    if run.config.kind.simulated:
        occurrences = make_script(run.config).occurrences(round(run.duration / TICK_S))
        for first, last, event in occurrences:
            begin, end = TICK_S * first, TICK_S * last
            if isinstance(event, MotorBlock):
                label = f"{begin:.2f} s: motors blocked"
                arrows.append(Arrow(begin, end, np.zeros(3), label))
            else:
                unit = "N" if isinstance(event, BaseForce) else "m/s"
                arrows.append(_arrow(begin, end, np.array(event.value), unit))
    return arrows


def draw_arrows(pictures: list[Picture], times: Array, arrows: list[Arrow], speed: float) -> None:
    """Add arrows and labels to pictures, of times (n,) [s], in a film of that speed."""
    for arrow in arrows:
        until = max(arrow.end, arrow.begin + SHOWN_S * speed)
        for i in np.flatnonzero((arrow.begin <= times) & (times < until)):
            shown, label = pictures[i], arrow.label
            if arrow.vector.any():
                pictures[i] = shown._replace(arrow=arrow.vector, arrow_label=label)
            else:
                pictures[i] = shown._replace(caption=f"{shown.caption}\n{label}")


def _arrow(begin: float, end: float, value: Array, unit: str) -> Arrow:
    """The arrow of a push by a velocity or a force (3)."""
    size = float(np.linalg.norm(value))
    scale = METRES_PER_FORCE if unit == "N" else METRES_PER_SPEED
    vector = value * (np.clip(scale * size, *LENGTHS) / size) if size else value
    return Arrow(begin, end, vector, f"{begin:.2f} s: {size:.3g} {unit}")


MOST_FRAMES = {"mp4": 50_000, "gif": 2_000}  # a GIF's pictures are in memory at once
MOST_FRAMES_PER_SECOND = {"mp4": 240, "gif": 50}  # browsers show a faster GIF slowly
SIZES = (64, 3840)  # of a side [pixels]
STRIP = "film_strip.png"
PANEL = (480, 400)  # width, height [pixels]
AROUND_EVENT = (-0.1, 0.1, 0.3, 0.7, 2.0)  # panels before and after the first perturbation [s]


class Film(NamedTuple):
    """A film: its file, number of frames, length [s], size [bytes]."""

    file: Path
    frames: int
    seconds: float
    bytes: int


def make_film(
    runs: Sequence[Path], file: Path, view: View | None, speed: float,
    span: tuple[float, float | None], size: tuple[int, int], rate: int,
) -> Film:  # fmt: skip
    """Film recorded runs side by side; ``file`` is whole or as it was.

    A run that ended earlier stands still.

    Args:
        runs: from left to right.
        file: of the film.
        view: where the camera stands; None: behind where a push goes aside, else at the side.
        speed: simulated seconds in a second of the film.
        span: first and last instant that are filmed [s]; None for the end of the run.
        size: width and height [pixels].
        rate: frames a second of the film.

    Raises:
        BadRequest: an option is bad, there is nothing to film, ``file`` cannot be written, or
            pictures cannot be drawn here.
    """
    ending = _ending(file)
    _check(size, rate, ending)
    found = [RecordedRun(run, every_ticks=1) for run in runs]
    longest = max(run.duration for run in found)
    times = _times(longest, span, speed / rate, MOST_FRAMES[ending])
    arrows = [arrows_of_run(run) for run in found]
    goes_aside = any(abs(x) < abs(y) for each in arrows for x, y, _ in (a.vector for a in each))
    view = view or CAMERAS["behind" if goes_aside else "side"]
    jobs = []
    pace = "" if speed == 1.0 else f"   {speed:g}x"
    for run, pushes in zip(found, arrows, strict=True):
        config = run.config
        name = f"{config.planner}   " * (len(runs) > 1)
        beside = pace + "   estimate" * run.estimated
        captions = [f"{name}{time:.2f} s{beside}" for time in times]
        shown = pictures_of(run, times, captions)
        draw_arrows(shown, times, pushes, speed)
        jobs.append(Job(
            "film", shown, size, view, ending, rate, config.robot, config.terrain,
            config.simulation.seed,
        ))  # fmt: skip
    job = jobs[0]._replace(beside=tuple(jobs[1:]))
    with refusing(f"{file}: cannot be written"):
        with RunProgress(len(times), "frames") as progress:
            failure = draw_file(
                job, file, lambda n: progress.show(n, f"{times[n - 1]:.2f} s of the run")
            )
    if failure:
        raise BadRequest(f"no film: {failure}")
    return Film(file, len(times), len(times) / rate, file.stat().st_size)


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


def _check(size: tuple[int, int], rate: int, ending: str) -> None:
    least, most = SIZES
    if not all(least <= side <= most and side % 2 == 0 for side in size):
        raise BadRequest(f"--size: sides are even numbers from {least} to {most} pixels")
    fastest = MOST_FRAMES_PER_SECOND[ending]
    if not 1 <= rate <= fastest:
        raise BadRequest(f"--fps {rate}: accepted for .{ending}: 1 to {fastest}")


def _times(duration: float, span: tuple[float, float | None], step: float, most: int) -> Array:
    """Instants of the frames (n,), a `step` apart [s]."""
    begin = max(span[0], 0.0)
    end = duration if span[1] is None else min(span[1], duration)
    if not begin < end:
        raise BadRequest(
            f"--from, --to: nothing lies between; the run has 0.00 to {duration:.2f} s"
        )
    count = max(1, round((end - begin) / step))
    if count > most:
        raise BadRequest(
            f"{count} frames are too many, at most {most}: film less (--from, --to) or faster "
            "(--speed), or name an .mp4"
        )
    return begin + step * np.arange(count, dtype=np.float64)


def leave_strip(folder: Path) -> None:
    """Draw a film strip of a recorded run into its folder; where that fails, say why."""
    try:
        run = RecordedRun(folder)
        times = panel_times(run.duration, [m.time for m in run.marks if m.kind == "push"])
        config, captions = run.config, [f"{time:.2f} s" for time in times]
        shown = pictures_of(run, times, captions)
        job = Job("strip", shown, PANEL, View(), robot=config.robot, terrain=config.terrain,
                  seed=config.simulation.seed)  # fmt: skip
        failure = draw_file(job, folder / STRIP)
    except (BadRequest, OSError) as error:
        failure = str(getattr(error, "strerror", None) or error)
    if failure:
        say(f"the film strip was not made: {failure}")


def panel_times(duration: float, events: Sequence[float]) -> list[float]:
    """Five instants [s]: around the first event, closer where the run ends, or spread over it."""
    if not events:
        return [duration * share for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    begin = min(events[0], duration)
    share = min(1.0, (duration - begin) / AROUND_EVENT[-1])
    return [max(begin + share * offset, 0.0) for offset in AROUND_EVENT]
