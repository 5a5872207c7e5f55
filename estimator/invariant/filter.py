"""Base pose, velocity and IMU biases from a contact-aided invariant Kalman filter.

After Hartley, Ghaffari, Eustice, Grizzle, "Contact-aided invariant extended Kalman filtering for
robot state estimation" (IJRR 39(4), 2020): the right-invariant error on SE_6(3), prediction by the
inertial unit, feet by kinematics, contacts added at touchdown and taken out at liftoff.
The option `published` is that and no more. Added, so that it has what its rivals have: the IMU's
orientation with a constant error as a state, the height of known ground, the joints' velocities,
feet that roll, Huber's weight for a foot that slips, a jump that all stance feet see. Rolling
matters most: on a simulated walk at 0.2 m/s the base velocity errs by 1.7 mm/s RMS with it and by
12.9 mm/s without.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.contacts import LARGEST_GAP, LARGEST_SPEED, stand, update_contacts
from estimator.invariant.measurements import (
    LegReadings,
    add_contact,
    contact_noises,
    contact_weights,
    measure,
    measured_rotation,
    open_for_jump,
    sense_legs,
)
from estimator.invariant.state import (
    ACCELEROMETER,
    GYROSCOPE,
    ORIENTATION,
    POSITION,
    ROTATION,
    VELOCITY,
    Memory,
    new_memory,
    predict_covariance,
    predict_mean,
    roll_feet,
    transition,
)
from estimator.kernel_filter import KernelFilter, lose, take_in
from estimator.options import InvariantOptions
from estimator.rows import ACCELERATION, CONTACT, FORCE, GYRO, SENSORS, STATUS, TIME, Q, V
from robots.conventions import GRAVITY
from robots.legs import Legs
from robots.record import Record
from robots.robot import Robot
from robots.rotations import Array, quaternion_from_rotation, skew
from robots.terrain import Ground, look_below, make_ground

POSITION_VARIANCE, VELOCITY_VARIANCE = 1e-4, 1e-2
"""Of the base at the start [m2], [m2/s2]."""


class InvariantFilter(KernelFilter):
    """The invariant filter; see `KernelFilter`. It begins as `LegOdometryFilter` does."""

    def __init__(
        self, options: InvariantOptions, robot: Robot, ground: Ground | None = None,
        heading: float = 0.0,
    ) -> None:  # fmt: skip
        """`ground` is a level floor, z = 0, where None; its x axis has `heading` [rad]."""
        super().__init__(
            tick, new_memory(), options, robot, ground or make_ground(), heading=heading
        )

    @property
    def covariance(self) -> Array:
        """Covariance (30, 30) of the errors, SI units; their order and sign stand in `state`."""
        return self._memory.covariance.copy()

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the linear velocity in base axes [m2/s2].

        v_base = R^T v and X = exp(-xi) X_estimated give v_base - v_base_true = R^T xi_v to first
        order: the rotation's error cancels. So it is R^T P_vv R.
        """
        block = slice(VELOCITY, VELOCITY + 3)
        rotation = self._memory.rotation
        return rotation.T @ self._memory.covariance[block, block] @ rotation

    @property
    def biases(self) -> Array:
        """Rows (3, 3): gyroscope [rad/s], accelerometer [m/s2], orientation sensor [rad]."""
        return self._memory.biases.copy()


@njit(cache=True)
def tick(
    memory: Record, reading: Array, estimate: Array, options: Record, robot: Record, ground: Ground
) -> None:
    """Take a reading's row in and write the estimate's; memory, options and robot (1).

    A reading as old as the last one adds its measurements without prediction.
    """
    m, parameters, row, legs = memory[0], options[0], reading[SENSORS:], robot[0].legs
    if not take_in(m, robot[0], reading, estimate):
        return
    dt = reading[TIME] - m.time
    if not (0.0 <= dt <= LARGEST_GAP and advance(m, legs, row, dt, ground, parameters)):
        lose(m, estimate)
        restart(m, legs, row, m.place, ground, parameters)
    m.time = reading[TIME]
    estimate[Q : Q + 3], estimate[Q + 3 : Q + 7] = (
        m.vectors[1],
        quaternion_from_rotation(m.rotation),
    )
    estimate[V : V + 3] = m.rotation.T @ m.vectors[0]
    estimate[V + 3 : V + 6] = row[GYRO:ACCELERATION] - m.biases[0]
    estimate[CONTACT:STATUS] = m.contact[1]


@njit(cache=True)
def advance(
    memory: Memory, legs: Legs, row: Array, dt: float, ground: Ground,
    parameters: InvariantOptions,
) -> bool:  # fmt: skip
    """Predict over `dt` [s] and take a usable reading's row (50) in; False when it diverged.

    A reading as old as the last one (dt = 0) only corrects.
    """
    omega, acceleration = row[4:7] - memory.biases[0], row[7:10] - memory.biases[1]
    before = memory.rotation.copy()
    predict_mean(memory.rotation, memory.vectors, omega, acceleration, dt)
    sensed = sense_legs(legs, memory.rotation, omega, row, parameters)
    weights = weigh_contacts(memory, sensed, row[FORCE:], dt, parameters)
    if dt > 0.0:
        phi = transition(before, memory.vectors, omega, acceleration, dt)
        predict_errors(memory, phi, sensed, weights, acceleration, dt, parameters)
    look_below(ground, memory.vectors[2:], memory.ground)
    return measure(memory, row, sensed, weights, parameters) and healthy(memory)


@njit(cache=True)
def weigh_contacts(
    memory: Memory, sensed: LegReadings, forces: Array, dt: float, parameters: InvariantOptions
) -> Array:
    """Take foot forces (4) [N] in; how firmly each foot stands (4), 0 in the air."""
    update_contacts(memory.contact, forces, sensed.positions, dt, parameters.legs)
    residuals, trust = sensed.by_feet - memory.vectors[0], memory.contact[2]
    if not parameters.published:
        open_for_jump(memory.covariance, residuals, trust, memory.jump, dt, parameters)
    return contact_weights(memory.covariance, residuals, trust, parameters)


@njit(cache=True)
def predict_errors(
    memory: Memory, phi: Array, sensed: LegReadings, weights: Array, acceleration: Array, dt: float,
    parameters: InvariantOptions,
) -> None:  # fmt: skip
    """Move the contacts and the covariance over `dt` > 0 [s], in place.

    While a push is taken in no contact stands: feet slip before they hold.
    """
    standing = np.zeros(4) if memory.jump[1] > 0.0 else weights
    if not parameters.published:
        roll_feet(
            memory.vectors, phi, memory.rotation, sensed.rolling, sensed.spins, standing, dt,
            sensed.radius,
        )  # fmt: skip
    felt = memory.rotation @ acceleration
    felt[2] -= GRAVITY
    noises = contact_noises(standing, parameters)
    specific = np.sqrt((felt * felt).sum())
    predict_covariance(memory.covariance, phi, specific, noises, dt, parameters)


@njit(cache=True)
def healthy(memory: Memory) -> bool:
    """Whether state and covariance are finite, positive and of a possible size."""
    velocity = memory.vectors[0]
    if not (velocity * velocity).sum() < LARGEST_SPEED**2:
        return False
    for i in range(memory.covariance.shape[0]):
        if not 0.0 < memory.covariance[i, i] < 1e8:
            return False
    return bool(
        np.isfinite(memory.vectors).all()
        and np.isfinite(memory.rotation).all()
        and np.isfinite(memory.biases).all()
        and np.isfinite(memory.covariance).all()
    )


@njit(cache=True)
def restart(
    memory: Memory, legs: Legs, row: Array, place: Array, ground: Ground,
    parameters: InvariantOptions,
) -> None:  # fmt: skip
    """Place the base at `place` (2) [m] as `stand` has it, with the measured orientation.

    The biases begin at zero.
    """
    memory.rotation[:] = measured_rotation(row)
    sensed = sense_legs(legs, memory.rotation, row[4:7], row, parameters)
    memory.vectors[1, :2], memory.biases[:] = place, 0.0
    memory.vectors[1, 2], memory.vectors[0] = stand(
        memory, row[FORCE:], sensed.positions, sensed.by_feet, place, ground, legs.foot_radius,
        parameters.legs,
    )  # fmt: skip
    start_covariance(memory.covariance, memory.rotation, memory.vectors[1], parameters)
    for foot in range(4):
        add_contact(
            memory.vectors, memory.covariance, foot, sensed.positions[foot],
            sensed.position_noise[foot],
        )  # fmt: skip


@njit(cache=True)
def start_covariance(
    covariance: Array, rotation: Array, position: Array, parameters: InvariantOptions
) -> None:
    """Errors of a filter just placed, in place; the contacts are left to `add_contact`.

    The rotation errs by the orientation's bias and noise: xi_R = R (b + n), b being the bias that
    the filter still takes for zero. Where the base stands is known whatever its tilt, and so xi_p =
    [p]_x xi_R + noise. The legs tell the velocity in the base: xi_v does not depend on xi_R.
    """
    covariance[:] = 0.0
    bias, tilt = parameters.orientation_bias**2, slice(ROTATION, ROTATION + 3)
    orientation, place = slice(ORIENTATION, ORIENTATION + 3), slice(POSITION, POSITION + 3)
    for i in range(3):
        covariance[ROTATION + i, ROTATION + i] = bias + parameters.orientation_noise**2
        covariance[VELOCITY + i, VELOCITY + i] = VELOCITY_VARIANCE
        covariance[GYROSCOPE + i, GYROSCOPE + i] = parameters.gyroscope_bias**2
        covariance[ACCELEROMETER + i, ACCELEROMETER + i] = parameters.accelerometer_bias**2
        covariance[ORIENTATION + i, ORIENTATION + i] = bias
    covariance[tilt, orientation] = -bias * rotation
    covariance[orientation, tilt] = -bias * rotation.T
    lever = skew(position)
    covariance[place] = lever @ covariance[tilt]
    covariance[:, place] = np.ascontiguousarray(covariance[:, tilt]) @ lever.T
    for i in range(3):
        covariance[POSITION + i, POSITION + i] += POSITION_VARIANCE
    covariance[:] = 0.5 * (covariance + covariance.T)
