"""Weights of the tracking cost."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from runtime.options import Options, Range, positive

Array = NDArray[np.float64]
Triple = tuple[float, float, float]


class CostOptions(Options, frozen=True):
    """Weights of the tracking cost; the state's per component of the tangent x (-) x_ref.

    Attributes:
        base_position: weight of the trunk's position, along the axes of the reference's trunk.
        base_orientation: weights of roll, pitch, yaw.
        joints: weights of hip, thigh, calf of each leg.
        base_velocity: weight of the trunk's linear velocity.
        base_angular_velocity: weight of the trunk's angular velocity.
        joint_velocity: weight of all joints' velocities.
        terminal_scale: factor of all state weights at the horizon's end.
        input_loaded: R_min of (6.3), of the torques of a leg that bears all of the load.
        input_unloaded: R_max of (6.3), of the torques of a leg that bears none.
    """

    base_position: Annotated[Triple, Range("1/m^2", 0.0, 1e6)] = (40.0, 40.0, 150.0)
    base_orientation: Annotated[Triple, Range("1/rad^2", 0.0, 1e6)] = (80.0, 80.0, 60.0)
    joints: Annotated[Triple, Range("1/rad^2", 0.0, 1e6)] = (6.0, 3.0, 2.0)
    base_velocity: Annotated[float, Range("s^2/m^2", 0.0, 1e6)] = 6.0
    base_angular_velocity: Annotated[float, Range("s^2/rad^2", 0.0, 1e6)] = 0.5
    joint_velocity: Annotated[float, Range("s^2/rad^2", 0.0, 1e6)] = 0.03
    terminal_scale: Annotated[float, Range("-", 0.0, 1e6)] = 4.0
    input_loaded: Annotated[float, positive("1/(N m)^2", 1e6)] = 1e-3
    input_unloaded: Annotated[float, positive("1/(N m)^2", 1e6)] = 5e-3

    def __post_init__(self) -> None:
        """Raise ValueError where the cost would not be convex, or an input cost nothing."""
        Options.__post_init__(self)
        if self.input_loaded > self.input_unloaded:
            raise ValueError(
                f"input_loaded is {self.input_loaded:g}; give input_unloaded, "
                f"{self.input_unloaded:g}, or less"
            )

    def state_weights(self) -> Array:
        """Diagonal of Q, (36,)."""
        return np.concatenate(
            [
                self.base_position,
                self.base_orientation,
                np.tile(self.joints, 4),
                np.full(3, self.base_velocity),
                np.full(3, self.base_angular_velocity),
                np.full(12, self.joint_velocity),
            ]
        )
