"""A stand-in for Isaac Gym: its names, the rules of its tensor API, and MuJoCo as its physics.

Names are those of the documentation of Preview 3 and of the type stubs yzqin/isaacgym-stubs
(Preview 4). As in a compiled module, what a type does not have cannot be set; a call that this does
not know is an AttributeError; a broken rule is `RuleBroken`. torch is the real one where it is
installed, and otherwise the few functions that the server uses, by numpy.

No result says anything about PhysX. It says that the server keeps the rules, and that frames,
orders and indices are right.
"""

import copy
import os
import weakref
import xml.etree.ElementTree as ElementTree
from functools import cache, partial
from types import SimpleNamespace

import mujoco
import numpy as np

from robots.mujoco_model import load_mujoco
from robots.rotations import rotation_from_quaternion
from sim_bridge.rollouts.planning_model import planning_model
from tests.a1 import A1
from tests.sim_bridge.rollouts.plain import contact_forces

LEGS = ("FL", "FR", "RL", "RR")  # Isaac Gym sorts, whatever the order in the URDF
JOINTS = [f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf")]
CALLS = []  # of Isaac Gym, and "to host" for each tensor that is copied there


class RuleBroken(BaseException):
    """A rule of Isaac Gym's was broken; no `except Exception` of the code under test hides it."""


class Tensor(np.ndarray):
    """The little of a torch tensor that the server needs."""

    device = "cpu"

    def __array_finalize__(self, source):
        self.device = getattr(source, "device", "cpu")

    def cpu(self):
        CALLS.append("to host")
        return self

    def numpy(self):
        return np.array(self)

    def to(self, dtype):
        return self.astype(dtype)


def _as_tensor(values, device="cpu"):
    made = np.array(values).view(Tensor)
    made.device = device
    return made


def _by(function, axis="axis"):
    return lambda *arrays, dim=None: function(*arrays, **({} if dim is None else {axis: dim})).view(
        Tensor
    )


try:
    import torch
except ImportError:
    torch = SimpleNamespace(
        as_tensor=_as_tensor, float64=np.float64, cross=_by(np.cross), cat=_by(np.concatenate),
        where=_by(np.where), atan2=_by(np.arctan2), minimum=_by(np.minimum),
        maximum=_by(np.maximum), isfinite=lambda x: np.isfinite(x),
    )  # fmt: skip
GPU = "cuda:0" if isinstance(torch, SimpleNamespace) else "cpu"  # where tensors of its pipeline are

CONSTANTS = {"UP_AXIS_Z": 1, "SIM_PHYSX": 0, "CC_LAST_SUBSTEP": 1, "DOF_MODE_EFFORT": 3,
             "ENV_SPACE": 0}  # fmt: skip
TENSORS = {
    "actor_root_state_tensor": "root", "dof_state_tensor": "dof",
    "net_contact_force_tensor": "contact", "dof_actuation_force_tensor": "effort",
}  # fmt: skip


def _struct(name, others="", **fields):
    """A type with these fields and their defaults (0 for `others`); callables make a default."""
    fields.update(dict.fromkeys(others.split(), 0.0))

    def start(self, *values):
        for field, default in fields.items():
            setattr(self, field, default() if callable(default) else default)
        for field, value in zip(fields, values, strict=False):
            setattr(self, field, value)

    return type(name, (), {"__slots__": tuple(fields), "__init__": start})


# Fields that the server sets, and those whose defaults would do harm.
Vec3 = _struct("Vec3", "x y z")
PhysX = _struct(
    "PhysX",
    """use_gpu num_threads solver_type num_position_iterations num_velocity_iterations
    contact_offset rest_offset bounce_threshold_velocity max_depenetration_velocity
    max_gpu_contact_pairs contact_collection""",
)
Shape = _struct("Shape", "restitution", friction=1.0)
gymapi = SimpleNamespace(
    Vec3=Vec3, Transform=_struct("Transform", "r", p=Vec3),
    SimParams=_struct("SimParams", "dt substeps use_gpu_pipeline up_axis", gravity=Vec3,
                      physx=PhysX),
    PlaneParams=_struct("Plane", "distance static_friction dynamic_friction restitution",
                        normal=Vec3),
    TriangleMeshParams=_struct("Mesh", """nb_vertices nb_triangles static_friction dynamic_friction
                               restitution"""),
    AssetOptions=_struct(
        "AssetOptions",
        """default_dof_drive_mode collapse_fixed_joints fix_base_link disable_gravity armature
        linear_damping max_linear_velocity max_angular_velocity replace_cylinder_with_capsule
        enable_gyroscopic_forces""", angular_damping=0.5, thickness=0.02,
    ),
    **CONSTANTS,
)  # fmt: skip
DOF_PROPERTIES = np.dtype(
    [("driveMode", "<i4")]
    + [(name, "<f4") for name in "velocity effort stiffness damping friction armature".split()]
)


class Descriptor:
    """An address; the tensor there may be gone."""

    def __init__(self, tensor):
        assert getattr(tensor, "is_contiguous", lambda: True)()
        self._reference = weakref.ref(tensor)

    def tensor(self):
        tensor = self._reference()
        if tensor is None:
            raise RuleBroken("a tensor handed over was not kept: its address holds anything")
        return tensor


gymtorch = SimpleNamespace(unwrap_tensor=Descriptor, wrap_tensor=lambda held: held.tensor())


class Asset:
    """A URDF as Isaac Gym reads it: fixed joints collapse, unless they ask not to."""

    def __init__(self, urdf, options):
        self.urdf, self.options, robot = urdf, options, ElementTree.fromstring(urdf)
        melted = {
            joint.find("child").get("link") for joint in robot.findall("joint[@type='fixed']")
            if options.collapse_fixed_joints and joint.get("dont_collapse") != "true"
        }  # fmt: skip
        kept = [link.get("name") for link in robot.findall("link")]
        kept = [name for name in kept if name not in melted]
        legs = [[name for name in kept if name.startswith(leg)] for leg in LEGS]
        self.bodies = [name for name in kept if name[:2] not in LEGS] + sum(legs, [])
        found = sorted(joint.get("name") for joint in robot.findall("joint[@type='revolute']"))
        self.joints = JOINTS if found == sorted(JOINTS) else found
        self.shapes = [Shape() for _ in robot.iter("collision")]


class Gym:
    """One process's Isaac Gym: one simulation. Attributes that tests read: `asset`."""

    def __init__(self, velocity_at="com", ground=None):
        """`velocity_at`: of the trunk's point whose velocity the root's is, "com" or "origin".

        `ground`: that a mesh must be.
        """
        self._velocity_at, self._known, self._params = velocity_at, ground, None
        self._floor = self._model = None
        self._robots, self._groups, self._acquired = [], set(), {}
        self._prepared, self._fetched = False, True
        self._pending, self._refreshed = {}, set()

    def create_sim(self, compute_device, graphics_device, sim_type, params):
        if self._params is not None:
            raise RuleBroken("a second simulation in one process")
        assert params.up_axis == CONSTANTS["UP_AXIS_Z"]
        assert params.physx.contact_collection == CONSTANTS["CC_LAST_SUBSTEP"]
        self._params = params
        return self

    def add_ground(self, sim, plane):
        self._floor = plane

    def add_triangle_mesh(self, sim, vertices, triangles, params):
        assert vertices.dtype == np.float32 and triangles.dtype == np.uint32
        self._floor, self._model = params, planning_model(A1, 0.001, self._known)

    def load_asset(self, sim, folder, file, options):
        with open(os.path.join(folder, file)) as text:
            self.asset = Asset(text.read(), options)
        return self.asset

    def get_asset_dof_names(self, asset):
        return list(asset.joints)

    def get_asset_rigid_body_names(self, asset):
        return list(asset.bodies)

    def get_asset_rigid_shape_properties(self, asset):
        return asset.shapes

    def set_asset_rigid_shape_properties(self, asset, shapes):
        asset.shapes = shapes

    def create_env(self, sim, lower, upper, per_row):
        return len(self._robots)

    def create_actor(self, env, asset, pose, name, group=-1, filter=-1, segmentation=0):
        if group in self._groups or group < 0 or filter <= 0:
            raise RuleBroken("robots of one group, or the shapes of one robot, push each other")
        self._groups.add(group)
        made_of = asset, self._params, self._floor, self._velocity_at, self._model
        self._robots.append(MujocoRobot(*made_of))
        return 0

    def get_actor_rigid_body_properties(self, env, actor):
        return self._robots[env].bodies()

    def get_actor_dof_properties(self, env, actor):
        return self._robots[env].joint_properties.copy()

    def set_actor_dof_properties(self, env, actor, joints):
        self._robots[env].set_joints(joints.copy())

    def prepare_sim(self, sim):
        self._prepared = True

    def __getattr__(self, call):
        """acquire_..., refresh_... and set_... of `TENSORS`."""
        verb, _, tensor = call.partition("_")
        if tensor not in TENSORS:
            raise AttributeError(call)
        return partial(getattr(type(self), "_" + verb), self, TENSORS[tensor])

    def apply_rigid_body_force_tensors(self, sim, force, torque, space):
        assert torque is None and space == CONSTANTS["ENV_SPACE"]
        self._set("force", sim, force)

    def simulate(self, sim):
        """Apply what was set, step, and forget efforts and forces."""
        CALLS.append("simulate")
        if not self._prepared or not self._fetched:
            raise RuleBroken("simulate before prepare_sim, or without fetch_results on the CPU")
        given = {name: self._values(name) for name in self._pending}
        self._pending, self._refreshed = {}, set()
        for index, robot in enumerate(self._robots):
            robot.step(**{name: rows[index] for name, rows in given.items()})
        self._fetched = bool(self._params.use_gpu_pipeline)

    def fetch_results(self, sim, wait):
        self._fetched = True

    def _acquire(self, name, sim):
        if not self._prepared or name in self._acquired:
            raise RuleBroken(f"the {name} tensor before prepare_sim, or twice")
        device = GPU if self._params.use_gpu_pipeline else "cpu"
        self._acquired[name] = torch.as_tensor(0.0 * self._rows(name), device=device)
        return Descriptor(self._acquired[name])

    def _rows(self, name):
        return np.concatenate([getattr(robot, name)() for robot in self._robots]).astype("f4")

    def _refresh(self, name, sim):
        if self._pending or not self._fetched or name in self._refreshed:
            raise RuleBroken(f"{name} refreshed after a setter, before fetch_results, or twice")
        self._refreshed.add(name)
        self._acquired[name][:] = torch.as_tensor(self._rows(name))

    def _set(self, name, sim, descriptor):
        CALLS.append("set " + name)
        tensor = descriptor.tensor()
        if name in self._pending:
            raise RuleBroken(f"{name} set twice between two simulates: the first is lost")
        if tensor.device != self._acquired["root"].device or "float32" not in str(tensor.dtype):
            raise RuleBroken("a float32 tensor on the pipeline's device is needed")
        self._pending[name] = descriptor

    def _values(self, name):
        """What was set, a row for each robot, read only now from where its tensor was."""
        values = np.asarray(self._pending[name].tensor()).astype(np.float64)
        if not np.isfinite(values).all():
            raise RuleBroken(f"{name} that is no number, in a scene that all robots share")
        return values.reshape(len(self._robots), -1)


class MujocoRobot:
    """One robot on a floor: with a planner's shapes where the URDF has none but the feet's."""

    def __init__(self, asset, params, floor, velocity_at, ground):
        """`ground`: MuJoCo's model of a robot on it; None on the plane `floor`."""
        links = {link.get("name"): link for link in ElementTree.fromstring(asset.urdf).iter("link")}
        feet_only = links["trunk"].find("collision") is None
        self._model = model = copy.copy(ground or _read_model(feet_only))
        if ground is None:  # the plane's normal is a rotation about y
            half = 0.5 * np.arctan2(floor.normal.x, floor.normal.z)
            model.geom_quat[model.geom("floor").id] = np.cos(half), 0.0, np.sin(half), 0.0
        model.opt.timestep = params.dt
        model.opt.gravity[:] = params.gravity.x, params.gravity.y, params.gravity.z
        _set_masses(model, links)
        # PhysX takes the mean of two frictions.
        model.geom_friction[:, 0] = 0.5 * (floor.static_friction + asset.shapes[0].friction)
        damping = asset.options.linear_damping, asset.options.angular_damping
        self._kept = 1.0 - params.dt * np.repeat(damping, 3)  # of the trunk's velocity, a step
        self._point = model.body("trunk").ipos if velocity_at == "com" else np.zeros(3)
        self._qpos = [int(model.joint(name).qposadr[0]) for name in JOINTS]
        self._dofs = [int(model.joint(name).dofadr[0]) for name in JOINTS]
        self._bodies, self._data = asset.bodies, mujoco.MjData(model)
        self.joint_properties = np.zeros(12, DOF_PROPERTIES)
        self.joint_properties["velocity"], self.joint_properties["effort"] = 21.0, 33.5

    def bodies(self):
        com = Vec3(*self._model.body("trunk").ipos)
        masses = [self._model.body_mass.sum(), *(0.0 for _ in self._bodies[1:])]
        return [SimpleNamespace(mass=mass, com=com) for mass in masses]

    def set_joints(self, joints):
        if any(joints[name].any() for name in ("stiffness", "damping", "friction")):
            raise RuleBroken("a drive or friction besides the efforts")
        assert (joints["driveMode"] == CONSTANTS["DOF_MODE_EFFORT"]).all()
        self.joint_properties = joints
        self._model.dof_armature[self._dofs] = joints["armature"]
        mujoco.mj_setConst(self._model, self._data)

    def step(self, effort, root=None, dof=None, force=None):
        data, joints = self._data, self.joint_properties
        if root is not None:
            data.qpos[:3], data.qpos[3], data.qpos[4:7] = root[:3], root[6], root[3:6]
            rotation = rotation_from_quaternion(root[3:7])
            data.qvel[3:6] = root[10:13] @ rotation
            data.qvel[:3] = root[7:10] - np.cross(root[10:13], rotation @ self._point)
            data.qpos[self._qpos], data.qvel[self._dofs] = dof[0::2], dof[1::2]
        data.qfrc_applied[self._dofs] = np.clip(effort, -joints["effort"], joints["effort"])
        data.xfrc_applied[self._model.body("trunk").id, :3] = 0.0 if force is None else force[:3]
        mujoco.mj_step(self._model, data)
        data.qvel[:6] *= self._kept
        fastest = joints["velocity"]
        data.qvel[self._dofs] = np.clip(data.qvel[self._dofs], -fastest, fastest)

    def root(self):
        qpos, qvel = self._data.qpos, self._data.qvel
        quaternion = np.array([*qpos[4:7], qpos[3]])
        rotation = rotation_from_quaternion(quaternion)
        angular = rotation @ qvel[3:6]
        linear = qvel[:3] + np.cross(angular, rotation @ self._point)
        return np.concatenate((qpos[:3], quaternion, linear, angular))[None]

    def dof(self):
        return np.stack((self._data.qpos[self._qpos], self._data.qvel[self._dofs]), axis=1)

    def contact(self):
        """On each body (B, 3), in world [N]; a foot counts for itself though MuJoCo melts it."""
        total = np.zeros((len(self._bodies), 3))
        for geom, force in contact_forces(self._model, self._data):
            body = self._model.body(int(geom.bodyid[0])).name
            owner = geom.name if geom.name.endswith("_foot") else body
            total[self._bodies.index(owner)] += force
        return total


@cache
def _read_model(feet_only):
    return planning_model(A1, 0.001) if feet_only else load_mujoco(A1, 0.001)


def height_of(vertices, triangles, x, y):
    """Of the highest triangle above a place [m], which must look up; -inf where there is none."""
    corners = vertices[triangles].astype(np.float64)
    a, edges = corners[:, 0], (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    up = np.linalg.det(edges[:, :2]) > 1e-12
    a, edges = a[up], edges[up]
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
