"""The simulated robot's physics by MuJoCo, in this process."""

import mujoco
import numpy as np
from numba import njit
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES
from robots.robot import Robot
from robots.state import mujoco_from_pinocchio, pinocchio_from_mujoco
from robots.terrain import Ground
from sim_bridge.compiled_step import MJ_CONTACT_FORCE, MJ_STEP, call, stop_stage_timers
from sim_bridge.domain import build_model
from sim_bridge.lying import lie
from sim_bridge.motors import motor_limits, motor_torques
from sim_bridge.options import SimulationOptions
from sim_bridge.physics.interface import PhysicsState
from sim_bridge.physics.patches import Patches
from sim_bridge.standing import stand

Array = NDArray[np.float64]
OTHER, TRUNK, GROUND = -1, -2, -3  # what a geometry belongs to; a foot's are 0 to 3
MOST_CONTACTS = 1024  # that are read, and lie within MuJoCo's arena


class MujocoPhysics:
    """A robot in the world that the options describe.

    `ServedPhysics` has the same methods. Nothing raises once it is made, whatever a command holds.
    The motors' law is evaluated at every step with the joints of that step. MuJoCo's step is called
    without its Python package's guard: an error that is fatal to MuJoCo would end the process.

    Attributes:
        loss: why there is no physics any more, in one line: always empty, for it is here.
        motion: the robot after the last step or place; the next one may write into its arrays.
        base_velocity: of the trunk in the world now (3), kicks included [m/s].
        model: MuJoCo's model.
        data: MuJoCo's state.
    """

    def __init__(
        self, robot: Robot, options: SimulationOptions, ground: Ground | None = None
    ) -> None:
        """Build the world; the robot is nowhere in particular until `start` or `place`.

        Args:
            robot: to be simulated.
            options: of it and its world.
            ground: None for a level floor.
        """
        stop_stage_timers()
        self.loss, self.motion = "", PhysicsState.zeros()
        self.model = model = build_model(robot, options, ground)
        self.data = data = mujoco.MjData(model)
        self._trunk = model.body("trunk").id
        self._parts = np.full(model.ngeom, OTHER)
        self._parts[model.geom_bodyid == self._trunk] = TRUNK
        self._parts[model.geom_bodyid == 0] = GROUND
        self._parts[[model.geom(f"{name}_foot").id for name in FOOT_NAMES]] = range(4)
        self._patches: Patches | None = None
        if ground is not None and len(ground.patch):
            self._patches = Patches(model, ground)
        self._limits, self._robot = motor_limits(robot, options.motors), robot
        self._addresses = (model._address, data._address)
        self._qpos, self._qvel, self._ctrl = data.qpos, data.qvel, data.ctrl
        self._joints = self._qpos[7:], self._qvel[6:], self._ctrl
        self.base_velocity = self._qvel[:3]
        # Spaced out, as MuJoCo's contacts are: all are of one type to compiled code.
        self._geoms, self._frames = np.zeros((2, 3), np.int32)[:, :2], np.zeros((2, 10))[:, :9]

    def start(self, start: str, normal: Array) -> Array:
        """Take the pose of a start, at rest; returns the command (5, 12) until the first one.

        Args:
            start: posture of `StartOptions`.
            normal: of the ground at the origin (3).
        """
        if start == "stand":
            command = stand(self._robot, self.model, self.data, normal)
        else:
            command = lie(self.model, self.data, start, normal)
        self._read()
        return command

    def live(self, commands: Array, blocked: bool) -> None:
        """Simulate one physics step for each command.

        Args:
            commands: (n, 5, 12), rows q, dq, kp, kd, tau, as `sim_bridge.motors` has them.
            blocked: the motors give no torque.
        """
        if self._patches is not None:
            self._patches.apply(self.data)
        _step(MJ_STEP, self._addresses, commands, blocked, self._limits, *self._joints)
        self._read()

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); no time passes."""
        self._qpos[:], self._qvel[:] = mujoco_from_pinocchio(q, v)
        mujoco.mj_forward(self.model, self.data)
        self._read()

    def kick(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's."""
        self.base_velocity += velocity_in_world

    def push(self, force_in_world: Array) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        self.data.xfrc_applied[self._trunk, :3] = force_in_world

    def drive(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        self.data.qfrc_applied[6:] = torque

    def close(self) -> None:
        """Nothing to hand back."""

    def _read(self) -> None:
        """Write the robot's motion; its contacts are those that the last step solved for."""
        count = min(self.data.ncon, MOST_CONTACTS)
        if count and len(self._geoms) < MOST_CONTACTS:  # MuJoCo keeps them in one place for good
            contact = self.data.contact
            self._geoms, self._frames = (
                as_strided(part, (MOST_CONTACTS, part.shape[1]))
                for part in (contact.geom, contact.frame)
            )
        _read_motion(
            MJ_CONTACT_FORCE, self._addresses, self._qpos, self._qvel, self._ctrl,
            count, self._geoms, self._frames, self._parts, *self.motion,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _step(
    mj_step: int, addresses: tuple[int, int], commands: Array, blocked: bool,
    limits: Array, q: Array, dq: Array, torque: Array,
) -> None:  # fmt: skip
    """Step once for each command; q, dq and torque are views of the data's joints (12)."""
    for command in commands:
        if blocked:
            torque[:] = 0.0
        else:
            motor_torques(command, q, dq, limits, torque)
        call(mj_step, addresses)


@njit(cache=True)
def _read_motion(
    mj_contact_force: int, addresses: tuple[int, int], qpos: Array, qvel: Array, ctrl: Array,
    count: int, geoms: NDArray[np.int32], frames: Array, parts: NDArray[np.int64],
    q: Array, v: Array, torque: Array, foot_force: Array, normal_force: Array, trunk: Array,
) -> None:  # fmt: skip
    """Write the arrays of a `PhysicsState`, from `q` on.

    Only the ground can be touched. A contact's frame begins with the normal that points from its
    first geometry to the second, on which the force acts; the ground is either.

    Args:
        mj_contact_force: of the model and the data at `addresses`.
        qpos, qvel, ctrl: of the data.
        count, geoms, frames: of contacts; (n, 2), (n, 9) of them, n at least as many.
        parts: what each geometry belongs to.
    """
    q[:], v[:] = pinocchio_from_mujoco(qpos, qvel)
    torque[:] = ctrl
    foot_force[:], normal_force[:], trunk[0], wrench = 0.0, 0.0, 0.0, np.zeros(6)
    for index in range(count):
        call(mj_contact_force, (addresses[0], addresses[1], index, wrench.ctypes.data))
        is_first = parts[geoms[index, 0]] == GROUND
        sign, part = (1.0, parts[geoms[index, 1]]) if is_first else (-1.0, parts[geoms[index, 0]])
        if part == TRUNK:
            trunk[0] = 1.0
        if part >= 0:
            normal_force[part] += wrench[0]
            for axis in range(3):
                force = 0.0
                for k in range(3):
                    force += wrench[k] * frames[index, 3 * k + axis]
                foot_force[part, axis] += sign * force
