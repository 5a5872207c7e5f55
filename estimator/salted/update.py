"""The parts of a tick beside the dynamics: what is done before and after they are asked."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.contact_trust import contact_probability
from estimator.health import layout as reading
from estimator.health.monitor import Health
from estimator.salted.contact_modes import set_down, update_modes
from estimator.salted.foot_rows import foot_rows
from estimator.salted.jumps import followers, watch_for_jump
from estimator.salted.layout import GYRO_BIAS, ROBOT, STATES
from estimator.salted.memory import HELD, LEVEL, OFFSET, TRUST, VARIANCE, Memory
from estimator.salted.options import SaltedOptions
from estimator.salted.prediction import start_covariance
from estimator.salted.scalar_update import mirror
from estimator.salted.sensor_rows import (
    take_accelerometer,
    take_encoders,
    take_gyroscope,
    take_orientation,
)
from estimator.salted.standing_rows import height_variances, take_standing_feet
from robots.legs import Legs, foot_positions_in_base
from robots.rotations import Array, rotation_from_quaternion
from robots.state import integrate

LARGEST_VARIANCE = 1e8
OFF_THE_LINE = 0.1
"""Standard deviation of the specific force between two readings from the line through them,
relative to their difference."""


@njit(cache=True)
def start(
    m: Memory, legs: Legs, row: Array, health: Health, place: Array, parameters: SaltedOptions
) -> None:
    """Stand at `place` (2) [m] as a reading's row (50) has it, the lowest foot on the ground."""
    m.q[:2] = place
    m.q[3:7] = row[:4] / np.sqrt((row[:4] * row[:4]).sum())
    m.q[7:] = row[reading.POSITION : reading.VELOCITY]
    R = rotation_from_quaternion(m.q[3:7])
    m.q[2] = legs.foot_radius - (foot_positions_in_base(legs, m.q[7:]) @ R[2]).min()
    m.v[:3] = 0.0
    m.v[3:6] = row[reading.GYRO : reading.ACCELERATION]
    m.v[6:] = row[reading.VELOCITY : reading.TORQUE]
    m.bias[:], m.previous[:], m.jump[:] = 0.0, 0.0, 0.0
    m.contact[:], m.contact[0] = 0.0, -1.0
    m.contact[1] = 0.5
    m.force[:] = parameters.gravity * R[2]
    start_covariance(m.P, parameters)
    hold_torques(m, row, health)


@njit(cache=True)
def hold_torques(m: Memory, row: Array, health: Health) -> None:
    """Keep the sound joint torques of a row; those that are not stay what they were."""
    for i in range(12):
        if health.joint_torque[i]:
            m.torque[i] = row[reading.TORQUE + i]


@njit(cache=True)
def before_prediction(
    m: Memory, legs: Legs, row: Array, health: Health, dt: float, parameters: SaltedOptions
) -> tuple[bool, Array]:
    """Take the torques in and watch for a jump: whether one is under way, and shares of trust (4).

    A foot's share is what this reading leaves of its trust: nothing where an encoder of the leg is
    at fault, less than one where the foot slips after a jump.
    """
    hold_torques(m, row, health)
    if health.accelerometer:
        m.force[:] = _force(row)
    share = _sound_legs(health)
    held = m.contact[HELD]
    trust = m.contact[TRUST] * share * np.minimum(1.0, held / parameters.settling_time)
    if held.max() < parameters.firm_time:
        trust[:] = 0.0
    for i in range(4):
        if health.foot_force[i]:
            force = row[reading.FORCE + i] - m.contact[OFFSET, i]
            trust[i] *= contact_probability(force, True, parameters)
    residuals = _by_own_sensors(m, legs, row, parameters)
    jumping = watch_for_jump(m, residuals, trust, dt, parameters)
    if jumping:
        share *= followers(residuals, trust, parameters)
    return jumping, share


@njit(cache=True)
def modes_after_prediction(
    m: Memory, legs: Legs, row: Array, health: Health, dt: float, parameters: SaltedOptions,
    load: Array,
) -> Array:  # fmt: skip
    """Feet that touch down (+1) and lift off (-1) at the predicted state (4); load (4) [N].

    A foot that comes down slowly is set down here: its impact changes next to nothing, and light
    feet do that often.
    """
    feet = foot_rows(legs, m.q, m.v, np.full(4, legs.foot_radius), m.normal)
    clearance = feet.height - m.ground[LEVEL] - legs.foot_radius
    terrain = parameters.terrain_noise**2 + m.ground[VARIANCE]
    deviation = np.sqrt(height_variances(m.P, feet) + terrain)
    forces = row[reading.FORCE :]
    change = update_modes(m, forces, health.foot_force, clearance, deviation, load, dt, parameters)
    for i in range(4):
        down = feet.velocity[i] @ m.normal[i]
        if change[i] > 0.0 and down > -parameters.slowest_impact:
            set_down(m, i)
            change[i] = 0.0
    return change


@njit(cache=True)
def correct_all(
    m: Memory, legs: Legs, row: Array, health: Health, jumping: bool, share: Array, load: Array,
    dt: float, parameters: SaltedOptions,
) -> bool:  # fmt: skip
    """Take in all that is sound of a row (50), at the predicted state; False when it diverged.

    jumping and share (4) as of `before_prediction`, load (4) predicted on the feet that stand [N].
    """
    d = np.zeros(m.P.shape[0])
    if health.accelerometer:
        take_accelerometer(m, d, _force(row), np.zeros(3), dt, parameters)
    if health.gyroscope:
        take_gyroscope(m, d, row, parameters)
    if health.orientation:
        take_orientation(m, d, row, parameters)
    take_encoders(m, d, row, health, parameters)
    take_standing_feet(m, legs, d, load, m.contact[TRUST] * share, jumping, parameters)
    return _apply(m, d) and healthy(m, parameters)


@njit(cache=True)
def correct_between(
    m: Memory, row: Array, share: float, dt: float, parameters: SaltedOptions
) -> bool:
    """Take in the specific force at a tick between two readings; False when the filter diverged.

    It is taken from the line between the last reading and a row (50), at this `share` of the way:
    the contact dynamics do not know that a foot came down where no reading says so.
    """
    change, d = _force(row) - m.force, np.zeros(m.P.shape[0])
    doubt = OFF_THE_LINE * np.abs(change)
    take_accelerometer(m, d, m.force + share * change, doubt, dt, parameters)
    return _apply(m, d)


@njit(cache=True)
def _force(row: Array) -> Array:
    """The specific force (3) of a row (50)."""
    return row[reading.ACCELERATION : reading.ACCELERATION + 3]


@njit(cache=True)
def _apply(m: Memory, d: Array) -> bool:
    """Correct the state by d (48); False, and unchanged, where it is not finite."""
    mirror(m.P)
    if not np.isfinite(d).all():
        return False
    m.q[:], m.v[:] = integrate(m.q, m.v, d[:ROBOT].copy())
    m.bias[:] += d[GYRO_BIAS:STATES]
    return True


@njit(cache=True)
def healthy(m: Memory, parameters: SaltedOptions) -> bool:
    """Whether state and covariance are finite, positive and of a possible size."""
    if not (np.isfinite(m.q).all() and np.isfinite(m.v).all() and np.isfinite(m.P).all()):
        return False
    for i in range(m.P.shape[0]):
        if not 0.0 < m.P[i, i] < LARGEST_VARIANCE:
            return False
    return bool(np.abs(m.v[:3]).max() < parameters.largest_speed)


@njit(cache=True)
def _sound_legs(health: Health) -> Array:
    """One for each leg (4) whose encoders are all sound, zero for the others."""
    share = np.ones(4)
    for j in range(12):
        if not (health.joint_position[j] and health.joint_velocity[j]):
            share[j // 3] = 0.0
    return share


@njit(cache=True)
def _by_own_sensors(m: Memory, legs: Legs, row: Array, parameters: SaltedOptions) -> Array:
    """Base velocity (4, 3) that each foot would have at rest, less the state's, world axes."""
    q, v = m.q.copy(), m.v.copy()
    q[7:], v[6:] = row[reading.POSITION : reading.VELOCITY], row[reading.VELOCITY : reading.TORQUE]
    v[3:6] = row[reading.GYRO : reading.ACCELERATION] - m.bias[:3]
    return -foot_rows(legs, q, v, np.full(4, legs.foot_radius), m.normal).velocity
