"""Two half planes, each with a constant flow, and nothing else (3.8.5, figures 3.4, 3.5, 3.9).

State x = [x_1, x_2], no input. Either flow only translates, so whatever happens to a perturbation
happens at the transition.
"""

from __future__ import annotations

import numpy as np

from saltation.systems import FlowMap, Mode, System, Transition

LEFT = 1
RIGHT = 2
FLOW_LEFT = (1.0, -1.0)  # (3.162)
FLOW_RIGHT = (1.0, 1.0)  # (3.162)


def constant_flow() -> System:
    """Modes LEFT (x_1 < 0) and RIGHT, one identity reset where x_1 rises through zero."""
    cross = Transition.continuous(LEFT, RIGHT, lambda t, x, u: -x[0], "cross", time_invariant=True)
    modes = {LEFT: _translation("left", *FLOW_LEFT), RIGHT: _translation("right", *FLOW_RIGHT)}
    return System(modes, (cross,), "constant flow")


def _translation(name: str, a: float, b: float) -> Mode:
    """Mode whose flow is [a, b] everywhere (3.162)."""
    return Mode(
        name, 2, 0, lambda t, x, u: np.array([a, b]),
        flow_map=FlowMap(lambda t, x, u, h: np.array([x[0] + a * h, x[1] + b * h]),
                         lambda t, x, u, h: (np.eye(2), np.zeros((2, 0))))
    )  # fmt: skip
