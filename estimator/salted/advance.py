"""One reading: the state predicted to it, feet that change their mode, and its corrections."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from estimator import rows
from estimator.contacts import LARGEST_SPEED, contact_probability
from estimator.kernel_filter import attitude
from estimator.options import SaltedOptions
from estimator.record import RobotRecord
from estimator.salted.contacts import followers, lift_off, set_down, update_modes, watch_for_jump
from estimator.salted.measurements import (
    foot_rows,
    height_variances,
    mirror,
    take_accelerometer,
    take_encoders,
    take_gyroscope,
    take_orientation,
    take_standing_feet,
)
from estimator.salted.memory import (
    AGE,
    GYRO_BIAS,
    HELD,
    LEVEL,
    OFFSET,
    ROBOT,
    STATES,
    TRUST,
    VARIANCE,
    Memory,
)
from estimator.salted.prediction import coast, predict, reset, start_covariance
from robots.conventions import GRAVITY
from robots.legs import Legs, foot_positions_in_base
from robots.rotations import Array, rotation_from_quaternion
from robots.stance_dynamics import StanceModel, stance_step
from robots.stance_touchdown import MINIMUM_APPROACH_SPEED, Touchdown, land
from robots.state import integrate

LARGEST_VARIANCE = 1e8
OFF_THE_LINE = 0.1
"""Standard deviation of the specific force between two readings from the line through them,
relative to their difference."""
TICK = 1e-3  # [s] that a coasting filter leaves for the reading it coasts to
LONGEST_BRIDGE = 0.02
"""For so long without a reading the dynamics go on under the last torques; after that the
velocities stay [s]."""
SETTLING_TIME = 0.008
"""After holding firmly for so long a foot counts in the search for jumps [s]."""
FIRM_TIME = 0.03
"""One foot at least must have held firmly for so long [s]."""
SLOWEST_IMPACT = 0.05
"""A foot that comes down more slowly makes no impact [m/s]."""


@njit(cache=True, inline="always")
def advance(
    m: Memory, robot: RobotRecord, model: StanceModel, row: Array, dt: float,
    parameters: SaltedOptions,
) -> bool:  # fmt: skip
    """Go on for `dt` [s] to a reading's row (50) and take it in; False when the filter diverged."""
    if dt > 1.5 * TICK:  # the accelerometer measures the last tick only
        if not _bridge(m, model, row, dt - TICK, parameters):
            return False
        dt = TICK
    jumping, share = before_prediction(m, robot.legs, row, dt, parameters)
    load = flow(m, model, _standing(m), dt, parameters)
    change = modes_after_prediction(m, robot.legs, row, dt, parameters, load)
    if change.any():
        change_modes(m, robot.legs, model, change, parameters)
    return correct_all(m, robot.legs, row, jumping, share, load, dt, parameters)


@njit(cache=True, inline="always")
def _bridge(
    m: Memory, model: StanceModel, row: Array, gap: float, parameters: SaltedOptions
) -> bool:
    """Go on for `gap` [s] until the tick of a row (50); False when the filter diverged.

    It goes on tick by tick, in a long gap at constant velocities. A foot that the dynamics would
    pull on no longer stands until the next reading.
    """
    if gap > LONGEST_BRIDGE:
        coast(m, gap, parameters)
        return True
    standing, steps = _standing(m), max(1, round(gap / TICK))
    for step in range(1, steps + 1):
        load = flow(m, model, standing, gap / steps, parameters)
        standing[load < 0.0] = 0.0
        share = step / (steps + 1)
        sound = m.past.sound[rows.ACCELEROMETER]
        if sound and not correct_between(m, row, share, gap / steps, parameters):
            return False
    return True


@njit(cache=True)
def flow(
    m: Memory, model: StanceModel, standing: Array, dt: float, parameters: SaltedOptions
) -> Array:
    """Predict over `dt` [s] with the feet that stand (4); the load (4) on each [N]."""
    # Copies: a record's own arrays have a type of their own, and all below would be compiled twice.
    step = stance_step(model, m.q.copy(), m.v.copy(), m.torque.copy(), standing, dt)
    predict(m, step.q, step.v, step.A, dt, parameters)
    return step.load


@njit(cache=True)
def change_modes(
    m: Memory, legs: Legs, model: StanceModel, change: Array, parameters: SaltedOptions
) -> None:
    """Let feet lift off, then touch down one after the other, in the order of their index.

    change (4) as `update_modes` gives it.
    """
    for foot in range(4):
        if change[foot] < 0.0:
            lift_off(m, foot)
    for foot in range(4):
        if change[foot] > 0.0:
            hit = land(
                model, m.q.copy(), m.v.copy(), m.torque.copy(), _standing(m), foot,
                MINIMUM_APPROACH_SPEED, m.normal[foot].copy(),
            )  # fmt: skip
            if hit.transverse:
                is_sensed = m.past.sound[rows.FORCE_SENSOR + foot]
                delay = parameters.touchdown_delay if is_sensed else np.inf
                terrain = np.sqrt(parameters.terrain_noise**2 + m.ground[VARIANCE, foot])
                timed = timed_reset(hit, terrain, delay)
                reset(m, legs, hit.v_plus, timed.jacobian, timed.noise, parameters)
            set_down(m, foot)


@njit(cache=True)
def _standing(m: Memory) -> Array:
    """One for each foot (4) that stands, zero for the others."""
    return (m.contact[AGE] >= 0.0).astype(np.float64)


@njit(cache=True)
def start(m: Memory, legs: Legs, row: Array, place: Array, parameters: SaltedOptions) -> None:
    """Stand at `place` (2) [m] as a reading's row (50) has it, the lowest foot on the ground."""
    m.q[:2] = place
    m.q[3:7] = attitude(row)
    m.q[7:] = row[rows.POSITION : rows.VELOCITY]
    R = rotation_from_quaternion(m.q[3:7])
    m.q[2] = legs.foot_radius - (foot_positions_in_base(legs, m.q[7:]) @ R[2]).min()
    m.v[:3] = 0.0
    m.v[3:6] = row[rows.GYRO : rows.ACCELERATION]
    m.v[6:] = row[rows.VELOCITY : rows.TORQUE]
    m.bias[:], m.previous[:], m.jump[:] = 0.0, 0.0, 0.0
    m.contact[:], m.contact[0] = 0.0, -1.0
    m.contact[1] = 0.5
    m.force[:] = GRAVITY * R[2]
    start_covariance(m.P, parameters)
    hold_torques(m, row)


@njit(cache=True)
def hold_torques(m: Memory, row: Array) -> None:
    """Keep the sound joint torques of a row; those that are not stay what they were."""
    for i in range(12):
        if m.past.sound[rows.TORQUE_SENSOR + i]:
            m.torque[i] = row[rows.TORQUE + i]


@njit(cache=True)
def before_prediction(
    m: Memory, legs: Legs, row: Array, dt: float, parameters: SaltedOptions
) -> tuple[bool, Array]:
    """Take the torques in and watch for a jump: whether one is under way, and shares of trust (4).

    A foot's share is what this reading leaves of its trust: nothing where an encoder of the leg is
    at fault, less than one where the foot slips after a jump.
    """
    hold_torques(m, row)
    if m.past.sound[rows.ACCELEROMETER]:
        m.force[:] = _force(row)
    share = _sound_legs(m)
    held = m.contact[HELD]
    trust = m.contact[TRUST] * share * np.minimum(1.0, held / SETTLING_TIME)
    if held.max() < FIRM_TIME:
        trust[:] = 0.0
    for i in range(4):
        if m.past.sound[rows.FORCE_SENSOR + i]:
            force = row[rows.FORCE + i] - m.contact[OFFSET, i]
            trust[i] *= contact_probability(force, True, parameters)
    residuals = _by_own_sensors(m, legs, row)
    jumping = watch_for_jump(m, residuals, trust, dt, parameters)
    if jumping:
        share *= followers(residuals, trust)
    return jumping, share


@njit(cache=True)
def modes_after_prediction(
    m: Memory, legs: Legs, row: Array, dt: float, parameters: SaltedOptions,
    load: Array,
) -> Array:  # fmt: skip
    """Find feet that touch down (+1) and lift off (-1) at the predicted state (4); load (4) [N].

    A foot that comes down slowly is set down here: its impact changes next to nothing, and light
    feet do that often.
    """
    feet = foot_rows(legs, m.q.copy(), m.v.copy(), np.full(4, legs.foot_radius), m.normal)
    clearance = feet.height - m.ground[LEVEL] - legs.foot_radius
    terrain = parameters.terrain_noise**2 + m.ground[VARIANCE]
    deviation = np.sqrt(height_variances(m.P, feet) + terrain)
    forces = row[rows.FORCE :]
    change = update_modes(m, forces, clearance, deviation, load, dt, parameters)
    for i in range(4):
        down = feet.velocity[i] @ m.normal[i]
        if change[i] > 0.0 and down > -SLOWEST_IMPACT:
            set_down(m, i)
            change[i] = 0.0
    return change


@njit(cache=True)
def correct_all(
    m: Memory, legs: Legs, row: Array, jumping: bool, share: Array, load: Array,
    dt: float, parameters: SaltedOptions,
) -> bool:  # fmt: skip
    """Take in all that is sound of a row (50), at the predicted state; False when it diverged.

    jumping and share (4) as of `before_prediction`, load (4) predicted on the feet that stand [N].
    """
    d = np.zeros(m.P.shape[0])
    if m.past.sound[rows.ACCELEROMETER]:
        take_accelerometer(m, d, _force(row), np.zeros(3), dt, parameters)
    if m.past.sound[rows.GYRO_SENSOR]:
        take_gyroscope(m, d, row, parameters)
    if m.past.sound[rows.ATTITUDE_SENSOR]:
        take_orientation(m, d, row, parameters)
    take_encoders(m, d, row, parameters)
    take_standing_feet(m, legs, d, load, m.contact[TRUST] * share, jumping, parameters)
    return _apply(m, d) and healthy(m)


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
    return row[rows.ACCELERATION : rows.ACCELERATION + 3]


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
def healthy(m: Memory) -> bool:
    """Whether state and covariance are finite, positive and of a possible size."""
    if not (np.isfinite(m.q).all() and np.isfinite(m.v).all() and np.isfinite(m.P).all()):
        return False
    for i in range(m.P.shape[0]):
        if not 0.0 < m.P[i, i] < LARGEST_VARIANCE:
            return False
    return bool(np.abs(m.v[:3]).max() < LARGEST_SPEED)


@njit(cache=True)
def _sound_legs(m: Memory) -> Array:
    """One for each leg (4) whose encoders are all sound, zero for the others."""
    share, sound = np.ones(4), m.past.sound
    for j in range(12):
        if not (sound[rows.POSITION_SENSOR + j] and sound[rows.VELOCITY_SENSOR + j]):
            share[j // 3] = 0.0
    return share


@njit(cache=True)
def _by_own_sensors(m: Memory, legs: Legs, row: Array) -> Array:
    """Base velocity (4, 3) that each foot would have at rest, less the state's, world axes."""
    q, v = m.q.copy(), m.v.copy()
    q[7:], v[6:] = row[rows.POSITION : rows.VELOCITY], row[rows.VELOCITY : rows.TORQUE]
    v[3:6] = row[rows.GYRO : rows.ACCELERATION] - m.bias[:3]
    return -foot_rows(legs, q, v, np.full(4, legs.foot_radius), m.normal).velocity


class TimedReset(NamedTuple):
    """First-order map of a touchdown, and the noise of its time."""

    jacobian: Array
    """(36, 36) Xi_kappa."""
    noise: Array
    """(36) deviation of the state along F+ - D_x R F-."""
    kappa: float
    """Share of the guard in what is known of the time, 0 to 1."""


@njit(cache=True)
def timed_reset(hit: Touchdown, terrain: float, delay: float) -> TimedReset:
    """Map errors through a touchdown whose time both the guard and a force sensor tell.

    By the guard, an error of the state or of the ground's height moves the time of the event: the
    saltation matrix Xi has that in it, and the ground's share is a noise beside it (thesis 7.2). By
    the sensor, the time does not depend on the state: errors go through D_x R, and the sensor's
    delay is the noise. The two times are fused as two measurements of one number,

        kappa = s^2 / (s^2 + (h / n)^2),    Xi_kappa = D_x R + kappa (Xi - D_x R)

    with s the sensor's deviation [s], h the ground's [m] and n the foot's normal velocity [m/s].
    What is left of the uncertainty of the time, sqrt(kappa) h / n, moves the state along
    F+ - D_x R F-. On ground known exactly this is Xi, with a perfect sensor it is D_x R.

    Args:
        hit: the touchdown, a transverse one.
        terrain: deviation of the ground's height [m].
        delay: deviation of the sensor's time [s]; infinite where there is no sensor.
    """
    by_guard = (terrain / hit.normal_velocity) ** 2  # [s2]
    kappa = 1.0 if np.isinf(delay) else delay**2 / (delay**2 + by_guard)
    jacobian = hit.reset_jacobian + kappa * (hit.saltation - hit.reset_jacobian)
    return TimedReset(jacobian, np.sqrt(kappa) * terrain * hit.guard_shift, kappa)
