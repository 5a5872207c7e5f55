"""Which code made a result: the release and a hash of every source file."""

import hashlib
from functools import cache
from pathlib import Path

from saltus import __version__

PACKAGES = ("hybrid", "runtime", "robots", "estimator", "controller", "sim_bridge", "saltus")
SUFFIXES = (".py", ".xml")


@cache
def code_version() -> str:
    """Such as ``0.1.0+1a2b3c4d5e6f``; equal only where all sources and models are equal."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.suffix in SUFFIXES:
                digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"
