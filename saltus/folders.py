"""Where launch and configuration files are, and what is kept from one run to the next."""

import os
from pathlib import Path

from saltus.errors import BadRequest

_SUFFIXES = (".yaml", ".yml")


def data_folder(name: str) -> Path:
    """The folder ``launch`` or ``config``: inside the wheel, or beside the packages."""
    packed = Path(__file__).parent / "data" / name
    return packed if packed.is_dir() else Path(__file__).parents[1] / name


def names_in(folder: str) -> str:
    """The names of the files in ``launch`` or ``config``, as a person reads them."""
    return ", ".join(sorted(file.stem for file in data_folder(folder).glob("*.yaml")))


def cache_folder() -> Path:
    """The user's own folder for what can be made again; it need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "saltus"


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
    path = Path(name_or_path)
    if is_file(path):
        return path
    if path.suffix not in _SUFFIXES and path.name == name_or_path:
        path = data_folder(folder) / f"{name_or_path}.yaml"
        if is_file(path):
            return path
    raise BadRequest(
        f"no {folder} file {name_or_path!r}: give the path of a YAML file or one of "
        f"{names_in(folder)}"
    )
