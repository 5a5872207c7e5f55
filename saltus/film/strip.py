"""The film strip that every recorded run leaves in its folder."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.film.camera import View
from saltus.film.frames import Frames
from saltus.film.jobs import Job, draw
from saltus.film.recorded_motion import read_motion
from saltus.trace import config_of_run

STRIP = "film_strip.png"
PANEL = (480, 400)  # width, height [pixels]
AROUND_EVENT = (-0.1, 0.1, 0.3, 0.7, 2.0)  # panels before and after the first perturbation [s]


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
