"""From one reading's numbers to the next state of the invariant filter, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.advance import update_contacts
from estimator.health.layout import FORCE
from estimator.invariant.contacts import contact_noises, contact_weights, open_for_jump
from estimator.invariant.legs import LegReadings, sense_legs
from estimator.invariant.measure import measure
from estimator.invariant.memory import Memory
from estimator.invariant.options import InvariantOptions
from estimator.invariant.propagation import (
    predict_covariance,
    predict_mean,
    roll_feet,
    transition,
)
from robots.legs import Legs
from robots.rotations import Array
from robots.terrain import Ground, look_below


@njit(cache=True)
def advance(
    memory: Memory, legs: Legs, row: Array, dt: float, ground: Ground,
    parameters: InvariantOptions,
) -> bool:  # fmt: skip
    """Predict over `dt` [s] and take a usable reading's row (50) in; False when it diverged.

    A reading as old as the last one (dt = 0) only corrects.
    """
    omega, acceleration = row[4:7] - memory.biases[0], row[7:10] - memory.biases[1]
    before, gravity = memory.rotation.copy(), parameters.legs.gravity
    predict_mean(memory.rotation, memory.vectors, omega, acceleration, gravity, dt)
    sensed = sense_legs(legs, memory.rotation, omega, row, parameters)
    weights = weigh_contacts(memory, sensed, row[FORCE:], dt, parameters)
    if dt > 0.0:
        phi = transition(before, memory.vectors, omega, acceleration, gravity, dt)
        predict_errors(memory, phi, sensed, weights, acceleration, dt, parameters)
    look_below(ground, memory.vectors[2:], memory.ground)
    return measure(memory, row, sensed, weights, parameters) and healthy(memory, parameters)


@njit(cache=True)
def weigh_contacts(
    memory: Memory, sensed: LegReadings, forces: Array, dt: float, parameters: InvariantOptions
) -> Array:
    """Take foot forces (4) [N] in; how firmly each foot stands (4), 0 in the air."""
    update_contacts(memory.contact, forces, sensed.positions, dt, parameters.legs)
    residuals, trust = sensed.by_feet - memory.vectors[0], memory.contact[2]
    if parameters.use_jump:
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
    if parameters.use_rolling:
        roll_feet(
            memory.vectors, phi, memory.rotation, sensed.rolling, sensed.spins, standing, dt,
            sensed.radius,
        )  # fmt: skip
    felt = memory.rotation @ acceleration
    felt[2] -= parameters.legs.gravity
    noises = contact_noises(standing, parameters)
    specific = np.sqrt((felt * felt).sum())
    predict_covariance(memory.covariance, phi, specific, noises, dt, parameters)


@njit(cache=True)
def healthy(memory: Memory, parameters: InvariantOptions) -> bool:
    """Whether state and covariance are finite, positive and of a possible size."""
    velocity = memory.vectors[0]
    if not (velocity * velocity).sum() < parameters.legs.largest_speed**2:
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
