"""Contacts of the feet, the ground below them, and pushes.

Each foot is a chain of two modes. A foot in the air has the guard "height above the ground", a
standing one "normal force"; the predicted state gives the guard's value g and its deviation, so
the probability that it has been crossed is Phi(-g / deviation), and what that gained since the
last tick is the probability of a transition now. Bayes' rule with the likelihood of the measured
force in either mode then corrects it (thesis 7.2 asks for both).

A push can change the base velocity between two samples of the accelerometer. No inertial sensor
sees it; the feet that stand all contradict the velocity by the same vector. For a while they slip
before they hold, those with little load the longest.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from estimator.contacts import (
    contact_probability,
    feet_agree_on_jump,
    jump_is_open,
    learn_offset,
)
from estimator.options import SaltedOptions
from estimator.rows import FORCE_SENSOR
from estimator.salted.memory import (
    AGE,
    CROSSED,
    HELD,
    LEVEL,
    OFFSET,
    PROBABILITY,
    TRUST,
    VARIANCE,
    VELOCITY,
    Memory,
)
from robots.footprints import height_on, plane_of
from robots.legs import Legs, foot_positions_in_base
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, height_at, nearest_surface

FIRM = 0.5
"""Trust from which a foot holds firmly."""
DOUBT = 0.2
"""A mode changes only when its probability has fallen this far below one half."""
CERTAIN = 1e-4
"""Probabilities stay this far from 0 and 1, so that the sensors can still change them."""
LARGEST_EVIDENCE = 20.0
"""Largest likelihood ratio of one reading: the errors of two readings are alike."""
FOOTPRINT_TRUST = 0.5
"""Trust from which a foot leaves a footprint."""
UP = 2
SMALLEST_JUMP = 1e-6
"""Below this the feet tell no direction [m/s]."""
WITNESS_TRUST = 0.3
"""Trust from which a foot can be the one that follows the jump best."""
LEAST_SHARE = 0.02
JUMP_SCATTER, JUMP_PERSISTENCE, JUMP_NOISE = 0.3, 0.001, 10.0
"""As of the kinematic filters, `estimator.contacts`; the noise is horizontal."""
JUMP_SIDEWAYS = 0.2
"""Share of that noise across the jump's direction."""
STEEPEST_JUMP = 0.8
"""A jump is along the ground: its part upwards is smaller than so much of that along it."""
JUMP_SELECTION = 0.3
"""A foot that lags this far behind the best one is slipping [m/s]."""
LOAD_NOISE = 15.0
"""Noise of the predicted normal force at liftoff: width of liftoff's guard [N]."""
LARGEST_FORCE = 200.0
"""A standing foot's force is as likely to be anything up to this [N]."""
SURPRISE_RATE = 2.0
"""Touchdowns and liftoffs that no guard announces [1/s]."""


@njit(cache=True)
def update_modes(
    m: Memory, forces: Array, clearance: Array, deviation: Array, load: Array, dt: float,
    parameters: SaltedOptions,
) -> Array:  # fmt: skip
    """Advance the four modes by `dt` [s]: +1 where a foot touches down, -1 where it lifts off (4).

    forces (4) as measured [N], used where they are sound; clearance (4) of the feet's lowest points
    above the ground and its deviation (4) [m]; load (4) predicted on those that stand [N]. Writes
    all rows of `Memory.contact` but the times since touchdown of feet that touch down now, which
    `set_down` writes.
    """
    c, change, sound = m.contact, np.zeros(4), m.past.sound[FORCE_SENSOR:]
    learn_offset(forces, clearance - clearance.min(), dt, c[OFFSET])
    for i in range(4):
        standing = c[AGE, i] >= 0.0
        if standing:
            c[AGE, i] += dt
            crossed = _normal_cdf(-load[i] / LOAD_NOISE)
        else:
            crossed = _normal_cdf(-clearance[i] / deviation[i])
        # No sensor, no surprise: nothing would take it back.
        surprise_rate = SURPRISE_RATE if sound[i] else 0.0
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
    standing = _normal_cdf(force / width) / LARGEST_FORCE
    ratio = standing / max(in_air, 1e-12)
    return min(max(ratio, 1.0 / LARGEST_EVIDENCE), LARGEST_EVIDENCE)


@njit(cache=True)
def _corrected(p: float, ratio: float) -> float:
    return p * ratio / (p * ratio + 1.0 - p)


@njit(cache=True)
def _normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def is_level(ground: Ground) -> bool:
    """Whether the ground is a level floor of known height."""
    return bool(np.isfinite(ground.floor)) and not ground.centre.size and not ground.grid.size


@njit(cache=True)
def look_below(m: Memory, legs: Legs, ground: Ground) -> None:
    """Write footprints, and the plane of the ground at each foot, where the state has them.

    Of unknown ground it has the height of the footprints' plane, and is level.
    """
    feet = _feet(m, legs)
    for i in range(4):
        if m.contact[TRUST, i] > FOOTPRINT_TRUST:
            m.footprint[i] = feet[i] - legs.foot_radius * m.normal[i]
    if np.isnan(ground.floor):
        # Footprints on two steps lie on a plane that is neither of them: each foot stands level.
        plane = plane_of(m.footprint)
        for i in range(4):
            height, variance = height_on(plane, feet[i, 0], feet[i, 1])
            m.ground[LEVEL, i], m.ground[VARIANCE, i] = height, variance
        return
    for i in range(4):
        x, y, z = feet[i]
        distance, nx, ny, nz = nearest_surface(ground, x, y, z)
        m.normal[i] = nx, ny, nz
        m.ground[LEVEL, i] = nx * x + ny * y + nz * z - distance
        m.ground[VARIANCE, i] = 0.0


@njit(cache=True)
def stand_on(m: Memory, legs: Legs, ground: Ground) -> None:
    """Set the base so high that the lowest foot stands on the ground, z = 0 where it is unknown."""
    feet = _feet(m, legs)
    height = -np.inf
    for i in range(4):
        below = height_at(ground, feet[i, 0], feet[i, 1])
        m.footprint[i] = feet[i]
        m.footprint[i, 2] = 0.0 if np.isnan(below) else below
        height = max(height, m.footprint[i, 2] + legs.foot_radius - (feet[i, 2] - m.q[2]))
    m.q[2] = height


@njit(cache=True)
def _feet(m: Memory, legs: Legs) -> Array:
    """Centres of the feet (4, 3) [m]."""
    return m.q[:3] + foot_positions_in_base(legs, m.q[7:]) @ rotation_from_quaternion(m.q[3:7]).T


@njit(cache=True)
def watch_for_jump(
    m: Memory, residuals: Array, trust: Array, dt: float, parameters: SaltedOptions
) -> bool:
    """Free the horizontal velocity while a jump is under way; True meanwhile.

    residuals (4, 3): base velocity by each foot's own sensors less the state's, world axes [m/s];
    trust (4).
    The freedom is given before the tick is predicted: the velocity of the tick before has it too,
    so the accelerometer, which did not see the jump, does not deny it.
    """
    R = rotation_from_quaternion(m.q[3:7])
    block = m.P[VELOCITY : VELOCITY + 3, VELOCITY : VELOCITY + 3]
    variance = max(block[0, 0], block[1, 1], block[2, 2])
    noise = parameters.foot_velocity_noise
    agree = feet_agree_on_jump(residuals, trust, variance, noise, JUMP_SCATTER)
    x, y, z = trust @ residuals
    agree &= abs(z) < STEEPEST_JUMP * np.hypot(x, y)  # at a take-off feet slide, and spring back
    is_open = jump_is_open(m.jump, agree, dt, JUMP_PERSISTENCE)
    if not is_open or m.contact[AGE].max() < 0.0:
        m.jump[1] = 0.0
        return False
    if agree:
        m.jump[2:] = _direction(residuals, trust)
    along = m.jump[2:] @ R
    across = np.eye(3) - np.outer(R[2], R[2])
    sideways = JUMP_SIDEWAYS**2
    block += (
        JUMP_NOISE**2 * dt
        * ((1.0 - sideways) * np.outer(along, along) + sideways * across)
    )  # fmt: skip
    return True


@njit(cache=True)
def _direction(residuals: Array, trust: Array) -> Array:
    """Horizontal unit vector (3) of the feet's mean residual, world axes; zero without one."""
    mean = np.zeros(3)
    for i in range(4):
        mean[:2] += trust[i] * residuals[i, :2]
    size = np.sqrt((mean * mean).sum())
    return mean / size if size > SMALLEST_JUMP else mean


@njit(cache=True)
def followers(residuals: Array, trust: Array) -> Array:
    """Trust (4) that a jump leaves to each foot: less the further it lags behind, slipping."""
    share, mean = np.ones(4), np.zeros(3)
    for i in range(4):
        mean += trust[i] * residuals[i]
    size = np.sqrt((mean * mean).sum())
    if size < SMALLEST_JUMP:
        return share
    along = residuals @ (mean / size)
    top = -np.inf
    for i in range(4):
        if trust[i] > WITNESS_TRUST and along[i] > top:
            top = along[i]
    for i in range(4):
        lag = max(0.0, top - along[i]) / JUMP_SELECTION
        share[i] = max(LEAST_SHARE, np.exp(-lag * lag))
    return share
