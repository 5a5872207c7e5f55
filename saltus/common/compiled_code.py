"""Folders of compiled functions, named by the sources that they are made of.

numba's own cache looks at the file of a function alone: it goes on with machine code that holds the
old state of a function in another file. Here a folder is named by a file and by all that it
imports, so that an edit of any of them leads to another folder, and all others stay in use.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from saltus import __version__
from saltus.common.files import cache_folder

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher


ROOT = Path(__file__).parents[2]
PACKAGES = ("saltation", "robots", "estimator", "controller", "sim_bridge", "hw_bridge")
FOLLOWED = (*PACKAGES, "runtime", "studies", "tests")
KEPT = 3  # folders of a file: as many states of its sources, so that one may go back and forth

_IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) )?import (\([^)]*\)|.*)", re.MULTILINE)


class SourcesLocator:
    """Tells numba where to keep a function of ours; other functions are left to numba's own ways.

    numba makes it by `from_function`, because `NUMBA_CACHE_LOCATOR_CLASSES` names it.
    """

    def __init__(self, py_file: str, line: int) -> None:
        """A function that begins in this line of this file."""
        self._py_file, self._line = py_file, line  # numba reads the first one

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> Self | None:
        """The locator of a function; None where it is not ours, or nothing can be kept."""
        ours = Path(py_file).is_relative_to(ROOT) and _first(module_name(py_file)) in FOLLOWED
        if not ours or not _can_be_written():
            return None
        return cls(py_file, py_func.__code__.co_firstlineno)

    def ensure_cache_path(self) -> None:
        """Make the folder, before the first function is kept in it; older ones go."""
        folder = folder_of(self._py_file)
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            forget_old(folder)

    def get_cache_path(self) -> str:
        """The folder."""
        return str(folder_of(self._py_file))

    def get_source_stamp(self) -> str:
        """The folder's name says it all."""
        return folder_of(self._py_file).name

    def get_disambiguator(self) -> str:
        """Tells functions of the same name apart."""
        return str(self._line)


def kernel_folder() -> Path:
    """Folder of everything compiled: the checkout's own, or the user's, or numba's.

    Not in a checkout of another user: what cannot be written there is compiled at each start.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    own = ROOT / ".kernels"
    is_ours = os.access(own if own.exists() else ROOT, os.W_OK)
    is_checkout = (ROOT / "pyproject.toml").is_file()
    return own if is_checkout and is_ours else cache_folder() / "kernels"


def marker_folder() -> Path:
    """Says what is compiled; goes as soon as anything compiled does."""
    return kernel_folder() / "compiled"


@cache
def folder_of(file: str) -> Path:
    """Folder of the functions of this file, so long as no source of theirs changes."""
    digest = hashlib.sha256()
    for path in sorted(sources(Path(file))):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return kernel_folder() / module_name(file) / digest.hexdigest()[:16]


def forget_old(folder: Path) -> None:
    """Remove all but the newest `KEPT` of the folders that belong to the same file."""
    with suppress(OSError):  # another process does the same
        old = sorted(folder.parent.iterdir(), key=lambda each: -each.stat().st_mtime)[KEPT:]
        if old:
            shutil.rmtree(marker_folder(), ignore_errors=True)
        for each in old:
            shutil.rmtree(each, ignore_errors=True)


def sources(file: Path) -> set[Path]:
    """A file, and what it imports of ours, directly or not."""
    found, open_ends = set[Path](), [file]
    while open_ends:
        path = open_ends.pop()
        if path not in found:
            found.add(path)
            open_ends.extend(imported(path))
    return found


@cache
def imported(file: Path, packages: tuple[str, ...] = FOLLOWED) -> frozenset[Path]:
    """The files of these packages that a file imports, anywhere in it."""
    return frozenset(
        path for name in _imported_names(file.read_text()) if _first(name) in packages
        for path in (ROOT / f"{name.replace('.', '/')}{end}" for end in (".py", "/__init__.py"))
        if path.is_file()
    )  # fmt: skip


def _imported_names(text: str) -> Iterator[str]:
    """Every name that may be a module's."""
    for module, names in _IMPORT.findall(text):
        for name in (words[0] for part in names.strip("()").split(",") if (words := part.split())):
            yield f"{module}.{name}" if module else name
        if module:
            yield module


@cache
def _can_be_written() -> bool:
    with suppress(OSError):
        kernel_folder().mkdir(parents=True, exist_ok=True)
    return kernel_folder().is_dir() and os.access(kernel_folder(), os.W_OK)


def module_name(file: str) -> str:
    """Such as ``robots.legs``."""
    return ".".join(Path(file).relative_to(ROOT).with_suffix("").parts)


def _first(name: str) -> str:
    return name.partition(".")[0]


ALL = tuple(f"{package}/**/*" for package in (*PACKAGES, "runtime", "saltus", "studies"))
# What decides a run in lock step: no bridge to a robot, no report page, no command.
LOCK_STEP = tuple(
    f"{package}/**/*"
    for package in (
        *(name for name in PACKAGES if name != "hw_bridge"), "runtime", "saltus/configuration",
        "saltus/launch", "saltus/metrics",
    )
)  # fmt: skip
SUFFIXES = (".py", ".xml", ".yaml")


@cache
def code_version(patterns: tuple[str, ...] = ALL) -> str:
    """Such as ``0.1.0+1a2b3c4d5e6f``; equal only where all sources and models are equal.

    Args:
        patterns: of the files that count, relative to the folder of the packages.
    """
    paths = {path for pattern in patterns for path in ROOT.glob(pattern)}
    digest = hashlib.sha256()
    for path in sorted(paths):
        if path.suffix in SUFFIXES:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def fingerprint(config: Any, code: str) -> str:
    """16 digits that change with the code, the physics engine and every option of a launch."""
    versions = (code, platform.machine(), version("mujoco"), version("numpy"))
    seen = "\n".join(versions).encode() + msgspec.json.encode(config)
    return hashlib.sha256(seen).hexdigest()[:16]


LATE = "compiled_late"  # key of a report


def signature_counts() -> dict[Dispatcher, int]:
    """Number of signatures of each compiled function that a module of our packages knows."""
    from numba.core.dispatcher import Dispatcher  # the core that is watched has loaded it

    modules = [
        module for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PACKAGES and isinstance(module, ModuleType)
    ]  # fmt: skip
    return {
        value: len(value.signatures)
        for module in modules for value in list(vars(module).values())
        if isinstance(value, Dispatcher)
    }  # fmt: skip


def compiled_since(before: Mapping[Dispatcher, int]) -> list[str]:
    """Names of the functions that have more signatures than `before`, in alphabetical order.

    A function of a module that was imported since has had none.
    """
    return sorted(
        f"{function.py_func.__module__}.{function.py_func.__qualname__}"
        for function, count in signature_counts().items()
        if count > before.get(function, 0)
    )


def watch(node: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a node that is warm; return its report, in which `compiled_late` names functions.

    Those are the ones of `compiled_since`; an empty list when all is well.
    """
    before = signature_counts()
    report = node()
    return report | {LATE: compiled_since(before)}
