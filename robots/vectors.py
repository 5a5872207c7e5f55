"""Vectors of three numbers as tuples, compiled: they stay in registers and are never allocated."""

from __future__ import annotations

from numba import njit

from robots.rotations import Array

Vector = tuple[float, float, float]


@njit(cache=True, inline="always")
def unit(i: int) -> Vector:
    """The i-th unit vector."""
    return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@njit(cache=True, inline="always")
def cross(a: Vector, b: Vector) -> Vector:
    """a x b of triples."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@njit(cache=True, inline="always")
def dot(a: Vector, b: Vector) -> float:
    """a . b of triples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, inline="always")
def plus(a: Vector, b: Vector) -> Vector:
    """a + b of triples."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(cache=True, inline="always")
def minus(a: Vector, b: Vector) -> Vector:
    """a - b of triples."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True, inline="always")
def times(s: float, a: Vector) -> Vector:
    """s a of a triple."""
    return s * a[0], s * a[1], s * a[2]


@njit(cache=True, inline="always")
def triple(a: Array) -> Vector:
    """The first three numbers of an array."""
    return a[0], a[1], a[2]


@njit(cache=True, inline="always")
def apply(matrix: Array, a: Vector) -> Vector:
    """matrix (3, 3) a."""
    return (
        matrix[0, 0] * a[0] + matrix[0, 1] * a[1] + matrix[0, 2] * a[2],
        matrix[1, 0] * a[0] + matrix[1, 1] * a[1] + matrix[1, 2] * a[2],
        matrix[2, 0] * a[0] + matrix[2, 1] * a[1] + matrix[2, 2] * a[2],
    )


@njit(cache=True, inline="always")
def apply_transposed(matrix: Array, a: Vector) -> Vector:
    """matrix' (3, 3) a."""
    return (
        matrix[0, 0] * a[0] + matrix[1, 0] * a[1] + matrix[2, 0] * a[2],
        matrix[0, 1] * a[0] + matrix[1, 1] * a[1] + matrix[2, 1] * a[2],
        matrix[0, 2] * a[0] + matrix[1, 2] * a[1] + matrix[2, 2] * a[2],
    )
