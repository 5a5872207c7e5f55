"""The hopper of ``hopper.py`` with a motor in its leg that takes an input.

State x = [height of the body [m], velocity [m/s]], input u = [force [N]]. In COMPRESSION and THRUST
u adds to the leg's force, and to the constant push of THRUST; in FLIGHT it does nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hybrid.examples.hopper import DAMPING, FLIGHT, GRAVITY, LENGTH, MASS, PUSH, STIFFNESS, hopper
from hybrid.systems import Array, Mode, System, Transition


def driven_hopper(
    mass: float = MASS,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    length: float = LENGTH,
    push: float = PUSH,
    gravity: float = GRAVITY,
) -> System:
    """Modes FLIGHT, COMPRESSION, THRUST; transitions "touchdown", "bottom", "liftoff".

    The leg's force sets in at touchdown, Xi = [[1, 0], [(u - c v) / (m v), 1]] with the velocity
    v < 0: a motor that pulls in the damper's place, u = c v, makes it the identity. At the bottom
    Xi = diag(1, 1 + push / (m a)), with the upward acceleration a before it.
    """
    bare = hopper(mass, stiffness, damping, length, push, gravity)
    touchdown, bottom, liftoff = bare.transitions
    modes = {
        number: _pushed(mode, 0.0 if number == FLIGHT else 1.0 / mass)
        for number, mode in bare.modes.items()
    }
    return System(modes, (touchdown, bottom, _lifting(liftoff)), "driven hopper")


def _pushed(mode: Mode, gain: float) -> Mode:
    """A mode with a force that moves the body at ``gain`` [1/kg]."""
    return Mode(
        mode.name,
        mode.state_dim,
        1,
        lambda t, x, u: mode.flow(t, x, u) + np.array([0.0 * u[0], gain * u[0]]),
        mode.flow_state,
        lambda t, x, u: np.array([[0.0], [gain]]),
    )


def _lifting(liftoff: Transition) -> Transition:
    """Liftoff where the leg's force, with the motor's, is zero."""

    def guard(t: float, x: Array, u: Array) -> float:
        return liftoff.guard(t, x, u) + u[0]

    return replace(liftoff, guard=guard, guard_input=lambda t, x, u: np.array([1.0]))
