"""Rollouts as plainly as they can be written, which backends are held against.

One candidate, one knot and one physics step at a time, in double precision; momenta come from
Pinocchio.
"""

import mujoco
import numpy as np
import pinocchio as pin

from robots.conventions import FOOT_NAMES
from robots.pinocchio_model import load_pinocchio
from robots.state import difference, mujoco_from_pinocchio, pinocchio_from_mujoco
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.planning_model import planning_model
from tests.a1 import A1


def roll_out(
    x0, policies, period, substeps, ground = None,
    vertical = False,
):  # fmt: skip
    """What every candidate does, by MuJoCo; forces are normal to the ground, or `vertical`."""
    model = planning_model(A1, period / substeps, ground)
    forces_on = vertical_forces if vertical else normal_forces
    each = [_roll(model, c, x0, policies, substeps, forces_on) for c in range(policies.count)]
    states, inputs, forces = (np.array(part) for part in zip(*each, strict=True))
    finite = np.isfinite(states).all(axis=(1, 2)) & np.isfinite(inputs).all(axis=(1, 2))
    return RolloutBatch(states, inputs, forces, finite)


def _roll(
    model, c, x0, policies, substeps,
    forces_on,
):  # fmt: skip
    data, knots = mujoco.MjData(model), policies.inputs.shape[1]
    data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x0[:19], x0[19:])
    states, inputs, forces = [], [], []
    for k in range(knots):
        states.append(np.concatenate(pinocchio_from_mujoco(data.qpos, data.qvel)))
        inputs.append(torque(policies, c, k, states[k]))
        data.ctrl[:] = inputs[k]
        for _ in range(substeps):
            mujoco.mj_step(model, data)
        forces.append(forces_on(model, data))
    states.append(np.concatenate(pinocchio_from_mujoco(data.qpos, data.qvel)))
    return np.array(states), np.array(inputs), np.array(forces)


def normal_forces(_, data):
    """On each foot in the last step [N]."""
    return [data.sensor(f"{foot}_touch").data[0] for foot in FOOT_NAMES]


def contact_forces(model, data):
    """The robot's geom and the force on it in world [N] of each contact of the last step."""
    wrench = np.zeros(6)
    for index, contact in enumerate(data.contact):
        mujoco.mj_contactForce(model, data, index, wrench)
        second = int(contact.geom[1])  # which the force acts on
        sign = 1.0 if model.geom_bodyid[second] else -1.0
        geom = model.geom(second if sign > 0.0 else int(contact.geom[0]))
        yield geom, sign * (wrench[:3] @ contact.frame.reshape(3, 3))


def vertical_forces(model, data):
    """On each foot in the last step, friction's part included [N]."""
    total = dict.fromkeys(FOOT_NAMES, 0.0)
    for geom, force in contact_forces(model, data):
        total[geom.name.removesuffix("_foot")] += float(force[2])
    return [max(0.0, total[foot]) for foot in FOOT_NAMES]


def torque(policies, c, k, x):
    """The law of candidate c at knot k and state x (37,): (5.17), limited."""
    p = policies.policy_index[c]
    asked = policies.inputs[p, k] + policies.step_size[c] * policies.feedforward[p, k]
    nominal = policies.states[p, k]
    dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
    asked = asked + policies.gains[p, k] @ dx
    return np.clip(asked, -A1.torque_limit[0], A1.torque_limit[0])


class Momentum:
    """Momenta and places of the robot, by Pinocchio, of one state x (37,) at a time."""

    def __init__(self):
        self.model = load_pinocchio(A1)
        self.data = self.model.createData()
        self.mass = pin.computeTotalMass(self.model)

    def centre(self, x):
        """Centre of mass in the world (3,) [m]."""
        return pin.centerOfMass(self.model, self.data, x[:19]).copy()

    def of(self, x):
        """Linear (3) [N s] and angular momentum (3) [N m s] about the centre of mass, in world."""
        return pin.computeCentroidalMomentum(self.model, self.data, x[:19], x[19:]).vector.copy()
