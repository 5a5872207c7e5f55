"""Film strips of chosen trials, rendered off-screen (Figs. 6.9 and 6.10)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from saltus.film.drawing import Job, Picture, View, draw
from saltus.film.film import panel_times
from saltus.report.figures import Panel, data_uri, since_event
from saltus.report.reading import TrialRecord

AFTER_FALL_S = 0.3  # the last picture of a fall
PICTURE = (320, 260)  # width, height [pixels]
NEAREST, BACK_OFF, FURTHEST = 1.2, 0.6, 1.7  # distance of the camera [m], [m per m aside], [m]
FOLLOW = 0.3  # of the distance: how far to the side the robot goes before the camera goes along


class Pictures(NamedTuple):
    """Pictures of a page.

    Attributes:
        strips: trials, and the strip of each.
        failure: why pictures are missing; empty where none is.
    """

    strips: list[tuple[TrialRecord, Panel]]
    failure: str


def pictures(trials: Sequence[TrialRecord]) -> Pictures:
    """Strips of trials."""
    if not trials:
        return Pictures([], "")
    view = _view(trials)
    names = [f"strip{i}" for i in range(len(trials))]
    found, failure = draw_pictures(
        [_job(trial, name, view) for trial, name in zip(trials, names, strict=True)]
    )
    panels = [
        (trial, Panel(data_uri("image/webp", found[name]), f"{trial.label}, from left to right"))
        for trial, name in zip(trials, names, strict=True) if name in found
    ]  # fmt: skip
    return Pictures(panels, failure)


def draw_pictures(jobs: Sequence[Job]) -> tuple[dict[str, bytes], str]:
    """Draw jobs.

    Returns:
        The file of each job by its name, and why some are missing; empty where none is.
    """
    with tempfile.TemporaryDirectory(prefix="saltus-film-") as temporary:
        failure = draw(jobs, folder := Path(temporary))
        return {file.stem: file.read_bytes() for file in folder.glob("*.webp")}, failure


def strip_times(trial: TrialRecord) -> list[float]:
    """Instants of a trial [s]: around the perturbation, or spread over an undisturbed run."""
    assert trial.trace is not None
    last = float(trial.trace.time[-1])
    if trial.fall_time is not None:
        last = min(last, trial.fall_time + AFTER_FALL_S)
    return panel_times(last, [trial.begin] if trial.pushed else [])


def _job(trial: TrialRecord, name: str, view: View) -> Job:
    """The robot at the instants of the strip."""
    assert trial.trace is not None
    times, begin = strip_times(trial), trial.begin if trial.pushed else 0.0
    index = np.searchsorted(trial.trace.time, np.array(times) - 1e-9)
    q = trial.trace.q[np.minimum(index, len(trial.trace.time) - 1)]
    pictures = [Picture(each, f"{t - begin:+.2f} s") for each, t in zip(q, times, strict=True)]
    seed = trial.row.get("seed") or 0
    return Job(
        name, pictures, PICTURE, view, "webp", robot=trial.robot, terrain=trial.terrain, seed=seed
    )


def _view(trials: Sequence[TrialRecord]) -> View:
    """One camera for all trials, so that their pictures can be compared."""
    sides = [np.abs(since_event(trial)[1]).max(initial=0.0) for trial in trials]
    distance = min(NEAREST + BACK_OFF * float(max(sides)), FURTHEST)
    return View(distance, 0.0, -22.0, follow=FOLLOW * distance, reference_path=True, quick=True)
