"""Film strips of chosen trials, rendered off-screen (Figs. 6.9 and 6.10)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from saltus.film.drawing import Job, Picture, View, draw
from saltus.report.figures import Panel, data_uri, since_event
from saltus.report.reading import TrialRecord

AROUND_S = (-0.05, 0.15, 0.3, 0.5, 0.8, 1.5)  # pictures before and after the perturbation [s]
AFTER_FALL_S = 0.3  # the last picture of a fall
PICTURE = (320, 260)  # width, height [pixels]
NEAREST, BACK_OFF, FURTHEST = 1.2, 0.6, 1.7  # distance of the camera [m], [m per m aside], [m]
FOLLOW = 0.3  # of the distance: how far to the side the robot goes before the camera goes along


class Pictures(NamedTuple):
    """Pictures of a page.

    Attributes:
        strips: trials, and the panels of each.
        failure: why pictures are missing; empty where none is.
    """

    strips: list[tuple[TrialRecord, list[Panel]]]
    failure: str


def pictures(trials: Sequence[TrialRecord]) -> Pictures:
    """Strips of trials."""
    if not trials:
        return Pictures([], "")
    view = _view(trials)
    jobs = [_job(trial, f"strip{i}", view) for i, trial in enumerate(trials)]
    found, failure = draw_pictures(jobs)
    strips = [(trial, _strip(trial, found[f"strip{i}"]))
              for i, trial in enumerate(trials) if f"strip{i}" in found]  # fmt: skip
    return Pictures(strips, failure)


def draw_pictures(jobs: Sequence[Job]) -> tuple[dict[str, list[bytes]], str]:
    """Draw jobs of single pictures.

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


def _job(trial: TrialRecord, name: str, view: View) -> Job:
    """The robot at the instants of the strip."""
    assert trial.trace is not None
    index = np.searchsorted(trial.trace.time, np.array(strip_times(trial)) - 1e-9)
    q = trial.trace.q[np.minimum(index, len(trial.trace.time) - 1)]
    seed = trial.row.get("seed") or 0
    pictures = [Picture(each) for each in q]
    return Job(name, pictures, PICTURE, view, robot=trial.robot, terrain=trial.terrain, seed=seed)


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
