"""Planners, estimators and studies of the user: in a module, or in a file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from saltus.common.errors import BadRequest


def load(place: str) -> Callable[..., Any]:
    """The function or class that ``MODULE:NAME`` or ``FILE.py:NAME`` says.

    Raises:
        BadRequest: it is not there, or what is there cannot be imported.
    """
    module_name, _, name = place.rpartition(":")
    module = load_module(module_name, place)
    if not hasattr(module, name):
        raise BadRequest(f"{place}: {module_name} has no {name}")
    return getattr(module, name)


def load_module(module: str, place: str) -> ModuleType:
    """The module of a name or of a ``FILE.py``.

    Raises:
        BadRequest: it cannot be imported; the message begins with `place`.
    """
    read = _from_file if module.endswith(".py") else importlib.import_module
    try:
        return read(module)
    except Exception as error:  # a file of the user's may raise anything
        raise BadRequest(f"{place}: {type(error).__name__}: {error}") from error


def _from_file(path: str) -> ModuleType:
    """The module of a file, loaded once; its name is made of the path."""
    file = Path(path).resolve()
    if not file.is_file():
        raise FileNotFoundError(f"no file {path}")
    name = f"saltus_plugin_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def source_of(place: str) -> bytes:
    """The file that a plug-in is in; empty for what Saltus has itself or what cannot be read."""
    path = Path(place.rpartition(":")[0])
    return path.read_bytes() if path.suffix == ".py" and path.is_file() else b""
