"""Files that are written whole or not at all."""

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside ``path``, to write to: its file replaces ``path`` at the end, whole or never.

    Raises:
        OSError: it cannot be written, or ``path`` is a folder or a device; ``path`` is as it was.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no regular file, which could be replaced")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as beside:
        part = Path(beside) / path.name
        yield part
        part.replace(path)


def write_file(path: Path, content: bytes) -> Path:
    """Write a file: a reader sees the old one or the whole new one. Returns ``path``.

    Raises:
        OSError: as `replacing`.
    """
    with replacing(path) as part:
        part.write_bytes(content)
    return path
