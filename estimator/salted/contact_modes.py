"""Which feet stand: the probability that a guard was crossed, corrected by the force sensors.

Each foot is a chain of two modes. A foot in the air has the guard "height above the ground", a
standing one "normal force"; the predicted state gives the guard's value g and its deviation, so
the probability that it has been crossed is Phi(-g / deviation), and what that gained since the
last tick is the probability of a transition now. Bayes' rule with the likelihood of the measured
force in either mode then corrects it (thesis 7.2 asks for both).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.contact_trust import contact_probability, learn_offset
from estimator.salted.memory import AGE, CROSSED, HELD, OFFSET, PROBABILITY, TRUST, Memory
from estimator.salted.options import SaltedOptions
from robots.rotations import Array

FIRM = 0.5
"""Trust from which a foot holds firmly."""
DOUBT = 0.2
"""A mode changes only when its probability has fallen this far below one half."""
CERTAIN = 1e-4
"""No foot is nearer than this to certainty, so that the sensors can change the filter's mind."""
LARGEST_EVIDENCE = 20.0
"""Largest likelihood ratio of one reading: the errors of two readings are alike."""


@njit(cache=True)
def update_modes(
    m: Memory, forces: Array, sound: NDArray[np.bool_], clearance: Array, deviation: Array,
    load: Array, dt: float, parameters: SaltedOptions,
) -> Array:  # fmt: skip
    """Advance the four modes by `dt` [s]: +1 where a foot touches down, -1 where it lifts off (4).

    forces (4) as measured [N], used where `sound` (4); clearance (4) of the feet's lowest points
    above the ground and its deviation (4) [m]; load (4) predicted on those that stand [N]. Writes
    all rows of `Memory.contact` but the times since touchdown of feet that touch down now, which
    `set_down` writes.
    """
    c, change = m.contact, np.zeros(4)
    learn_offset(forces, clearance - clearance.min(), dt, c[OFFSET], parameters)
    for i in range(4):
        standing = c[AGE, i] >= 0.0
        if standing:
            c[AGE, i] += dt
            crossed = _normal_cdf(-load[i] / parameters.load_noise)
        else:
            crossed = _normal_cdf(-clearance[i] / deviation[i])
        # No sensor, no surprise: nothing would take it back.
        surprise_rate = parameters.surprise_rate if sound[i] else 0.0
        moved = _transition(c[CROSSED, i], crossed, dt, surprise_rate)
        c[CROSSED, i] = crossed
        p = c[PROBABILITY, i]
        p = p * (1.0 - moved) if standing else p + (1.0 - p) * moved
        force = forces[i] - c[OFFSET, i]
        if sound[i]:
            p = _corrected(p, _evidence(force, parameters))
        c[PROBABILITY, i] = min(max(p, CERTAIN), 1.0 - CERTAIN)
        doubt = DOUBT if sound[i] else 0.0
        if standing != (p > (0.5 - doubt if standing else 0.5 + doubt)):
            change[i] = -1.0 if standing else 1.0
            if not sound[i]:  # the guard alone has decided
                c[PROBABILITY, i] = CERTAIN if standing else 1.0 - CERTAIN
        grip = contact_probability(force, True, parameters) if sound[i] else 1.0
        c[TRUST, i] = p * grip if standing else 0.0
        c[HELD, i] = c[HELD, i] + dt if c[TRUST, i] > FIRM else 0.0
    return change


@njit(cache=True)
def set_down(m: Memory, foot: int) -> None:
    """A foot's mode becomes standing."""
    m.contact[AGE, foot], m.contact[CROSSED, foot] = 0.0, 0.0


@njit(cache=True)
def lift_off(m: Memory, foot: int) -> None:
    """A foot's mode becomes swinging; the flow is continuous there, so nothing else changes."""
    m.contact[AGE, foot], m.contact[CROSSED, foot] = -1.0, 0.5
    m.contact[TRUST, foot] = 0.0


@njit(cache=True)
def _transition(before: float, now: float, dt: float, surprise_rate: float) -> float:
    """Probability that a guard was crossed within the tick, given that it had not been before."""
    gained = max(0.0, now - before) / max(1.0 - before, CERTAIN)
    return min(1.0, gained + surprise_rate * dt)


@njit(cache=True)
def _evidence(force: float, parameters: SaltedOptions) -> float:
    """Likelihood of a force [N] on a standing foot over that on one in the air.

    In the air it is the sensor's noise; standing it is anything from nothing to the largest force.
    """
    width = parameters.force_noise
    in_air = math.exp(-0.5 * (force / width) ** 2) / (width * math.sqrt(2.0 * math.pi))
    standing = _normal_cdf(force / width) / parameters.largest_force
    ratio = standing / max(in_air, 1e-12)
    return min(max(ratio, 1.0 / LARGEST_EVIDENCE), LARGEST_EVIDENCE)


@njit(cache=True)
def _corrected(p: float, ratio: float) -> float:
    return p * ratio / (p * ratio + 1.0 - p)


@njit(cache=True)
def _normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
