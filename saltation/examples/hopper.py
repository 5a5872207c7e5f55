"""A vertical one-legged hopper: a body on a massless leg with a spring and a damper.

What the damper takes, a motor in the leg gives back: from the deepest compression until liftoff it
pushes with a constant force. The work of that force grows with the stroke, the damper's loss with
its square, so there is one amplitude where they balance: a stable limit cycle. State x = [height
of the body [m], velocity [m/s]], no input. The leg force [N] is k (l - z) - c v, plus the motor's
in THRUST; the leg leaves the ground when that force is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.systems import FlowMap, Mode, System, Transition

FLIGHT = 1
COMPRESSION = 2
THRUST = 3
MASS = 1.0  # [kg]; this and all below: the project's own choice
STIFFNESS = 400.0  # k [N/m]
DAMPING = 5.0  # c [N s/m]
LENGTH = 0.5  # l, of the leg at rest [m]
PUSH = 20.0  # of the motor in THRUST [N]
GRAVITY = 9.8  # [m/s^2], 5.4


def hopper(damping: float = DAMPING, push: float = PUSH) -> System:
    """Modes FLIGHT, COMPRESSION, THRUST; transitions "touchdown", "bottom", "liftoff".

    At touchdown the damper sets in, Xi = [[1, 0], [-c / m, 1]]; at the bottom the push does,
    Xi = diag(1, 1 + push / (m a)) with the upward acceleration a before it; at liftoff nothing
    jumps and Xi = I, (3.12). The body must lift off above the leg's rest length, where
    push > damping * speed: a slower one would touch down again at once.
    """
    w, d = STIFFNESS / MASS, damping / MASS
    rest, thrust = w * LENGTH - GRAVITY, w * LENGTH - GRAVITY + push / MASS
    modes = {
        FLIGHT: Mode("flight", 2, 0, *_field(0.0, 0.0, -GRAVITY), _ballistic(GRAVITY)),
        COMPRESSION: Mode("compression", 2, 0, *_field(w, d, rest)),
        THRUST: Mode("thrust", 2, 0, *_field(w, d, thrust)),
    }
    touchdown = Transition.continuous(
        FLIGHT, COMPRESSION, lambda t, x, u: x[0] - LENGTH, "touchdown", True,
        lambda t, x, u: np.array([1.0, 0.0]),
    )  # fmt: skip
    bottom = Transition.continuous(
        COMPRESSION, THRUST, lambda t, x, u: -x[1], "bottom", True,
        lambda t, x, u: np.array([0.0, -1.0]),
    )  # fmt: skip
    liftoff = Transition.continuous(
        THRUST, FLIGHT, lambda t, x, u: STIFFNESS * (LENGTH - x[0]) - damping * x[1] + push,
        "liftoff", True, lambda t, x, u: np.array([-STIFFNESS, -damping]),
    )  # fmt: skip
    return System(modes, (touchdown, bottom, liftoff), "hopper")


def _field(w: float, d: float, constant: float) -> tuple[Any, Any, Any]:
    """Vector field [v, constant - w z - d v] and its derivatives."""
    return (
        lambda t, x, u: np.array([x[1], constant - w * x[0] - d * x[1]]),
        lambda t, x, u: np.array([[0.0, 1.0], [-w, -d]]),
        lambda t, x, u: np.zeros((2, 0)),
    )


def _ballistic(gravity: float) -> FlowMap:
    return FlowMap(
        lambda t, x, u, h: np.array([x[0] + h * (x[1] - 0.5 * h * gravity), x[1] - h * gravity]),
        lambda t, x, u, h: (np.array([[1.0, h], [0.0, 1.0]]), np.zeros((2, 0))),
    )
