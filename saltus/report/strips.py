"""Film strips and a film of chosen trials, rendered off-screen (Figs. 6.9 and 6.10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltus.configuration.planners import entry_of
from saltus.film.camera import View
from saltus.film.frames import Frames
from saltus.film.jobs import Job
from saltus.report.drawings import draw_pictures
from saltus.report.html import Html, note, section, tag
from saltus.report.lateral import since_event
from saltus.report.pictures import Panel, data_uri, side_by_side
from saltus.report.subject import Subject, TrialRecord

AROUND_S = (-0.05, 0.15, 0.3, 0.5, 0.8, 1.5)  # pictures before and after the perturbation [s]
AFTER_FALL_S = 0.3  # the last picture of a fall
PICTURE, FRAME = (320, 260), (400, 300)  # width, height [pixels]
FILM_S, FRAME_S = (-0.2, 2.0), 0.08  # part of a trial in the film, and time of a frame [s]
NEAREST, BACK_OFF, FURTHEST = 1.2, 0.6, 1.7  # distance of the camera [m], [m per m aside], [m]
FOLLOW = 0.3  # of the distance: how far to the side the robot goes before the camera goes along
CAPTION = (
    "Seen from behind, so that the robot's left is on the left, by a camera that goes forward with "
    "the robot, and to the side before the robot leaves the picture; the red line is the path "
    "commanded. "
)
OF_PUSHES = (
    "Times are since the perturbation began. "
    "The thesis's Fig. 6.9 shows a push of 1.5 m/s during the first step, after which HiLQR MPC "
    "came 0.3 m and Convex MPC 0.7 m to the side, its Fig. 6.10 blocked motors on the A1 itself."
)


def strips_section(
    subject: Subject, trials: Sequence[TrialRecord], filmed: TrialRecord | None
) -> Html:
    """The part of the page with pictures of the robot.

    Args:
        subject: of the report.
        trials: of which strips are drawn.
        filmed: of which a film is made; None for none.
    """
    title = "What it looked like"
    if not trials and filmed is None:
        return section(title, note("There is no trace of a trial to draw."))
    views = _view([*trials, *([filmed] if filmed else [])])
    jobs = [(_job(trial, f"strip{i}", PICTURE, views), _frames(trial, strip_times(trial)))
            for i, trial in enumerate(trials)]  # fmt: skip
    if filmed is not None:
        job = _job(filmed, "film", FRAME, views, "webp")
        jobs.append((job, _frames(filmed, film_times(filmed))))
    done = draw_pictures(jobs)
    figures = [_strip(subject, trial, done.pictures[f"strip{i}"]) for i, trial in enumerate(trials)
               if f"strip{i}" in done.pictures]  # fmt: skip
    if filmed is not None and "film" in done.pictures:
        figures.append(_film(subject, filmed, done.pictures["film"][0]))
    if done.failure:
        figures.append(note(f"Pictures are missing here: {done.failure}."))
    return section(title, note(_caption(trials)) if done.pictures else None, *figures)


def _job(
    trial: TrialRecord, name: str, size: tuple[int, int], views: View, ending: str = ""
) -> Job:
    seed = int(trial.row.get("seed") or 0)
    return Job(name, size, views, ending, 1.0 / FRAME_S, trial.robot, trial.terrain, seed)


def _caption(trials: Sequence[TrialRecord]) -> str:
    pushed = any(trial.trace and trial.trace.events for trial in trials)
    return CAPTION + (OF_PUSHES if pushed else "Times are since the start.")


def strip_times(trial: TrialRecord) -> list[float]:
    """Six instants of a trial [s]: around the perturbation, or spread over an undisturbed run."""
    assert trial.trace is not None
    first, last = float(trial.trace.time[0]), _last(trial)
    if not trial.trace.events:
        return [first + share * (last - first) for share in (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)]
    times = [trial.begin + offset for offset in AROUND_S]
    if times[-1] > last:  # a fall cuts it short: the pictures move together
        after = np.linspace(trial.begin, last, len(times))[1:]
        times = [times[0], *(float(time) for time in after)]
    return [max(time, first) for time in times]


def film_times(trial: TrialRecord) -> list[float]:
    """Instants of a film's frames [s]."""
    assert trial.trace is not None
    begin = trial.begin if trial.trace.events else float(trial.trace.time[0]) - FILM_S[0]
    last = min(begin + FILM_S[1], float(trial.trace.time[-1]))
    first = max(begin + FILM_S[0], float(trial.trace.time[0]))
    return [float(time) for time in np.arange(first, last, FRAME_S)]


def _last(trial: TrialRecord) -> float:
    assert trial.trace is not None
    end, fall = float(trial.trace.time[-1]), trial.fall_time
    return end if fall is None else min(end, fall + AFTER_FALL_S)


def _frames(trial: TrialRecord, times: Sequence[float]) -> Frames:
    """The robot at instants [s]."""
    assert trial.trace is not None
    index = np.searchsorted(trial.trace.time, np.array(times) - 1e-9)
    return Frames.plain(trial.trace.q[np.minimum(index, len(trial.trace.time) - 1)])


def _view(trials: Sequence[TrialRecord]) -> View:
    """One camera for all trials, so that their pictures can be compared."""
    sides = [np.abs(since_event(trial)[1]).max(initial=0.0) for trial in trials]
    distance = min(NEAREST + BACK_OFF * float(max(sides)), FURTHEST)
    return View(
        distance, 0.0, -22.0, follow=FOLLOW * distance, reference_path=True, quick=True
    )


def _strip(subject: Subject, trial: TrialRecord, pictures: Sequence[bytes]) -> Html:
    begin = trial.begin if trial.trace and trial.trace.events else 0.0
    panels = []
    for time, picture in zip(strip_times(trial), pictures, strict=False):
        label = f"{time - begin:+.2f} s"
        alt = f"The A1 under {entry_of(trial.planner).label} at {label}"
        panels.append(Panel(data_uri("image/webp", picture), alt, label))
    told = tag("span", tag("b", _title(subject, trial)), ". ", _end(trial))
    return side_by_side(panels, told, "strip")


def _film(subject: Subject, trial: TrialRecord, content: bytes) -> Html:
    alt = f"Film of the A1 under {entry_of(trial.planner).label}, trial {trial.row['trial']}"
    picture = tag("img", src=data_uri("image/webp", content), alt=alt, class_="film")
    told = f"Film: {_title(subject, trial)}, at normal speed."
    return tag("figure", picture, tag("figcaption", told))


def _title(subject: Subject, trial: TrialRecord) -> str:
    row = trial.row
    told = subject.conditions.of(row).words
    when = f" at {trial.begin:.2f} s" if trial.trace and trial.trace.events else ""
    return f"{entry_of(trial.planner).label}, trial {row['trial']} ({told}{when})"


def _end(trial: TrialRecord) -> str:
    fall = trial.fall_time
    if fall is not None:
        return f"Fell {fall - trial.begin:.2f} s after the perturbation."
    aside = "" if trial.is_driven else f", at most {trial.deviation:.2f} m to the side"
    return f"Stayed on its feet{aside}."
