"""Files that are whole or as they were, and the folders that Saltus reads and writes."""

import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from saltus.common.errors import BadRequest, did_you_mean, refusing


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


@cache
def read_table(beside: str, name: str) -> Any:
    """A table in YAML that stands beside a module, whose `__file__` is given."""
    return msgspec.yaml.decode(Path(beside).with_name(name).read_bytes())


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None where there is nothing, or half of it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError):  # of JSON, of UTF-8
        return None


_SUFFIXES = (".yaml", ".yml")


def data_folder(name: str) -> Path:
    """The folder ``launch`` or ``config``: inside the wheel, or beside the packages."""
    packed = Path(__file__).parents[1] / "data" / name
    return packed if packed.is_dir() else Path(__file__).parents[2] / name


def names_in(folder: str) -> str:
    """The names of the files in ``launch`` or ``config``, as a person reads them."""
    return ", ".join(sorted(file.stem for file in data_folder(folder).glob("*.yaml")))


def cache_folder() -> Path:
    """The user's own folder for what can be made again; it need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "saltus"


def state_folder() -> Path:
    """The user's own folder for what is remembered from one run to the next; it need not exist."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "saltus"


def keep_in_cache(path: Path, write: Callable[[Path], None], what: str) -> None:
    """Have ``write`` write a file that is whole or not there, also beside other writers.

    Args:
        path: of the file; its folder is made.
        write: writes to the path that it is given, of the same name in a folder beside.
        what: what messages begin with.

    Raises:
        BadRequest: the folder cannot be written.
    """
    with refusing(
        f"{what} cannot be kept", remedy="set XDG_CACHE_HOME to a folder that can be written"
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            write(part)


def new_run_folder(name: str) -> Path:
    """A folder below ``runs/`` that does not exist yet, of this name and the time."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (stem, *(f"{stem}-{number}" for number in range(2, 1000)))
    return next(path for each in names if not (path := Path("runs") / each).exists())


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that no file system takes is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def find_file(folder: str, name_or_path: str) -> Path:
    """The YAML file that a user named, by path or by its name in ``folder``.

    Raises:
        BadRequest: there is no such file; the message lists the names of ``folder``.
    """
    path, names = Path(name_or_path), names_in(folder)
    own = data_folder(folder) / f"{name_or_path}.yaml"
    if is_file(path):
        return path
    if path.suffix not in _SUFFIXES and path.name == name_or_path and is_file(own):
        return own
    with suppress(OSError, ValueError):  # a name that no file system takes
        if path.is_dir():
            resolved = path / f"{folder}.yaml"  # of a run
            inside = str(resolved) if is_file(resolved) else "the path of a YAML file"
            raise BadRequest(f"{name_or_path} is a folder; give {inside} or one of {names}")
    meant = did_you_mean(name_or_path, names.split(", "))
    raise BadRequest(
        f"no {folder} file {name_or_path!r}{meant}; give the path of a YAML file or one of {names}"
    )
