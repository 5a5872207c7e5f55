"""The rocking block's infinitely many impacts in closed form (Halm and Posa, section 4.3).

The block turns about one corner as the pendulum (56), sticks with the other, and goes on about
that one with the fraction ``rate_ratio`` of its angular rate. The bounds (69), (70) are upper
bounds; the sums here are exact. The print has errors: docs/errata.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ellipkinc

from hybrid.systems import Array
from studies.halm_posa.systems.rocking_block import RockingBlock


class Accumulation(NamedTuple):
    """Where the impacts accumulate."""

    time: float  # t(s*) [s]
    s: float  # s* [s + N s], time and normal impulse added up


def frequency_squared(block: RockingBlock) -> float:
    """m g ||r|| / (I + m ||r||^2) of (56) [1/s^2]."""
    pivoted = block.inertia + block.mass * block.radius**2
    return block.mass * block.gravity * block.radius / pivoted


def rate_ratio(block: RockingBlock) -> float:
    """Angular rate after an impact over that before it, (68): 0.7 of a block of 1 m by 2 m.

    Of a uniform block (68) is (h^2 - w^2 / 2) / (w^2 + h^2).
    """
    r2 = block.mass * block.radius**2
    return (block.inertia - r2 * math.cos(2.0 * block.alpha)) / (block.inertia + r2)


def apex(block: RockingBlock, rate: float) -> float:
    """Largest angle theta* [rad] of a half cycle that starts with an angular rate [rad/s], (57).

    Raises:
        ValueError: the block tips over.
    """
    height = rate**2 / (2.0 * frequency_squared(block)) + math.sin(block.alpha)
    if not height < 1.0:
        raise ValueError(
            f"rocking block: at {rate} rad/s it tips over its corner; start below"
            f" {math.sqrt(2.0 * frequency_squared(block) * (1.0 - math.sin(block.alpha))):.4g}"
        )
    return math.asin(height) - block.alpha


def check_rocks(block: RockingBlock, rate: float) -> None:
    """Refuse a block that does not go from corner to corner.

    Raises:
        ValueError: it tips over at that angular rate [rad/s], or is so wide that it stays flat
            after its first impact.
    """
    apex(block, rate)
    if not rate_ratio(block) > 0.0:
        raise ValueError(
            f"rocking block: {block.width} m by {block.height} m stays flat after its first impact,"
            " by (68); give a width below sqrt(2) times the height"
        )


def half_cycle_time(block: RockingBlock, rate: float) -> float:
    """Time t_1 [s] from an impact that leaves an angular rate [rad/s] to the next.

    (56) is a hanging pendulum seen from below, at gamma = theta + alpha + pi / 2: it leaves gamma_0
    towards its amplitude and returns, T = 2 (K(k) - F(phi_0, k)) / f with sin(phi_0) =
    sin(gamma_0 / 2) / k. The difference of the elliptic integrals is one integral F(psi, k), where
    tan(psi) tan(phi_0) = 1 / k', which loses no digits as the rate vanishes.

    Raises:
        ValueError: the block tips over.
    """
    apex(block, rate)
    f = math.sqrt(frequency_squared(block))
    half = 0.5 * (block.alpha + 0.5 * math.pi)  # gamma_0 / 2
    turned = 0.5 * rate / f  # k^2 = sin^2(gamma_0 / 2) + turned^2
    k_complement = math.sqrt(math.cos(half) ** 2 - turned**2)
    psi = math.atan2(turned, k_complement * math.sin(half))
    return 2.0 * float(ellipkinc(psi, 1.0 - k_complement**2)) / f


def half_cycle_s(block: RockingBlock, rate: float) -> float:
    """Length in s [s + N s] of a half cycle and the impact that ends it, by (63) and (66).

    The vertical momentum goes from m (w / 2) theta' to the fraction (68) of it, so the impulses
    of the ground add up to m g T less what is lost.
    """
    T = half_cycle_time(block, rate)
    lost = block.mass * 0.5 * block.width * (1.0 - rate_ratio(block)) * rate
    return T + block.mass * block.gravity * T - lost


def rates(block: RockingBlock, rate: float, count: int) -> Array:
    """Angular rates (count,) at the start of each half cycle [rad/s], without their signs."""
    return np.array([rate * rate_ratio(block) ** i for i in range(count)])


def accumulation(block: RockingBlock, rate: float, count: int = 200) -> Accumulation:
    """The sums of ``count`` half cycles in t and in s, in place of the bounds (69), (70).

    What is left after them is smaller than their last term times ratio / (1 - ratio). In s the
    lost momentum telescopes: s* = (1 + m g) t* - m (w / 2) theta'_0.

    Raises:
        ValueError: as ``check_rocks``.
    """
    check_rocks(block, rate)
    starts = rates(block, rate, count)
    return Accumulation(
        math.fsum(half_cycle_time(block, w) for w in starts),
        math.fsum(half_cycle_s(block, w) for w in starts),
    )
