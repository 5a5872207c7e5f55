"""The simulated robot's physics by MuJoCo, in this process."""

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.state import mujoco_from_pinocchio, pinocchio_from_mujoco
from robots.terrain import Ground
from sim_bridge.compiled_step import stop_stage_timers
from sim_bridge.contacts import ContactReader
from sim_bridge.domain import build_model
from sim_bridge.lying import lie
from sim_bridge.motors import motor_torques
from sim_bridge.options import SimulationOptions
from sim_bridge.physics.interface import PhysicsState
from sim_bridge.physics.patches import Patches
from sim_bridge.standing import stand

Array = NDArray[np.float64]


class MujocoPhysics:
    """An A1 in the world that the options describe; fulfils `Physics`.

    The motors' law is evaluated at every step with the joints of that step.

    Attributes:
        loss: always empty: physics in one's own process cannot be lost.
        model: MuJoCo's model.
        data: MuJoCo's state.
    """

    def __init__(self, options: SimulationOptions, ground: Ground | None = None) -> None:
        """Build the world; the robot is nowhere in particular until `start` or `place`.

        Args:
            options: of the robot and its world.
            ground: None for a level floor.
        """
        stop_stage_timers()
        self.loss = ""
        self.model = build_model(options, ground)
        self.data = mujoco.MjData(self.model)
        self._trunk = self.model.body("trunk").id
        self._contacts = ContactReader(self.model)
        motors = options.motors
        self._patches: Patches | None = None
        if ground is not None and len(ground.patch):
            self._patches = Patches(self.model, ground)
        self._limits = (motors.torque_limit, motors.corner_speed, motors.no_load_speed)
        self._views = (self.data.qpos[7:], self.data.qvel[6:], self.data.ctrl)

    def start(self, start: str, normal: Array) -> Array:
        """Take the pose of a start, at rest; returns the command (5, 12) until the first one.

        Args:
            start: one of `sim_bridge.options.STARTS`.
            normal: of the ground at the origin (3).
        """
        if start == "stand":
            return stand(self.model, self.data, normal)
        return lie(self.model, self.data, start, normal)

    def motion(self) -> PhysicsState:
        """The robot now."""
        data = self.data
        q, v = pinocchio_from_mujoco(data.qpos, data.qvel)
        contacts = self._contacts.read(data)
        return PhysicsState(q, v, data.qvel[:3].copy(), data.ctrl.copy(), *contacts)

    def base_velocity(self) -> Array:
        """Velocity (3) of the trunk in the world now, kicks included [m/s]."""
        return self.data.qvel[:3].copy()

    def live(self, commands: Sequence[Array], blocked: bool) -> None:
        """Live through one physics step for each command (5, 12)."""
        q, dq, torque = self._views
        if self._patches is not None:
            self._patches.apply(self.data)
        for command in commands:
            if blocked:
                torque[:] = 0.0
            else:
                motor_torques(command, q, dq, self._limits, torque)
            mujoco.mj_step(self.model, self.data)

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); no time passes."""
        self.data.qpos[:], self.data.qvel[:] = mujoco_from_pinocchio(q, v)
        mujoco.mj_forward(self.model, self.data)

    def kick(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's."""
        self.data.qvel[:3] += velocity_in_world

    def push(self, force_in_world: Array) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        self.data.xfrc_applied[self._trunk, :3] = force_in_world

    def drive(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        self.data.qfrc_applied[6:] = torque

    def close(self) -> None:
        """Nothing to hand back."""
