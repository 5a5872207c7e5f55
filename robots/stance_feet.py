"""Feet that stand: the rows that hold their centres still, in the base's axes, differentiated.

A leg's joints k turn about axes z_k through o_k; the foot's centre c and its motion in the base are

    J_k = dc/dq_k = z_k x (c - o_k),  H_jk = dJ_k/dq_j = z_j x J_k,  T_ijk = z_i x H_jk

for i <= j <= k from the trunk outwards, and H, T do not change with the order of their indices.
Seen from the world, in the axes of the base that moves with [u; w] and its derivative [u'; w'],

    velocity      u + w x c + J dq
    acceleration  u' + w' x c + J ddq + w x u + w x (w x c + 2 J dq) + dq' H dq
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.kinematic_tree import JointFrames
from robots.rotations import Array
from robots.vectors import Vector, apply, cross, dot, minus, plus, times, triple, unit

KNEE = 2  # the last joint of a leg of three


class StanceFeet(NamedTuple):
    """The n feet that stand.

    Attributes:
        feet: (n,) their numbers.
        jacobian: (18, 3 n) columns of J': rows of the feet's velocities by [u; w; dq].
        bend: (n, 3, 3, 3) H_jk of each leg [m].
        turn: (n, 3, 3) axes z_k of each leg.
    """

    feet: NDArray[np.int64]
    jacobian: Array
    bend: Array
    turn: Array


@njit(cache=True)
def stance_feet(frames: JointFrames, soles: Array, standing: Array) -> StanceFeet:
    """Find the rows of the feet that stand.

    Args:
        frames: of the joints.
        soles: (4, 3) centres of the feet's spheres in the bodies that carry them [m].
        standing: (4,), above 0.5 where a foot stands.
    """
    feet = np.flatnonzero(standing > 0.5)
    n = feet.shape[0]
    stance = StanceFeet(feet, np.zeros((18, 3 * n)), np.empty((n, 3, 3, 3)), np.empty((n, 3, 3)))
    _, jacobian, bend, turn = stance
    origins, axes, rotations = frames
    for s in range(n):
        first, own = 3 * feet[s], slice(3 * s, 3 * s + 3)
        arm = apply(rotations[first + KNEE + 1], triple(soles[feet[s]]))
        c = plus(triple(origins[first + KNEE]), arm)
        for x in range(3):
            jacobian[x, 3 * s + x], jacobian[3 + x, own] = 1.0, cross(unit(x), c)
        for k in range(3):
            z = triple(axes[first + k])
            J_k = cross(z, minus(c, triple(origins[first + k])))
            jacobian[6 + first + k, own], turn[s, k] = J_k, z
            for j in range(k + 1):
                bend[s, j, k] = bend[s, k, j] = cross(triple(turn[s, j]), J_k)
    return stance


@njit(cache=True, inline="always")
def _own(stance: StanceFeet, s: int, k: int) -> Vector:
    """J_k of the leg of the foot that is the s-th to stand."""
    return triple(stance.jacobian[6 + 3 * stance.feet[s] + k, 3 * s :])


@njit(cache=True, inline="always")
def _bent(bend: Array, k: int, rates: Vector) -> Vector:
    """Sum over j of H_jk (3, 3, 3) rates_j."""
    total = times(rates[0], triple(bend[0, k]))
    total = plus(total, times(rates[1], triple(bend[1, k])))
    return plus(total, times(rates[2], triple(bend[2, k])))


@njit(cache=True)
def drift(stance: StanceFeet, v: Array, out: Array) -> None:
    """Write what the acceleration (3 n, 1) of the feet is at v' = 0, at the velocity v (18)."""
    u, w = triple(v), triple(v[3:])
    for s in range(stance.feet.shape[0]):
        rates = triple(v[6 + 3 * stance.feet[s] :])
        moved, bent = _relative(stance, s, w, rates), (0.0, 0.0, 0.0)
        for k in range(3):
            bent = plus(bent, times(rates[k], _bent(stance.bend[s], k, rates)))
        out[3 * s : 3 * s + 3, 0] = plus(plus(cross(w, u), cross(w, moved)), bent)


@njit(cache=True, inline="always")
def _relative(stance: StanceFeet, s: int, w: Vector, rates: Vector) -> Vector:
    """w x c + 2 J dq; the Jacobian's rows of w hold e x c."""
    moved = (0.0, 0.0, 0.0)
    for i in range(3):
        moved = plus(moved, times(w[i], triple(stance.jacobian[3 + i, 3 * s :])))
        moved = plus(moved, times(2.0 * rates[i], _own(stance, s, i)))
    return moved


@njit(cache=True)
def differentiate_acceleration(
    stance: StanceFeet, v: Array, a: Array, by_q: Array, by_v: Array
) -> None:
    """Write the derivatives of the feet's acceleration by q and v, each (3 n, 18).

    Args:
        stance: the feet.
        v, a: (18,) velocity and its derivative.
        by_q, by_v: filled; q in the local tangent.
    """
    u, w, beta = triple(v), triple(v[3:]), triple(a[3:])
    by_q[:] = 0.0
    by_v[:] = 0.0
    for s in range(stance.feet.shape[0]):
        leg, own = 6 + 3 * stance.feet[s], slice(3 * s, 3 * s + 3)
        rates, push = triple(v[leg:]), triple(a[leg:])
        bend, moved = stance.bend[s], plus(u, _relative(stance, s, w, rates))
        for k in range(3):
            J_k, turned, lever = _own(stance, s, k), _bent(bend, k, rates), unit(k)
            slide = times(2.0, plus(cross(w, J_k), turned))
            bent = plus(_bent(bend, k, push), _bent_twice(stance, s, k, rates))
            inner = plus(cross(w, J_k), times(2.0, turned))
            roll = plus(cross(lever, moved), cross(w, triple(stance.jacobian[3 + k, 3 * s :])))
            by_q[own, leg + k] = plus(plus(cross(beta, J_k), cross(w, inner)), bent)
            by_v[own, leg + k], by_v[own, k], by_v[own, 3 + k] = slide, cross(w, lever), roll


@njit(cache=True, inline="always")
def _bent_twice(stance: StanceFeet, s: int, k: int, rates: Vector) -> Vector:
    """Sum over i, j of T_ijk rates_i rates_j."""
    total = (0.0, 0.0, 0.0)
    for i in range(3):
        for j in range(3):
            low, high = min(i, j, k), max(i, j, k)
            H = triple(stance.bend[s, i + j + k - low - high, high])
            total = plus(total, times(rates[i] * rates[j], cross(triple(stance.turn[s, low]), H)))
    return total


@njit(cache=True)
def differentiate_velocity(stance: StanceFeet, v: Array, by_q: Array) -> None:
    """Write the derivative (3 n, 18) of the feet's velocities by q; v (18,)."""
    w = triple(v[3:])
    by_q[:] = 0.0
    for s in range(stance.feet.shape[0]):
        leg = 6 + 3 * stance.feet[s]
        rates = triple(v[leg:])
        for k in range(3):
            total = plus(cross(w, _own(stance, s, k)), _bent(stance.bend[s], k, rates))
            by_q[3 * s : 3 * s + 3, leg + k] = total


@njit(cache=True)
def add_load(stance: StanceFeet, forces: Array, by_q: Array) -> None:
    """Add the derivative (18, 18) of J' f by q; forces (3 n, 1) f in the base's axes, fixed."""
    for s in range(stance.feet.shape[0]):
        leg, f = 6 + 3 * stance.feet[s], triple(forces[3 * s :, 0])
        for k in range(3):
            moment = cross(_own(stance, s, k), f)
            for i in range(3):
                by_q[3 + i, leg + k] += moment[i]
                by_q[leg + i, leg + k] += dot(triple(stance.bend[s, i, k]), f)
