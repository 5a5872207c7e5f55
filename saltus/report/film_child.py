"""Draws film strips and films in a process of its own: ``python -m saltus.report.film_child DIR``.

For every job in ``DIR/jobs.json`` it reads ``NAME.npy``, configurations (n, 19), and writes
``NAME-0.webp``, ``NAME-1.webp`` ... or, for a film, the one animated ``NAME-0.webp``.
"""

import sys
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from saltus.rendering import Painter, View
from saltus.report.filming import Job

_QUALITY = 78  # of WebP, 0 to 100
_FILM_QUALITY = 55


def main(folder: Path) -> int:
    """Do the jobs of a folder, the finished ones staying whatever happens to the others."""
    for job in msgspec.json.decode((folder / "jobs.json").read_bytes(), type=list[Job]):
        painter = Painter(job.size, View(**job.view))
        pictures = [painter.draw(q) for q in np.load(folder / f"{job.name}.npy")]
        painter.close()
        files = [_film(pictures, job.frame_ms)] if job.frame_ms else map(_still, pictures)
        for number, content in enumerate(files):
            (folder / f"{job.name}-{number}.webp").write_bytes(content)
    return 0


def _still(picture: Image.Image) -> bytes:
    content = BytesIO()
    picture.save(content, "WEBP", quality=_QUALITY)
    return content.getvalue()


def _film(pictures: list[Image.Image], frame_ms: int) -> bytes:
    content = BytesIO()
    pictures[0].save(content, "WEBP", save_all=True, append_images=pictures[1:], loop=0,
                     duration=frame_ms, quality=_FILM_QUALITY)  # fmt: skip
    return content.getvalue()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
