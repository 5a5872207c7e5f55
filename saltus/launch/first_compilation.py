"""Compile before launches what they need, a process for each part, so that all cores compile."""

import hashlib
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from saltus.common.children import Child
from saltus.common.code_version import code_version
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.kernel_cache import PACKAGES, marker_folder
from saltus.configuration.launch import LaunchConfig, write_config

POLL_S = 0.5


def ensure_compiled(*configs: LaunchConfig) -> None:
    """Fill the compiler's caches once for each planner, rollouts, filter, robot and this code.

    Before all starts, for it takes longer than processes wait for each other.

    Raises:
        BadRequest: a part cannot be compiled.
    """
    parts = {_marker(config, part): (config, part) for config in configs for part in _parts(config)}
    missing = {marker: chosen for marker, chosen in parts.items() if not marker.exists()}
    if not missing:
        return
    say("compiling (a minute or two, once)")
    _compile(list(missing.values()))
    with suppress(OSError):  # then the next launch looks again, which costs seconds
        marker_folder().mkdir(parents=True, exist_ok=True)
        for marker in missing:
            marker.touch()


def _compile(parts: Sequence[tuple[LaunchConfig, str]]) -> None:
    """Run a process for each part, as many at once as there are cores, and wait for them."""
    with tempfile.TemporaryDirectory(prefix="saltus-") as temporary:
        children = [_child(Path(temporary) / f"{n}", *each) for n, each in enumerate(parts)]
        waiting, running, cores = deque(children), list[Child](), len(os.sched_getaffinity(0))
        try:
            while waiting or running:
                while waiting and len(running) < cores:
                    running.append(waiting.popleft())
                    running[-1].start()
                time.sleep(POLL_S)
                running = [child for child in running if child.status is None]
            for child in children:
                if child.status:
                    raise BadRequest(f"the {child.name} cannot be compiled: {child.last_words()}")
        finally:
            for child in children:
                child.stop(0.0)


def _child(folder: Path, config: LaunchConfig, part: str) -> Child:
    """The process that compiles a part."""
    folder.mkdir()
    file = folder / "launch.yaml"
    write_config(config, file)
    program = [sys.executable, "-m", "saltus.launch.warmup", part, str(file), str(os.getpid())]
    return Child(part, program, folder / "log")


def _parts(config: LaunchConfig) -> list[str]:
    """The parts of a launch, those that take longest first."""
    parts = ["estimator", "planner", "tracker", "simulation"]
    if config.estimator_entry.compilation:
        parts.insert(1, "dynamics")  # of the filter
    if config.kind.bridged:
        parts.append("bridge")
    if config.kind.emulated:
        parts.append("emulator")
    return parts


def _marker(config: LaunchConfig, part: str) -> Path:
    """A file whose name changes with what is warmed, every source file, Python and compiler."""
    chosen = {
        "estimator": (config.estimator,), "dynamics": (config.estimator,),
        "planner": (config.planner, config.rollout, str(config.is_driven)),
    }.get(part, ())  # fmt: skip
    code = code_version(tuple(f"{package}/**/*" for package in PACKAGES))
    seen = "\n".join((part, *chosen, config.connection, sys.version, version("numba"), code))
    return marker_folder() / hashlib.sha256(seen.encode()).hexdigest()[:16]
