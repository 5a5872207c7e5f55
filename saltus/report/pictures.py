"""Film strips and a film of chosen trials, rendered off-screen (Figs. 6.9 and 6.10)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from saltus.film.drawing import Frames, Job, View, draw
from saltus.report.figures import Panel, data_uri, since_event
from saltus.report.reading import TrialRecord

AROUND_S = (-0.05, 0.15, 0.3, 0.5, 0.8, 1.5)  # pictures before and after the perturbation [s]
AFTER_FALL_S = 0.3  # the last picture of a fall
PICTURE, FRAME = (320, 260), (400, 300)  # width, height [pixels]
FILM_S, FRAME_S = (-0.2, 2.0), 0.08  # part of a trial in the film, and time of a frame [s]
NEAREST, BACK_OFF, FURTHEST = 1.2, 0.6, 1.7  # distance of the camera [m], [m per m aside], [m]
FOLLOW = 0.3  # of the distance: how far to the side the robot goes before the camera goes along


class Pictures(NamedTuple):
    """Pictures of a page.

    Attributes:
        strips: trials, and the panels of each.
        film: the film's panel; None for none.
        failure: why pictures are missing; empty where none is.
    """

    strips: list[tuple[TrialRecord, list[Panel]]]
    film: Panel | None
    failure: str


def pictures(trials: Sequence[TrialRecord], filmed: TrialRecord | None) -> Pictures:
    """Strips of trials, and a film of one."""
    if not trials and filmed is None:
        return Pictures([], None, "")
    view = _view([*trials, *([filmed] if filmed else [])])
    jobs = [_job(trial, f"strip{i}", PICTURE, view, "", strip_times(trial))
            for i, trial in enumerate(trials)]  # fmt: skip
    if filmed is not None:
        jobs.append(_job(filmed, "film", FRAME, view, "webp", film_times(filmed)))
    found, failure = draw_pictures(jobs)
    strips = [(trial, _strip(trial, found[f"strip{i}"]))
              for i, trial in enumerate(trials) if f"strip{i}" in found]  # fmt: skip
    film = None
    if filmed is not None and "film" in found:
        film = Panel(data_uri("image/webp", found["film"][0]), f"Film of {filmed.label}")
    return Pictures(strips, film, failure)


def draw_pictures(jobs: Sequence[tuple[Job, Frames]]) -> tuple[dict[str, list[bytes]], str]:
    """Draw jobs: single pictures, or films in WebP.

    Returns:
        The files of each job by its name, and why some are missing; empty where none is.
    """
    found: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory(prefix="saltus-film-") as temporary:
        failure = draw(jobs, folder := Path(temporary))
        for file in sorted(folder.glob("*.webp"), key=lambda path: (len(path.name), path.name)):
            found.setdefault(file.stem.partition("-")[0], []).append(file.read_bytes())
    return found, failure


def strip_times(trial: TrialRecord) -> list[float]:
    """Six instants of a trial [s]: around the perturbation, or spread over an undisturbed run."""
    assert trial.trace is not None
    first, last = float(trial.trace.time[0]), float(trial.trace.time[-1])
    if trial.fall_time is not None:
        last = min(last, trial.fall_time + AFTER_FALL_S)
    if not trial.pushed:
        return [first + share * (last - first) for share in (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)]
    times = [trial.begin + offset for offset in AROUND_S]
    if times[-1] > last:  # a fall cuts it short: the pictures move together
        times[1:] = np.linspace(trial.begin, last, len(times))[1:].tolist()
    return [max(time, first) for time in times]


def film_times(trial: TrialRecord) -> list[float]:
    """Instants of a film's frames [s]."""
    assert trial.trace is not None
    time = trial.trace.time
    begin = trial.begin if trial.pushed else float(time[0]) - FILM_S[0]
    first, last = max(begin + FILM_S[0], float(time[0])), min(begin + FILM_S[1], float(time[-1]))
    return np.arange(first, last, FRAME_S).tolist()


def _job(
    trial: TrialRecord, name: str, size: tuple[int, int], view: View, ending: str,
    times: Sequence[float],
) -> tuple[Job, Frames]:  # fmt: skip
    """The robot at instants [s]."""
    assert trial.trace is not None
    seed = trial.row.get("seed") or 0
    index = np.searchsorted(trial.trace.time, np.array(times) - 1e-9)
    q = trial.trace.q[np.minimum(index, len(trial.trace.time) - 1)]
    job = Job(name, size, view, ending, 1.0 / FRAME_S, trial.robot, trial.terrain, seed)
    return job, Frames.plain(q)


def _view(trials: Sequence[TrialRecord]) -> View:
    """One camera for all trials, so that their pictures can be compared."""
    sides = [np.abs(since_event(trial)[1]).max(initial=0.0) for trial in trials]
    distance = min(NEAREST + BACK_OFF * float(max(sides)), FURTHEST)
    return View(distance, 0.0, -22.0, follow=FOLLOW * distance, reference_path=True, quick=True)


def _strip(trial: TrialRecord, found: Sequence[bytes]) -> list[Panel]:
    begin = trial.begin if trial.pushed else 0.0
    labels = [f"{time - begin:+.2f} s" for time in strip_times(trial)]
    return [
        Panel(data_uri("image/webp", each), f"{trial.entry.label} at {label}", label)
        for label, each in zip(labels, found, strict=False)
    ]
