"""Pictures of the robot for a page."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from saltus.film.frames import Frames
from saltus.film.jobs import Job, draw


class Drawings(NamedTuple):
    """What has been drawn, and why not all of it (empty when all has)."""

    pictures: dict[str, list[bytes]]  # WebP files of each job
    failure: str


def draw_pictures(jobs: Sequence[tuple[Job, Frames]]) -> Drawings:
    """Draw jobs: single pictures, or films in WebP.

    Without graphics nothing is raised: what could be drawn is returned, with the reason.
    """
    if not jobs:
        return Drawings({}, "")
    with tempfile.TemporaryDirectory(prefix="saltus-film-") as temporary:
        folder = Path(temporary)
        failure = draw(jobs, folder)
        pictures = {job.name: _pictures(folder, job) for job, _ in jobs}
    return Drawings({name: files for name, files in pictures.items() if files}, failure)


def _pictures(folder: Path, job: Job) -> list[bytes]:
    if job.ending:
        files = list(folder.glob(f"{job.name}.{job.ending}"))
    else:
        stills = folder.glob(f"{job.name}-*.webp")
        files = sorted(stills, key=lambda path: int(path.stem.split("-")[-1]))
    return [path.read_bytes() for path in files]
