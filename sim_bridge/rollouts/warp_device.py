"""Warp and its devices: imported when they are asked for."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

from sim_bridge.rollouts.unavailable import Unavailable

REMEDY = "install it with pip install 'saltus[gpu]'"


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
    warp.init()  # without a GPU it says so on standard error
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
