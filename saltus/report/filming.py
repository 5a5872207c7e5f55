"""Has pictures of the robot drawn by a child process: a graphics driver may crash."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

PATIENCE_S = 300.0  # for all pictures of a page


class Job(msgspec.Struct, frozen=True):
    """Pictures of one trial.

    Attributes:
        name: of its files; no two jobs share one.
        size: width and height of a picture [pixels].
        view: fields of `saltus.rendering.View`.
        frame_ms: of a film, how long a frame is shown [ms]; 0 for single pictures.
    """

    name: str
    size: tuple[int, int]
    view: dict[str, Any]
    frame_ms: int = 0


class Filmed(NamedTuple):
    """What the child has drawn, and why not all of it (empty when it has)."""

    pictures: dict[str, list[bytes]]  # WebP files of each job
    failure: str


def film(jobs: Sequence[tuple[Job, NDArray[np.float64]]]) -> Filmed:
    """Draw jobs, each with its configurations (n, 19).

    Without graphics nothing is raised: what could be drawn is returned, with the reason.
    """
    if not jobs:
        return Filmed({}, "")
    with tempfile.TemporaryDirectory(prefix="saltus-film-") as temporary:
        folder = Path(temporary)
        for job, qs in jobs:
            np.save(folder / f"{job.name}.npy", qs)
        (folder / "jobs.json").write_bytes(msgspec.json.encode([job for job, _ in jobs]))
        failure = _run(folder)
        pictures = {job.name: _pictures(folder, job.name) for job, _ in jobs}
    return Filmed({name: found for name, found in pictures.items() if found}, failure)


def _run(folder: Path) -> str:
    command = [sys.executable, "-m", "saltus.report.film_child", str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]


def _pictures(folder: Path, name: str) -> list[bytes]:
    files = sorted(folder.glob(f"{name}-*.webp"), key=lambda path: int(path.stem.split("-")[-1]))
    return [path.read_bytes() for path in files]
