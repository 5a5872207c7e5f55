"""Warp and its devices: imported when they are asked for, and quiet."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from sim_bridge.rollouts.unavailable import Unavailable

REMEDY = "install it with pip install 'saltus[gpu]'"
NO_DRIVER = b"Warp CUDA warning: Could not find or load"  # how the line begins; a CPU needs none


class WarpDevice(NamedTuple):
    """The two packages and one of Warp's devices.

    Attributes:
        warp, mjw: the modules `warp` and `mujoco_warp`; device: Warp's own object; name: in full.
    """

    warp: ModuleType
    mjw: ModuleType
    device: Any
    name: str


def open_device(wanted: str) -> WarpDevice:
    """The device named `wanted`; "auto" is the first CUDA device, the CPU where there is none.

    Raises:
        Unavailable: the packages are not installed, or there is no such device here.
    """
    try:
        import warp
    except ImportError as error:
        raise Unavailable(f"the package warp-lang is not installed; {REMEDY}") from error
    if warp.config.log_level == warp.LOG_INFO:  # as it comes, unless a user has set it
        warp.config.log_level = warp.LOG_WARNING
    with _without_driver_line():
        warp.init()
    try:
        import mujoco_warp
    except ImportError as error:
        raise Unavailable(f"the package mujoco-warp is not installed; {REMEDY}") from error
    device = _find(warp, wanted)
    return WarpDevice(warp, mujoco_warp, device, device.name if device.is_cuda else "cpu")


def _find(warp: ModuleType, wanted: str) -> Any:
    cuda = warp.get_cuda_devices()
    if wanted == "auto":
        return cuda[0] if cuda else warp.get_device("cpu")
    known = {device.alias: device for device in warp.get_devices()}
    if wanted not in known:
        driver = "" if cuda else " (no CUDA driver or no GPU)"
        raise Unavailable(
            f"Warp has no device {wanted!r} here{driver}; set warp.device to auto or one of"
            f" {', '.join(known)}"
        )
    return known[wanted]


@contextlib.contextmanager
def _without_driver_line() -> Iterator[None]:
    """Pass on what native code writes to stderr, less the line that says that no GPU is here.

    Warp's library writes it from C on every machine without a GPU, whatever its log level.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            caught.seek(0)
            for line in caught:
                if not line.startswith(NO_DRIVER):
                    os.write(2, line)
