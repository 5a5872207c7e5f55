"""A pendulum that swings into a torsional spring and damper (3.8.5, figure 3.12).

State x = [theta [rad], theta rate [rad/s]], no input. Both resets are identities. The spring is at
rest where it is met but the damper is not, so the flow jumps at contact and at release.
"""

from __future__ import annotations

import numpy as np

from saltation.systems import Mode, System, Transition

FREE = 1
CONTACT = 2
GRAVITY = 9.8  # [m/s^2], 3.8.5
LENGTH = 1.0  # to the centre of mass [m], 3.8.5
MASS = 1.0  # [kg], 3.8.5
STIFFNESS = 10.0  # k [N m/rad], 3.8.5
DAMPING = 10.0  # c [N m s/rad], 3.8.5


def pendulum() -> System:
    """Modes FREE (theta > 0) and CONTACT (theta <= 0), with guards theta and -theta."""
    inertia = MASS * LENGTH**2
    modes = {
        FREE: _swing("free", 0.0, 0.0),
        CONTACT: _swing("contact", STIFFNESS / inertia, DAMPING / inertia),
    }
    contact = Transition.continuous(
        FREE, CONTACT, lambda t, x, u: x[0], "contact", time_invariant=True
    )
    release = Transition.continuous(
        CONTACT, FREE, lambda t, x, u: -x[0], "release", time_invariant=True
    )
    return System(modes, (contact, release), "pendulum")


def _swing(name: str, stiffness: float, damping: float) -> Mode:
    """Pendulum (3.165), or (3.166) with spring and damper, each coefficient per inertia m l^2."""
    weight = GRAVITY / LENGTH
    return Mode(name, 2, 0, lambda t, x, u: np.array(
        [x[1], -stiffness * x[0] - damping * x[1] - weight * np.sin(x[0])]))  # fmt: skip
