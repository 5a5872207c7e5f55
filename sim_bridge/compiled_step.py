"""MuJoCo's functions, which compiled code calls without Python and its lock."""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from robots.mujoco_model import mujoco_library


def address_of(name: str) -> int:
    """The address of a function of MuJoCo's, for `call`."""
    address = ctypes.cast(getattr(mujoco_library(), name), ctypes.c_void_p).value
    assert address is not None
    return address


def _call(_: Any, function: Any, arguments: Any) -> Any:
    """Call, in compiled code, a C function at an address; it returns nothing.

    Its arguments are a tuple of floats and of integers of 64 bits: numbers and addresses. To pass a
    function to numba as such would take 50 us a call.
    """

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        words = cgutils.unpack_tuple(builder, values[1], len(arguments))
        kind = ir.FunctionType(ir.VoidType(), [word.type for word in words])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), words)
        return context.get_dummy_value()

    return types.void(function, arguments), generate


call: Any = intrinsic(_call)


def stop_stage_timers() -> None:
    """Let MuJoCo stop reading the clock twenty times a step (7% of it); nothing reads the timers.

    Its Python package installs the clock for the whole process and has no call that removes it.
    """
    ctypes.c_void_p.in_dll(mujoco_library(), "mjcb_time").value = None


MJ_STEP = address_of("mj_step")  # void mj_step(const mjModel* m, mjData* d)
# void mjd_transitionFD(const mjModel* m, mjData* d, mjtNum eps, mjtByte centered,
#                       mjtNum* A, mjtNum* B, mjtNum* C, mjtNum* D)
MJD_TRANSITION_FD = address_of("mjd_transitionFD")
# void mj_contactForce(const mjModel* m, const mjData* d, int id, mjtNum result[6])
MJ_CONTACT_FORCE = address_of("mj_contactForce")
