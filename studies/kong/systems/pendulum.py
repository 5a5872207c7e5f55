"""A pendulum that swings into a torsional spring and damper (3.8.5, figure 3.12).

State x = [theta [rad], theta rate [rad/s]], no input. Both resets are identities. The spring is at
rest where it is met but the damper is not, so the flow jumps at contact and at release.
"""

from __future__ import annotations

import numpy as np

from hybrid.systems import Array, Mode, System, Transition

FREE = 1
CONTACT = 2
GRAVITY = 9.8  # [m/s^2], 3.8.5
LENGTH = 1.0  # to the centre of mass [m], 3.8.5
MASS = 1.0  # [kg], 3.8.5
STIFFNESS = 10.0  # k [N m/rad], 3.8.5
DAMPING = 10.0  # c [N m s/rad], 3.8.5


def pendulum(damping: float = DAMPING) -> System:
    """Modes FREE (theta > 0) and CONTACT (theta <= 0), with guards theta and -theta."""
    inertia = MASS * LENGTH**2
    modes = {
        FREE: _swing("free", 0.0, 0.0),
        CONTACT: _swing("contact", STIFFNESS / inertia, damping / inertia),
    }
    edges = _crossing(FREE, CONTACT, 1.0, "contact"), _crossing(CONTACT, FREE, -1.0, "release")
    return System(modes, edges, "pendulum")


def _swing(name: str, stiffness: float, damping: float) -> Mode:
    """Pendulum (3.165), or (3.166) with spring and damper, each coefficient per inertia m l^2."""

    weight = GRAVITY / LENGTH

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], -stiffness * x[0] - damping * x[1] - weight * np.sin(x[0])])

    return Mode(name, 2, 0, flow)


def _crossing(source: int, target: int, side: float, name: str) -> Transition:
    """Where theta leaves the side of zero (1 or -1) that is the source's domain."""
    return Transition.continuous(
        source, target, lambda t, x, u: side * x[0], name, time_invariant=True
    )
