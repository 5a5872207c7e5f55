"""MuJoCo's functions, which compiled code calls without Python and its lock."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import mujoco
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import Signature
from numba.extending import intrinsic


def mujoco_library() -> ctypes.CDLL:
    """The library that the `mujoco` package has loaded."""
    folder = Path(mujoco.__file__).parent
    return ctypes.CDLL(str(next(folder.glob("libmujoco*"))))


def address_of(name: str) -> int:
    """The address of a function of MuJoCo's, for `call`."""
    address = ctypes.cast(getattr(mujoco_library(), name), ctypes.c_void_p).value
    assert address is not None
    return address


def _call(_: Any, function: Any, arguments: Any) -> Any:
    """Call, in compiled code, a C function at an address; it returns nothing.

    Its arguments are a tuple of integers of 64 bits: numbers and addresses. To pass a `CFunction`
    instead takes 50 us.
    """

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        words = cgutils.unpack_tuple(builder, values[1], len(arguments))
        kind = ir.FunctionType(ir.VoidType(), [word.type for word in words])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), words)
        return context.get_dummy_value()

    return types.void(function, arguments), generate


call: Any = intrinsic(_call)


class CFunction(types.WrapperAddressProtocol):
    """A function of MuJoCo's as an argument of compiled functions."""

    def __init__(self, name: str, signature: Signature) -> None:
        """Look `name` up; `signature` is numba's."""
        self._address, self._signature = address_of(name), signature

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Signature:
        """Numba's signature."""
        return self._signature


def stop_stage_timers() -> None:
    """Let MuJoCo stop reading the clock twenty times a step (7% of it); nobody reads the timers.

    Its Python package installs the clock for the whole process and has no call that removes it.
    """
    ctypes.c_void_p.in_dll(mujoco_library(), "mjcb_time").value = None


# void mj_step(const mjModel* m, mjData* d), the two given as addresses
MJ_STEP = CFunction("mj_step", types.void(types.intp, types.intp))

# void mjd_transitionFD(const mjModel* m, mjData* d, mjtNum eps, mjtByte centered,
#                       mjtNum* A, mjtNum* B, mjtNum* C, mjtNum* D), all pointers as addresses
MJD_TRANSITION_FD = CFunction(
    "mjd_transitionFD",
    types.void(
        types.intp, types.intp, types.float64, types.uint8,
        types.intp, types.intp, types.intp, types.intp,
    ),
)  # fmt: skip
