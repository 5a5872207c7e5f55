"""What the simulated robot asks of the engine that computes its motion."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class PhysicsState(NamedTuple):
    """The robot at one instant; torques and forces are those of the last physics step."""

    q: Array  # (19)
    v: Array  # (18)
    base_velocity: Array  # (3) of the trunk, in world [m/s]
    torque: Array  # (12) of the motors [N m]
    foot_force: Array  # (4, 3) of the floor on each foot, in world [N]
    normal_force: Array  # (4) the part of it along the floor's normal [N]
    trunk_contact: bool  # the trunk touches the floor


class Physics(Protocol):
    """One A1 on a floor: an engine's model, its state, and what is done to it from outside.

    Nothing here raises once it is made, whatever a command holds.

    Attributes:
        loss: why there is no physics any more, in one line; empty as long as there is. A body
            whose physics is lost stays as it was.
    """

    loss: str

    def motion(self) -> PhysicsState:
        """The robot now."""
        ...

    def base_velocity(self) -> Array:
        """Velocity (3) of the trunk in the world now, kicks included [m/s]."""
        ...

    def live(self, commands: Sequence[Array], blocked: bool) -> None:
        """Live through one physics step for each command.

        Args:
            commands: each (5, 12), rows q, dq, kp, kd, tau, as `sim_bridge.motors` has them.
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
