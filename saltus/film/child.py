"""Draws pictures in a process of its own: ``python -m saltus.film.child DIR``, see `film.jobs`."""

import sys
from pathlib import Path

import msgspec
import numpy as np

from robots.robot import load_robot
from saltus.film.frames import Frames
from saltus.film.jobs import NO_ROOM, Job
from saltus.film.painter import Painter
from saltus.film.writers import WRITERS
from sim_bridge.ground import ground_of


def main(folder: Path) -> int:
    """Do the jobs of a folder, with a line on standard output for each picture."""
    try:
        for job in msgspec.msgpack.decode((folder / "jobs.msgpack").read_bytes(), type=list[Job]):
            _do(job, folder)
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        return NO_ROOM
    return 0


def _do(job: Job, folder: Path) -> None:
    with np.load(folder / f"{job.name}.npz") as file:
        frames = Frames(**file)
    painter = Painter(
        load_robot(job.robot), job.size, job.view, ground_of(job.terrain, seed=job.seed)
    )
    name = f"{job.name}.{job.ending}" if job.ending else job.name
    writer = WRITERS[job.ending](folder / name, job.frames_per_second)
    for frame in frames.each():
        writer.add(painter.draw(frame))
        print(flush=True)
    writer.close()
    painter.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
