"""Which of our functions numba has compiled in this process, and which only when time counted.

A compiled function takes on a signature when it is first called with new types. That costs seconds
where it is compiled, and milliseconds where it is loaded from the cache: both are too long for a
loop of 1 kHz.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saltus.common.kernel_cache import PACKAGES

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

LATE = "compiled_late"  # key of a report


def signature_counts() -> dict[Dispatcher, int]:
    """How many signatures each compiled function has that a module of our packages knows."""
    from numba.core.dispatcher import Dispatcher  # the core that is watched has loaded it

    modules = [
        module for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PACKAGES and isinstance(module, ModuleType)
    ]  # fmt: skip
    return {
        value: len(value.signatures)
        for module in modules for value in list(vars(module).values())
        if isinstance(value, Dispatcher)
    }  # fmt: skip


def compiled_since(before: Mapping[Dispatcher, int]) -> list[str]:
    """Names of the functions that have more signatures than `before`, in alphabetical order.

    A function of a module that was imported since has had none.
    """
    return sorted(
        f"{function.py_func.__module__}.{function.py_func.__qualname__}"
        for function, count in signature_counts().items()
        if count > before.get(function, 0)
    )


def watch(node: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a node that is warm; return its report, in which `compiled_late` names functions.

    Those are the ones of `compiled_since`; an empty list when all is well.
    """
    before = signature_counts()
    report = node()
    return report | {LATE: compiled_since(before)}
