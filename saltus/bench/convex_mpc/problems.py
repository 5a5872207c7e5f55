"""A seeded sequence of force problems: a pushed rigid body that Convex MPC walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.force_mpc import ForceMpc
from controller.centroidal.options import ForceMpcWeights
from controller.centroidal.rigid_body import discrete_step, invert_symmetric, standing_body
from controller.gaits import Gait
from robots.a1.constants import GRAVITY, HIP_POSITION_IN_BASE, LEG_SIDE, THIGH_OFFSET

Array = NDArray[np.float64]

FRICTION, FORCE_MAX, FORCE_MIN = 0.6, 200.0, 10.0  # [-], [N]
TICK, STEP = 0.01, 0.036  # between problems, and of the horizon [s]
SPEED, HEIGHT = 0.2, 0.28  # forward [m/s], of the centre of mass [m]
PUSH_EVERY = 40  # problems


class HorizonProblem(NamedTuple):
    """What `ForceMpc.solve` takes."""

    x0: Array
    x_ref: Array
    arms: Array
    contacts: Array
    inertia_in_world: Array
    dt: float


class InstantProblem(NamedTuple):
    """What `ForceQp.solve` takes."""

    wrench: Array
    arms: Array
    contacts: Array


def walking_problems(
    gait: Gait, count: int, steps: int, seed: int, push: float = 1.0
) -> list[HorizonProblem]:
    """Problems of successive ticks; every PUSH_EVERY-th state has been pushed, by up to `push`.

    A push of 1 changes the velocity by up to 0.5 m/s forward and 0.8 m/s sideways.
    """
    body, rng = standing_body(), np.random.default_rng(seed)
    mpc = ForceMpc(body, steps, ForceMpcWeights(), FRICTION, FORCE_MAX, FORCE_MIN)
    inverse = invert_symmetric(body.inertia_in_base)
    x = np.zeros(12)
    x[5] = HEIGHT
    feet, problems = _under_hips(x), []
    for k in range(count):
        if k % PUSH_EVERY == PUSH_EVERY - 1:
            x[6:] += push * rng.uniform(-1.0, 1.0, 6) * [2.0, 1.0, 1.0, 0.5, 0.8, 0.2]
        now = gait.start + k * TICK
        stands = gait.contacts(now)
        feet = np.where(stands[:, None], feet, _under_hips(x))
        ends: Array = STEP * np.arange(1.0, steps + 1.0)
        contacts = np.array([gait.contacts(now + t - 0.5 * STEP) for t in ends], dtype=float)
        x_ref = _straight_on(x, ends)
        measured = x + rng.normal(size=12) * 0.002
        arms = feet - x_ref[:, None, 3:6]
        problem = HorizonProblem(measured, x_ref, arms, contacts, body.inertia_in_base, STEP)
        forces, moved = mpc.solve(*problem).forces[0], np.empty(12)
        discrete_step(x, forces, feet - x[3:6], body.mass, inverse, TICK, moved)
        x = moved
        problems.append(problem)
    return problems


def instant_problems(problems: list[HorizonProblem]) -> list[InstantProblem]:
    """The wrench that a PD law asks for in each of the problems."""
    mass = standing_body().mass
    instants = []
    for each in problems:
        error = each.x_ref[0] - each.x0
        linear = 50.0 * error[3:6] + 10.0 * error[9:12] + [0.0, 0.0, GRAVITY]
        angular = 100.0 * error[:3] + 20.0 * error[6:9]
        wrench = np.concatenate([mass * linear, each.inertia_in_world @ angular])
        instants.append(InstantProblem(wrench, each.arms[0], each.contacts[0]))
    return instants


def _under_hips(x: Array) -> Array:
    """Feet on the ground below the hips, as far ahead as half a stance will travel (4, 3) [m]."""
    feet = HIP_POSITION_IN_BASE + x[3:6] + 0.25 * np.array([x[9], x[10], 0.0])
    feet[:, 1] += LEG_SIDE * THIGH_OFFSET
    feet[:, 2] = 0.0
    return feet


def _straight_on(x: Array, ends: Array) -> Array:
    """Reference states (N, 12) straight ahead from where the body is in x."""
    x_ref = np.zeros((ends.size, 12))
    x_ref[:, 3], x_ref[:, 4] = x[3] + SPEED * ends, x[4]
    x_ref[:, 5], x_ref[:, 9] = HEIGHT, SPEED
    return x_ref
