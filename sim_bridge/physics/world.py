"""The other end of served physics: a world by MuJoCo, which a physics server lives in."""

from dataclasses import replace

from robots.robot import Robot
from runtime.physics_messages import PlaceRequest, TickRequest, WorldReply, WorldRequest
from sim_bridge.options import SimulationOptions
from sim_bridge.physics.mujoco_physics import MujocoPhysics

MOST_STEPS = 1000  # of one request: the server's other clients wait meanwhile


class MujocoWorld:
    """One robot on a floor, as requests describe them; the same motion as in the client's process.

    The URDF of a request is not read: it was made from the model that is here already.
    """

    def __init__(self, robot: Robot) -> None:
        """No world, until one is begun."""
        self._robot = robot
        self._physics: MujocoPhysics | None = None

    def begin(self, request: WorldRequest) -> WorldReply:
        """Begin anew. Raises ValueError for a world that there cannot be."""
        robot = replace(
            self._robot, torque_limit=request.torque_limit, corner_speed=request.corner_speed,
            velocity_limit=request.no_load_speed,
        )  # fmt: skip
        self._physics = MujocoPhysics(robot, _options(request))
        self._physics.place(request.q, request.v)
        return self._reply(request.id)

    def tick(self, request: TickRequest) -> WorldReply:
        """Simulate the request's steps. Raises ValueError where that cannot be."""
        steps = len(request.commands)
        if steps > MOST_STEPS:
            raise ValueError(f"{steps} steps at once; accepted: 0 to {MOST_STEPS}")
        physics = self._begun()
        if request.base_velocity.any():  # adding zeros would turn -0.0 into 0.0
            physics.kick(request.base_velocity)
        physics.push(request.base_force)
        physics.drive(request.joint_torque)
        physics.live(request.commands, request.blocked)
        return self._reply(request.id)

    def place(self, request: PlaceRequest) -> WorldReply:
        """Put the robot into another state. Raises ValueError where there is none."""
        self._begun().place(request.q, request.v)
        return self._reply(request.id)

    def _begun(self) -> MujocoPhysics:
        if self._physics is None:
            raise ValueError("no world was begun")
        return self._physics

    def _reply(self, request_id: int) -> WorldReply:
        q, v, torque, foot_force, _, trunk = (part.copy() for part in self._begun().motion)
        return WorldReply(
            id=request_id, q=q, v=v, torque=torque, foot_force=foot_force,
            trunk_contact=bool(trunk[0]),
        )  # fmt: skip


def _options(request: WorldRequest) -> SimulationOptions:
    return SimulationOptions(
        timestep=request.timestep, friction=request.friction, payload_mass=request.payload_mass,
        mass_scale=request.mass_scale, floor_slope=request.floor_slope,
    )  # fmt: skip
