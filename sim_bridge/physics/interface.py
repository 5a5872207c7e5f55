"""Interface of the engine that computes the simulated robot's motion."""

from typing import NamedTuple, Protocol, Self

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


class Physics(Protocol):
    """One robot on a floor: an engine's model, its state, and what is done to it from outside.

    Nothing here raises once it is made, whatever a command holds.

    Attributes:
        loss: why there is no physics any more, in one line; empty as long as there is. A body
            whose physics is lost stays as it was.
        motion: the robot after the last step or place; the next one may write into its arrays.
        base_velocity: of the trunk in the world now (3), kicks included [m/s].
    """

    loss: str
    motion: PhysicsState
    base_velocity: Array

    def live(self, commands: Array, blocked: bool) -> None:
        """Simulate one physics step for each command.

        Args:
            commands: (n, 5, 12), rows q, dq, kp, kd, tau, as `sim_bridge.motors` has them.
            blocked: the motors give no torque.
        """
        ...

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); no time passes."""
        ...

    def kick(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, before the next step."""
        ...

    def push(self, force_in_world: Array) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        ...

    def drive(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        ...

    def close(self) -> None:
        """Hand back what the engine holds."""
        ...
