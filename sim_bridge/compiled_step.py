"""MuJoCo's step as a function that compiled code calls, without Python and its lock."""

from __future__ import annotations

import ctypes
from pathlib import Path

import mujoco
from numba import types
from numba.core.typing.templates import Signature


class CFunction(types.WrapperAddressProtocol):
    """A function of a C library as an argument of compiled functions."""

    def __init__(self, library: ctypes.CDLL, name: str, signature: Signature) -> None:
        """Look `name` up in the library; `signature` is numba's."""
        self._address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        self._signature = signature

    def __wrapper_address__(self) -> int:
        assert self._address is not None
        return self._address

    def signature(self) -> Signature:
        """Numba's signature."""
        return self._signature


def mujoco_library() -> ctypes.CDLL:
    """The library that the `mujoco` package has loaded."""
    folder = Path(mujoco.__file__).parent
    return ctypes.CDLL(str(next(folder.glob("libmujoco*"))))


def stop_stage_timers() -> None:
    """Let MuJoCo stop reading the clock twenty times a step (7% of it); nobody reads the timers.

    Its Python package installs the clock for the whole process and has no call that removes it.
    """
    ctypes.c_void_p.in_dll(mujoco_library(), "mjcb_time").value = None


# void mj_step(const mjModel* m, mjData* d), the two given as addresses
MJ_STEP = CFunction(mujoco_library(), "mj_step", types.void(types.intp, types.intp))

# void mjd_transitionFD(const mjModel* m, mjData* d, mjtNum eps, mjtByte centered,
#                       mjtNum* A, mjtNum* B, mjtNum* C, mjtNum* D), all pointers as addresses
MJD_TRANSITION_FD = CFunction(
    mujoco_library(),
    "mjd_transitionFD",
    types.void(
        types.intp, types.intp, types.float64, types.uint8,
        types.intp, types.intp, types.intp, types.intp,
    ),
)  # fmt: skip
