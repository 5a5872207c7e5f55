"""Rollouts as plainly as they can be written, which backends are held against.

One candidate, one knot and one physics step at a time, in double precision. States are converted by
SciPy and momenta come from Pinocchio: nothing here is shared with the backends but the robot.
"""

from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from hybrid.hilqr import Policies
from robots.conventions import FOOT_NAMES
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.terrain import Ground
from sim_bridge.rollouts.batch import Array, RolloutBatch
from sim_bridge.rollouts.planning_model import planning_model
from tests.a1 import A1


def roll_out(
    x0: Array, policies: Policies, period: float, substeps: int, ground: Ground | None = None,
    vertical: bool = False,
) -> RolloutBatch:  # fmt: skip
    """What every candidate does, by MuJoCo; forces are normal to the ground, or `vertical`."""
    model = planning_model(A1, period / substeps, ground)
    forces_on = vertical_forces if vertical else normal_forces
    each = [_roll(model, c, x0, policies, substeps, forces_on) for c in range(policies.count)]
    states, inputs, forces = (np.array(part) for part in zip(*each, strict=True))
    finite = np.isfinite(states).all(axis=(1, 2)) & np.isfinite(inputs).all(axis=(1, 2))
    return RolloutBatch(states, inputs, forces, finite)


def _roll(
    model: mujoco.MjModel, c: int, x0: Array, policies: Policies, substeps: int,
    forces_on: Callable[[mujoco.MjModel, mujoco.MjData], list[float]],
) -> tuple[Array, Array, Array]:  # fmt: skip
    data, knots = mujoco.MjData(model), policies.inputs.shape[1]
    data.qpos[:], data.qvel[:] = to_mujoco(x0)
    states, inputs, forces = [], [], []
    for k in range(knots):
        states.append(from_mujoco(data.qpos, data.qvel))
        inputs.append(torque(policies, c, k, states[k]))
        data.ctrl[:] = inputs[k]
        for _ in range(substeps):
            mujoco.mj_step(model, data)
        forces.append(forces_on(model, data))
    states.append(from_mujoco(data.qpos, data.qvel))
    return np.array(states), np.array(inputs), np.array(forces)


def normal_forces(_: mujoco.MjModel, data: mujoco.MjData) -> list[float]:
    """On each foot in the last step [N]."""
    return [data.sensor(f"{foot}_touch").data[0] for foot in FOOT_NAMES]


def vertical_forces(model: mujoco.MjModel, data: mujoco.MjData) -> list[float]:
    """On each foot in the last step, friction's part included [N]."""
    total, wrench = dict.fromkeys(FOOT_NAMES, 0.0), np.zeros(6)
    for index, contact in enumerate(data.contact):
        mujoco.mj_contactForce(model, data, index, wrench)
        second = int(contact.geom[1])  # which the force acts on
        sign = 1.0 if model.geom_bodyid[second] else -1.0
        foot = model.geom(second if sign > 0.0 else int(contact.geom[0])).name.removesuffix("_foot")
        total[foot] += sign * float(wrench[:3] @ contact.frame.reshape(3, 3)[:, 2])
    return [max(0.0, total[foot]) for foot in FOOT_NAMES]


def torque(policies: Policies, c: int, k: int, x: Array) -> Array:
    """The law of candidate c at knot k and state x (37,): (5.17), limited."""
    p = policies.policy_index[c]
    asked = policies.inputs[p, k] + policies.step_size[c] * policies.feedforward[p, k]
    asked = asked + policies.gains[p, k] @ difference(policies.states[p, k], x)
    return np.clip(asked, -A1.torque_limit[0], A1.torque_limit[0])


def difference(reference: Array, x: Array) -> Array:
    """x (-) reference (36,), as `robots.state` defines it."""
    R = Rotation.from_quat(reference[3:7]).inv()
    turn = (R * Rotation.from_quat(x[3:7])).as_rotvec()
    moved = R.apply(x[:3] - reference[:3])
    return np.concatenate([moved, turn, x[7:] - reference[7:]])


def to_mujoco(x: Array) -> tuple[Array, Array]:
    """(qpos, qvel) of x (37,): w first, linear velocity in the world."""
    linear = Rotation.from_quat(x[3:7]).apply(x[19:22])
    return np.concatenate([x[:3], x[[6, 3, 4, 5]], x[7:19]]), np.concatenate([linear, x[22:]])


def from_mujoco(qpos: Array, qvel: Array) -> Array:
    """The state x (37,) of MuJoCo's."""
    quaternion = qpos[[4, 5, 6, 3]]
    if not np.isfinite(quaternion).all():
        return np.full(37, np.nan)
    linear = Rotation.from_quat(quaternion).inv().apply(qvel[:3])
    return np.concatenate([qpos[:3], quaternion, qpos[7:], linear, qvel[3:]])


class Momentum:
    """Momenta and places of the robot, by Pinocchio, of one state x (37,) at a time."""

    def __init__(self) -> None:
        self.model = load_pinocchio(A1)
        self.data = self.model.createData()
        self.mass = pin.computeTotalMass(self.model)
        self.feet = foot_frame_ids(self.model)

    def centre(self, x: Array) -> Array:
        """Centre of mass in the world (3,) [m]."""
        return pin.centerOfMass(self.model, self.data, x[:19]).copy()

    def of(self, x: Array) -> Array:
        """Linear (3) [N s] and angular momentum (3) [N m s] about the centre of mass, in world."""
        return pin.computeCentroidalMomentum(self.model, self.data, x[:19], x[19:]).vector.copy()

    def foot_positions(self, x: Array) -> Array:
        """Centres of the feet in the world (4, 3) [m]."""
        pin.framesForwardKinematics(self.model, self.data, x[:19])
        return np.array([self.data.oMf[i].translation for i in self.feet])

    def acceleration(self, x: Array, tau: Array) -> Array:
        """Joint accelerations (12,) [rad/s^2] of the robot in the air under torques (12,)."""
        force = np.concatenate([np.zeros(6), tau])
        return pin.aba(self.model, self.data, x[:19], x[19:], force)[6:].copy()
