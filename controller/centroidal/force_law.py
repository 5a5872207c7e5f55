"""What decides on the forces of the feet: what it sees, and what it answers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.body_state import BodyState
from controller.centroidal.path import Path
from controller.centroidal.qp_solver import Status
from controller.centroidal.stepping import Stepper

Array = NDArray[np.float64]


class Situation(NamedTuple):
    """All that a force law may look at, in the path's axes.

    Attributes:
        time: on the path's clock [s].
        body: the robot; inertia: of it (3, 3) [kg m^2].
        standing: feet that stand now by the schedule, and early ones (4,), 1 or 0.
        touching: probability of contact that the estimator gives (4,).
        path: what the body is asked to do; stepper: where feet are and go.
    """

    time: float
    body: BodyState
    inertia: Array
    standing: Array
    touching: Array
    path: Path
    stepper: Stepper


class Forces(NamedTuple):
    """What a force law answers.

    Attributes:
        forces: on each foot in each step, in the world (K, 4, 3) [N]; the last step goes on.
        step: length of a step [s].
        status: of the QP; iterations: it took.
    """

    forces: Array
    step: float
    status: Status
    iterations: int


class ForceLaw(Protocol):
    """Decides on the forces of the standing feet."""

    def forces(self, now: Situation) -> Forces:
        """Forces from now on."""
        ...
