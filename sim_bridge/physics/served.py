"""The simulated robot's physics by a server: another process, machine or engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robots.robot import Robot
from robots.rotations import rotation_from_quaternion
from robots.urdf import urdf_of
from runtime.physics_messages import PlaceRequest, Refusal, TickRequest, WorldReply, WorldRequest
from sim_bridge.motors import motor_limits
from sim_bridge.options import SimulationOptions
from sim_bridge.physics.interface import PhysicsState
from sim_bridge.physics_client import PhysicsClient
from sim_bridge.rollouts.unavailable import Unavailable

Array = NDArray[np.float64]


class ServedPhysics:
    """A robot in a world of a server's, with the methods of `MujocoPhysics`.

    One question and one answer a tick. An answer is waited for as long as the options' patience,
    in real time too: a late one holds the simulated world up, as a late process does. A server
    that gives none is lost for good, for with it its world is gone: the robot stays as it was.

    Attributes:
        loss, motion, base_velocity: as `MujocoPhysics` has them.
    """

    def __init__(self, robot: Robot, options: SimulationOptions, start: PhysicsState) -> None:
        """Connect, and begin a world.

        Args:
            robot: to be simulated.
            options: of the world and its server.
            start: the robot until the first tick.

        Raises:
            Unavailable: no server answers there that simulates this robot.
        """
        server = self._server = options.physics_server
        self.loss = ""
        self.motion, self.base_velocity = start, np.zeros(3)
        self._kick, self._push, self._drive = np.zeros(3), np.zeros(3), np.zeros(12)
        slope = options.floor_slope
        self._floor_normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
        self._client = PhysicsClient(server, options.engine)
        if not self._client.info.robot:
            self.close()
            raise Unavailable(f"the server at {server.address} simulates no robot")
        self._ask(_world(robot, options, start, self._client.next_id()))
        if self.loss:
            self.close()
            raise Unavailable(self.loss)
        self.motion = start  # the same, with the torques and forces that have held it until now

    def live(self, commands: Array, blocked: bool) -> None:
        """Step the physics once for each command (n, 5, 12)."""
        kick, self._kick = self._kick, np.zeros(3)
        self._ask(
            TickRequest(
                id=self._client.next_id(), commands=commands, blocked=blocked,
                base_force=self._push, joint_torque=self._drive, base_velocity=kick,
            )
        )  # fmt: skip

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); no time passes."""
        self._kick = np.zeros(3)
        self._ask(PlaceRequest(id=self._client.next_id(), q=q, v=v))

    def kick(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, before the next step."""
        self._kick = self._kick + velocity_in_world
        self.base_velocity = self.base_velocity + velocity_in_world

    def push(self, force_in_world: Array) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        self._push = np.array(force_in_world, dtype=np.float64)

    def drive(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        self._drive = np.array(torque, dtype=np.float64)

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def _ask(self, request: WorldRequest | TickRequest | PlaceRequest) -> None:
        """Take the answer for the robot's state, or note that the physics is lost."""
        if self.loss:
            return
        reply = self._client.ask(request, self._server.patience)
        if isinstance(reply, WorldReply):
            self.base_velocity = rotation_from_quaternion(reply.q[3:7]) @ reply.v[:3]
            self.motion = PhysicsState(
                reply.q, reply.v, reply.torque, reply.foot_force,
                reply.foot_force @ self._floor_normal, np.array([float(reply.trunk_contact)]),
            )  # fmt: skip
            return
        why = reply.reason if isinstance(reply, Refusal) else getattr(reply, "why", "no robot")
        self.loss = f"the physics at {self._server.address} is lost: {why}"


def _world(
    robot: Robot, options: SimulationOptions, start: PhysicsState, request_id: int
) -> WorldRequest:
    torque_limit, corner_speed, no_load_speed = motor_limits(robot, options.motors)
    return WorldRequest(
        id=request_id, timestep=options.timestep, friction=options.friction,
        payload_mass=options.payload_mass, mass_scale=options.mass_scale,
        floor_slope=options.floor_slope, torque_limit=torque_limit,
        corner_speed=corner_speed, no_load_speed=no_load_speed,
        q=start.q, v=start.v, urdf=urdf_of(robot),
    )  # fmt: skip
