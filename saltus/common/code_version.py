"""Which code made a result: the release and a hash of every source file."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from saltus import __version__
from saltus.common.kernel_cache import PACKAGES

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
    root = Path(__file__).parents[2]
    paths = {path for pattern in patterns for path in root.glob(pattern)}
    digest = hashlib.sha256()
    for path in sorted(paths):
        if path.suffix in SUFFIXES:
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def fingerprint(config: Any, code: str) -> str:
    """16 digits that change with the code, the physics engine and every option of a launch."""
    versions = (code, platform.machine(), version("mujoco"), version("numpy"))
    seen = "\n".join(versions).encode() + msgspec.json.encode(config)
    return hashlib.sha256(seen).hexdigest()[:16]
