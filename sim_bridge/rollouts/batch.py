"""Result of a rollout backend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RolloutBatch(NamedTuple):
    """Motions of C candidates over N knots.

    Attributes:
        states: x = [q, v] (C, N+1, 37); inputs: torques after saturation (C, N, 12) [N m];
        normal_forces: force on each foot late in the knot (C, N, 4) [N];
        finite: False for a candidate whose physics diverged (C,).
    """

    states: Array
    inputs: Array
    normal_forces: Array
    finite: NDArray[np.bool_]
