"""A stand-in for Isaac Gym itself: it has its calls, and enforces the rules of its tensor API.

The physics is another's (`make_robot`). A call that Isaac Gym does not have, or that this stand-in
does not know, is an AttributeError; a broken rule is `RuleBroken`. Setters and steps are counted
in `calls`. Runs under Python 3.8.
"""

import os
import xml.etree.ElementTree as ElementTree

import numpy as np

from tests.sim_bridge.isaac_gym.stand_in_api import (
    CONSTANTS,
    DOF_PROPERTIES,
    CoordinateSpace,
    Descriptor,
    RigidBodyProperties,
    RigidShapeProperties,
    RuleBroken,
    SimType,
    Tensor,
    Vec3,
    expect,
)

LEGS = ("FL", "FR", "RL", "RR")  # Isaac Gym sorts, whatever the order in the URDF
JOINTS = [f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf")]


class Asset:
    """A URDF as Isaac Gym reads it: fixed joints collapse, unless they ask not to."""

    def __init__(self, urdf, options):
        self.urdf, self.options = urdf, options
        robot = ElementTree.fromstring(urdf)
        melted = set()
        for joint in robot.findall("joint[@type='fixed']"):
            if options.collapse_fixed_joints and joint.get("dont_collapse") != "true":
                melted.add(joint.find("child").get("link"))
        names = [link.get("name") for link in robot.findall("link")]
        kept = [name for name in names if name not in melted]
        legs = [[name for name in kept if name.startswith(leg)] for leg in LEGS]
        self.bodies = [name for name in kept if name[:2] not in LEGS] + sum(legs, [])
        found = sorted(joint.get("name") for joint in robot.findall("joint[@type='revolute']"))
        self.joints = JOINTS if found == sorted(JOINTS) else found
        shapes = sum(len(link.findall("collision")) for link in robot.findall("link"))
        self.shapes = [RigidShapeProperties() for _ in range(shapes)]


class Env:
    """An environment and the one robot in it, whose physics is told of no other place than here."""

    def __init__(self):
        self.robot = None
        self.joints = None
        self.start = np.zeros(3)  # where it was made
        self.place = np.zeros(3)  # of its copy of the ground; a level floor is so everywhere

    def root(self):
        return self.robot.root() + np.pad(self.place, (0, 10))


class Gym:
    """One process's Isaac Gym: one simulation."""

    def __init__(self, make_robot):
        """`make_robot(asset, params, floor)`: see `stand_in_physics.MujocoRobot`."""
        self.calls, self._make_robot = [], make_robot
        self._params = self._plane = self._mesh = None
        self._envs, self._groups, self._acquired = [], set(), {}
        self._prepared = self._fetched = False
        self._pending, self._refreshed = {}, set()

    # Setting up.

    def create_sim(self, compute_device, graphics_device, sim_type, params):
        expect(sim_type, SimType)
        if self._params is not None:
            raise RuleBroken("a second simulation in one process")
        self._params, self._fetched, self.device = params, True, compute_device
        return self

    def add_ground(self, sim, plane):
        self._plane = plane

    def add_triangle_mesh(self, sim, vertices, triangles, params):
        if self._prepared or self._mesh is not None:
            raise RuleBroken("a ground after prepare_sim, or a second one")
        if vertices.dtype != np.float32 or triangles.dtype != np.uint32:
            raise TypeError("incompatible function arguments: float32 and uint32 are needed")
        self._mesh = (vertices.reshape(-1, 3), triangles.reshape(-1, 3), params)

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
        self._envs.append(Env())
        return self._envs[-1]

    def create_actor(self, env, asset, pose, name, group=-1, filter=-1, segmentation=0):
        if group in self._groups or group < 0:
            raise RuleBroken("robots of one origin and one collision group push each other apart")
        if filter <= 0:  # 0: all of one robot's shapes collide; -1: as the file says, or so
            raise RuleBroken("shapes of one robot push each other apart")
        self._groups.add(group)
        env.start[:] = pose.p.x, pose.p.y, pose.p.z
        if self._mesh is None:
            env.place[:2] = pose.p.x, pose.p.y
            if self._plane.normal.z != 1.0 and env.place.any():
                raise RuleBroken("a floor that slopes is another one elsewhere")
        floor = self._mesh or self._plane
        env.robot = self._make_robot(asset, self._params, floor)
        env.joints = np.zeros(12, DOF_PROPERTIES)
        env.joints["velocity"], env.joints["effort"] = 21.0, 33.5  # as in the URDF
        return 0

    def get_actor_rigid_body_properties(self, env, actor):
        return [RigidBodyProperties(com=Vec3(*env.robot.com()))]

    def get_actor_dof_properties(self, env, actor):
        return env.joints.copy()

    def set_actor_dof_properties(self, env, actor, joints):
        env.joints = joints.copy()
        env.robot.armature(joints["armature"])

    def prepare_sim(self, sim):
        self._check_apart(np.array([env.start for env in self._envs]))
        if self._mesh is not None:
            vertices, triangles, _ = self._mesh
            copies = np.split(triangles, len(self._envs))
            for env, triangles in zip(self._envs, copies):  # noqa: B905
                env.place[2] = env.robot.ground_at(vertices, triangles)
        self._prepared = True

    # Tensors.

    def acquire_actor_root_state_tensor(self, sim):
        return self._acquire("root", (len(self._envs), 13))

    def acquire_dof_state_tensor(self, sim):
        return self._acquire("dof", (12 * len(self._envs), 2))

    def acquire_net_contact_force_tensor(self, sim):
        return self._acquire("contact", (len(self._envs) * self._bodies(), 3))

    def refresh_actor_root_state_tensor(self, sim):
        self._refresh("root", [env.root() for env in self._envs])

    def refresh_dof_state_tensor(self, sim):
        self._refresh("dof", [env.robot.joints() for env in self._envs])

    def refresh_net_contact_force_tensor(self, sim):
        collected = self._params.physx.contact_collection != CONSTANTS["CC_NEVER"]
        self._refresh("contact", [collected * env.robot.forces() for env in self._envs])

    def set_actor_root_state_tensor(self, sim, states):
        self._set("root", states)

    def set_dof_state_tensor(self, sim, states):
        self._set("dof", states)

    def set_dof_actuation_force_tensor(self, sim, efforts):
        self._set("effort", efforts)

    def apply_rigid_body_force_tensors(
        self, sim, force=None, torque=None, space=CoordinateSpace.ENV_SPACE
    ):
        expect(space, CoordinateSpace)
        if torque is not None or space == CONSTANTS["LOCAL_SPACE"]:
            raise RuleBroken("this stand-in knows forces in the world alone")
        self._set("force", force)

    # Time.

    def simulate(self, sim):
        """Apply what was set, live through a step, and forget efforts and forces."""
        self.calls.append("simulate")
        if not self._prepared:
            raise RuleBroken("simulate before prepare_sim")
        if not self._fetched:
            raise RuleBroken("the CPU pipeline needs fetch_results between two simulates")
        self._apply_states()
        efforts = self._values("effort", (len(self._envs), 12))
        forces = self._values("force", (len(self._envs), self._bodies(), 3))
        self._pending, self._refreshed = {}, set()
        for env, effort, force in zip(self._envs, efforts, forces):  # noqa: B905
            if any(env.joints[name].any() for name in ("stiffness", "damping", "friction")):
                raise RuleBroken("a drive or friction besides the efforts")
            obeys = env.joints["driveMode"] == CONSTANTS["DOF_MODE_EFFORT"]
            effort = np.clip(effort, -env.joints["effort"], env.joints["effort"])
            env.robot.step(np.where(obeys, effort, 0.0), force, env.joints["velocity"])
        self._fetched = bool(self._params.use_gpu_pipeline)

    def fetch_results(self, sim, wait):
        self._fetched = True

    # The rules.

    def _bodies(self):
        return len(self._envs[0].robot.forces())

    def _device(self):
        return "cuda:0" if self._params.use_gpu_pipeline else "cpu"

    def _acquire(self, name, shape):
        if not self._prepared:
            raise RuleBroken("a tensor before prepare_sim")
        if name in self._acquired:
            raise RuleBroken(f"the {name} tensor acquired twice")
        self._acquired[name] = Tensor(np.zeros(shape, np.float32), self._device())
        return Descriptor(self._acquired[name], kept=True)

    def _refresh(self, name, rows):
        if self._pending:
            raise RuleBroken("a refresh after a setter returns stale data")
        if not self._fetched:
            raise RuleBroken("the CPU pipeline needs fetch_results before a refresh")
        if name in self._refreshed:
            raise RuleBroken(f"{name} refreshed twice after one simulate")
        self._refreshed.add(name)
        self._acquired[name]._data[...] = np.concatenate(rows).reshape(self._acquired[name].shape)

    def _set(self, name, descriptor):
        self.calls.append("set_" + name)
        if not isinstance(descriptor, Descriptor):
            raise TypeError("incompatible function arguments: a gymapi.Tensor is needed")
        if name in self._pending:
            raise RuleBroken(f"{name} set twice between two simulates: the first is lost")
        tensor = descriptor.tensor()
        if tensor.device != self._device() or tensor.dtype != np.float32:
            raise RuleBroken("a float32 tensor on the pipeline's device is needed")
        self._pending[name] = descriptor

    def _values(self, name, shape):
        """What was set, read only now from where its tensor was."""
        if name not in self._pending:
            return np.zeros(shape)
        tensor = self._pending[name].tensor()
        if tensor._data.size != np.prod(shape):
            raise RuleBroken(f"{name} has {tensor._data.size} numbers, not {shape}")
        if not np.isfinite(tensor._data).all():
            raise RuleBroken(f"{name} that is no number, in a scene that all robots share")
        return tensor._data.reshape(shape).astype(np.float64)

    def _apply_states(self):
        count = len(self._envs)
        for name, width in (("root", 13), ("dof", 24)):
            if name in self._pending:
                values = self._values(name, (count, width))
                if name == "root":
                    self._check_apart(values[:, :3])
                    values[:, :3] -= [env.place for env in self._envs]
                for env, value in zip(self._envs, values):  # noqa: B905
                    env.robot.place(**{name: value})

    def _check_apart(self, positions):
        """PhysX tests every pair that overlaps, and runs out of room for them, before it drops
        those of two collision groups: xbpeng/MimicKit #39, isaac-sim/OmniIsaacGymEnvs #3."""
        apart = np.linalg.norm(positions[:, None] - positions, axis=2) + np.eye(len(positions))
        if len(positions) > 1 and apart.min() < 1.0:
            raise RuleBroken("robots that overlap")
