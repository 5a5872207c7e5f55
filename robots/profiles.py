"""Smooth motions between rest and rest, with their derivative."""

from __future__ import annotations

from typing import NamedTuple


class Profile(NamedTuple):
    """A function of s in [0, 1] at one place: its value, and its derivative by s."""

    value: float
    slope: float


def minimum_jerk(s: float) -> Profile:
    """From 0 to 1 with zero velocity and acceleration at both ends (Flash and Hogan 1985).

    10 s^3 - 15 s^4 + 6 s^5.
    """
    return Profile(s * s * s * (10.0 + s * (6.0 * s - 15.0)), 30.0 * s * s * (1.0 - s) ** 2)


def bump(s: float) -> Profile:
    """Up to height 1 at s = 1/2 and back, with zero velocity and acceleration at both ends.

    64 (s (1 - s))^3.
    """
    r = s * (1.0 - s)
    return Profile(64.0 * r**3, 192.0 * r * r * (1.0 - 2.0 * s))
