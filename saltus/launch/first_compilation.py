"""Compile before a launch what it needs, a process for each part, so that all cores compile."""

import hashlib
import os
import sys
import tempfile
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from saltus.common.children import Child
from saltus.common.code_version import code_version
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.kernel_cache import PACKAGES, marker_folder
from saltus.configuration.launch import LaunchConfig, write_config

POLL_S = 0.05


def ensure_compiled(config: LaunchConfig) -> None:
    """Fill the compiler's caches once for a planner, its rollouts, a filter, a robot and this code.

    Before all starts, for it takes longer than processes wait for each other; a process for each
    part, so that all cores compile.

    Raises:
        BadRequest: a part cannot be compiled.
    """
    marker = _marker(config)
    if marker.exists():
        return
    say("compiling (a minute or two, once)")
    _compile(config)
    with suppress(OSError):  # then the next launch looks again, which costs seconds
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()


def _compile(config: LaunchConfig) -> None:
    """Run a process for each part of the launch, all at once, and wait for them."""
    with tempfile.TemporaryDirectory(prefix="saltus-") as temporary:
        file = Path(temporary) / "launch.yaml"
        write_config(config, file)
        program = [sys.executable, "-m", "saltus.launch.warmup"]
        children = [
            Child(part, [*program, part, str(file), str(os.getpid())], file.with_name(part))
            for part in _parts_of(config)
        ]
        try:
            for child in children:
                child.start()
            while any(child.status is None for child in children):
                time.sleep(POLL_S)
            for child in children:
                if child.status:
                    raise BadRequest(f"the {child.name} cannot be compiled: {child.last_words()}")
        finally:
            for child in children:
                child.stop(0.0)


def _parts_of(config: LaunchConfig) -> list[str]:
    """The parts of a launch, those that take longest first."""
    parts = ["estimator", "planner", "tracker", "simulation"]
    if config.estimator_entry.compilation:
        parts.insert(1, "dynamics")  # of the filter
    if config.kind.bridged:
        parts.append("bridge")
    if config.kind.emulated:
        parts.append("emulator")
    return parts


def _marker(config: LaunchConfig) -> Path:
    """A file whose name changes with what is warmed, every source file, Python and compiler."""
    chosen = config.planner, config.estimator, config.rollout, config.robot, str(config.is_driven)
    code = code_version(tuple(f"{package}/**/*" for package in PACKAGES))
    seen = "\n".join((*chosen, sys.version, version("numba"), code))
    return marker_folder() / hashlib.sha256(seen.encode()).hexdigest()[:16]
