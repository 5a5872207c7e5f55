"""Random numbers by counter: a draw depends on its key and its number, not on who drew before.

So particles that are moved by several threads, or one after the other in Python, draw the same.
Keys are mixed by the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
"""

from __future__ import annotations

import numpy as np
from numba import njit

_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # odd, nearest to 2^64 over the golden ratio
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53
_TURN = 2.0 * np.pi


def python_subkey(key: np.uint64, number: int) -> np.uint64:
    """``subkey`` for Python, which would otherwise see a whole number of some type or other."""
    return np.uint64(subkey(key, number))


@njit("uint64(uint64, int64)", cache=True)
def subkey(key, number):
    """Another key, of the ``number``-th thing under this one."""
    z = key + np.uint64(number + 1) * _GAMMA
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@njit("float64(uint64, int64)", cache=True)
def uniform(key, number):
    """A number in (0, 1]."""
    return (np.float64(subkey(key, number) >> _11) + 1.0) * _UNIT


@njit("void(uint64, float64[::1])", cache=True)
def normals(key, out):
    """Fill ``out`` (n,) with independent draws of N(0, 1), in pairs (Box and Muller 1958)."""
    for i in range(0, len(out), 2):
        radius = np.sqrt(-2.0 * np.log(uniform(key, i)))
        angle = _TURN * uniform(key, i + 1)
        out[i] = radius * np.cos(angle)
        if i + 1 < len(out):
            out[i + 1] = radius * np.sin(angle)
