"""What an engine says about the simulated robot's motion."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class PhysicsState(NamedTuple):
    """The robot at one instant; torques and forces are those of the last physics step."""

    q: Array  # (19)
    v: Array  # (18)
    torque: Array  # (12) of the motors [N m]
    foot_force: Array  # (4, 3) of the floor on each foot, in world [N]
    normal_force: Array  # (4) the part of it along the floor's normal [N]
    trunk_contact: Array  # (1) 1 where the trunk touches the floor, else 0

    @classmethod
    def zeros(cls) -> Self:
        """Arrays to write into."""
        return cls(*map(np.zeros, (19, 18, 12, (4, 3), 4, 1)))
