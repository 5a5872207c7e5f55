"""Weights of the tracking cost."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class CostOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of the tracking cost; the state's per component of the tangent x (-) x_ref.

    Attributes:
        base_position: [1/m^2]; base_orientation: roll, pitch, yaw [1/rad^2];
        joints: hip, thigh, calf of each leg [1/rad^2];
        base_velocity, base_angular_velocity, joint_velocity: of the velocities;
        terminal_scale: factor of all state weights at the horizon's end;
        input_loaded, input_unloaded: R_min and R_max of (6.3) [1/(N m)^2].
    """

    base_position: tuple[float, float, float] = (40.0, 40.0, 150.0)
    base_orientation: tuple[float, float, float] = (80.0, 80.0, 60.0)
    joints: tuple[float, float, float] = (6.0, 3.0, 2.0)
    base_velocity: float = 6.0
    base_angular_velocity: float = 0.5
    joint_velocity: float = 0.03
    terminal_scale: float = 4.0
    input_loaded: float = 1e-3
    input_unloaded: float = 5e-3

    def __post_init__(self) -> None:
        """Raise ValueError where the cost would not be convex, or an input cost nothing."""
        weights = (*self.state_weights(), self.terminal_scale)
        if not (np.isfinite(weights).all() and min(weights) >= 0.0):
            raise ValueError("state weights must be finite and not negative")
        if not 0.0 < self.input_loaded <= self.input_unloaded < np.inf:
            raise ValueError("input weights must be 0 < input_loaded <= input_unloaded")

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
