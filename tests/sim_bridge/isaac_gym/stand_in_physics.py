"""The physics of the stand-in for Isaac Gym: one MuJoCo model of the A1 for each robot."""

import copy
import xml.etree.ElementTree as ElementTree
from functools import cache

import mujoco
import numpy as np

from robots.mujoco_model import load_mujoco
from robots.rotations import rotation_from_quaternion
from robots.terrain import height_at, make_ground
from sim_bridge.rollouts.planning_model import planning_model
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in_api import RuleBroken
from tests.sim_bridge.isaac_gym.stand_in_gym import JOINTS

PROBES = ((0.011, 0.023), (0.317, -0.211), (-0.403, 0.109))  # [m]


class MujocoRobot:
    """One robot on a floor: with a planner's shapes where the URDF has none but the feet's."""

    def __init__(self, asset, params, floor, velocity_at="com", ground=None):
        """A robot above a floor, or on its copy of a ground.

        `floor`: parameters of a plane; or vertices, triangles and parameters of a mesh.
        `velocity_at`: of the trunk's point whose velocity the root's is, "com" or "origin".
        `ground`: that the mesh must be, and MuJoCo's model of a robot on it.
        """
        links = {link.get("name"): link for link in ElementTree.fromstring(asset.urdf).iter("link")}
        feet_only = links["trunk"].find("collision") is None
        self._ground, model = ground or (make_ground(), _read_model(feet_only))
        surface, model = floor, copy.copy(model)
        if isinstance(floor, tuple):
            surface = floor[2]
        else:
            _turn_floor(model, floor)
        model.opt.timestep = params.dt
        self._model, self._bodies = model, asset.bodies
        model.opt.gravity[:] = params.gravity.x, params.gravity.y, params.gravity.z
        _set_masses(model, links)
        # PhysX takes the mean of two frictions.
        model.geom_friction[:, 0] = 0.5 * (surface.static_friction + asset.shapes[0].friction)
        mujoco.mj_setConst(model, mujoco.MjData(model))
        self._data = mujoco.MjData(model)
        damping = asset.options.linear_damping, asset.options.angular_damping
        self._kept = 1.0 - params.dt * np.repeat(damping, 3)  # of the trunk's velocity, a step
        self._point = model.body("trunk").ipos if velocity_at == "com" else np.zeros(3)
        self._qpos = [int(model.joint(name).qposadr[0]) for name in JOINTS]
        self._dofs = [int(model.joint(name).dofadr[0]) for name in JOINTS]

    def com(self):
        return self._model.body("trunk").ipos.tolist()

    def armature(self, values):
        self._model.dof_armature[self._dofs] = values
        mujoco.mj_setConst(self._model, self._data)

    def ground_at(self, vertices, triangles):
        """Height of a copy of the ground in a mesh above the ground itself [m]."""
        above = [
            height_of(vertices, triangles, *at) - height_at(self._ground, *at) for at in PROBES
        ]
        if not np.ptp(above) < 1e-3:
            raise RuleBroken("a mesh that is not the ground")
        return np.mean(above)

    def place(self, root=None, dof=None):
        data = self._data
        if root is not None:
            data.qpos[:3], data.qpos[3], data.qpos[4:7] = root[:3], root[6], root[3:6]
            rotation = rotation_from_quaternion(root[3:7])
            data.qvel[3:6] = root[10:13] @ rotation
            data.qvel[:3] = root[7:10] - np.cross(root[10:13], rotation @ self._point)
        if dof is not None:
            data.qpos[self._qpos], data.qvel[self._dofs] = dof[0::2], dof[1::2]

    def step(self, effort, forces, fastest):
        data = self._data
        data.qfrc_applied[self._dofs] = effort
        data.xfrc_applied[self._model.body("trunk").id, :3] = forces[0]
        mujoco.mj_step(self._model, data)
        data.qvel[:6] *= self._kept
        data.qvel[self._dofs] = np.clip(data.qvel[self._dofs], -fastest, fastest)

    def root(self):
        qpos, qvel = self._data.qpos, self._data.qvel
        quaternion = np.array([qpos[4], qpos[5], qpos[6], qpos[3]])
        rotation = rotation_from_quaternion(quaternion)
        angular = rotation @ qvel[3:6]
        linear = qvel[:3] + np.cross(angular, rotation @ self._point)
        return np.concatenate((qpos[:3], quaternion, linear, angular))

    def joints(self):
        return np.stack((self._data.qpos[self._qpos], self._data.qvel[self._dofs]), axis=1)

    def forces(self):
        """On each body (B, 3), in world [N]; a foot counts for itself though MuJoCo melts it."""
        total, wrench = np.zeros((len(self._bodies), 3)), np.zeros(6)
        for index in range(self._data.ncon):
            contact = self._data.contact[index]
            second = int(contact.geom[1])  # which the force acts on
            sign = 1.0 if self._model.geom_bodyid[second] else -1.0
            geom = self._model.geom(second if sign > 0.0 else int(contact.geom[0]))
            owner = geom.name if geom.name.endswith("_foot") else None
            owner = owner or self._model.body(int(geom.bodyid[0])).name
            mujoco.mj_contactForce(self._model, self._data, index, wrench)
            force = wrench[:3] @ contact.frame.reshape(3, 3)
            total[self._bodies.index(owner)] += sign * force
        return total


@cache
def _read_model(feet_only):
    return planning_model(A1, 0.001) if feet_only else load_mujoco(A1, 0.001)


def height_of(vertices, triangles, x, y):
    """Of the highest triangle above a place [m]; -inf where there is none."""
    corners = vertices[triangles].astype(np.float64)
    a, edges = corners[:, 0], (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    seen = np.abs(np.linalg.det(edges[:, :2])) > 1e-12
    a, edges = a[seen], edges[seen]
    part = np.linalg.solve(edges[:, :2], (np.array([x, y]) - a[:, :2])[..., None])
    over = (part.min(axis=(1, 2)) >= 0.0) & (part.sum(axis=(1, 2)) <= 1.0)
    return np.max((a[:, 2:] + (edges[:, 2:] @ part)[..., 0])[over], initial=-np.inf)


def _set_masses(model, links):
    """Take masses from the URDF: a factor for all, then what the trunk has more."""

    def mass(name):
        return float(links[name].find("inertial/mass").get("value"))

    scale = mass("FR_thigh") / float(model.body("FR_thigh").mass[0])
    extra = mass("trunk") + mass("imu") - scale * float(model.body("trunk").mass[0])
    model.body_mass[:] *= scale
    model.body_inertia[:] *= scale
    model.body_mass[model.body("trunk").id] += extra if abs(extra) > 1e-9 else 0.0


def _turn_floor(model, plane):
    """The plane's normal is a rotation about y."""
    half = 0.5 * np.arctan2(plane.normal.x, plane.normal.z)
    model.geom_quat[model.geom("floor").id] = np.cos(half), 0.0, np.sin(half), 0.0
