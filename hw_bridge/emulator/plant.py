"""What the firmware needs of a robot's body: a simulated one, given by whoever wires both."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from runtime.messages import GroundTruth, MotorCommand, SensorReading

Array = NDArray[np.float64]


@runtime_checkable
class Plant(Protocol):
    """A body that lives in ticks of 1 ms; its motors run their law on their own encoders.

    How often within a tick they do is the plant's: a physics step of 0.1 ms gives the 10 kHz of
    the A1's motor drivers (unitree_legged_sdk thread 98), and any delay of its input is its own.
    """

    def reading(self, stamp: float | None = None) -> SensorReading:
        """What the sensors say at this tick."""
        ...

    def truth(self, stamp: float | None = None) -> GroundTruth:
        """The true state at this tick."""
        ...

    def advance(self, command: MotorCommand | None) -> None:
        """Live through one tick, with a new command or (None) with the one there is."""
        ...

    def drive_joints(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        ...

    def block_motors(self, blocked: bool) -> None:
        """Take the motors' torque away at once, or give it back."""
        ...

    def add_base_velocity(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, at once."""
        ...
