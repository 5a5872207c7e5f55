"""Isaac Gym Preview 4 behind our messages: rollouts, and the simulated robot.

This one file runs on a machine that has Isaac Gym, under its Python (3.6 to 3.8; this file needs
3.8), with numpy, pyzmq, msgpack and isaacgym (which brings torch) and nothing of ours. It speaks
the frames of `runtime/physics_messages.py`. How to run it: docs/isaac-gym.md. Check it there first:

    python server.py --check --urdf a1.urdf

States are ours at the wire: q = [base position in the world (3) [m], quaternion x y z w (4), joints
(12) [rad]], v = [linear (3) [m/s] and angular (3) [rad/s] velocity in the base, joints (12)
[rad/s]]; motors FR, FL, RR, RL x hip, thigh, calf; feet FR, FL, RR, RL. Isaac Gym's root state is
[position (3), quaternion x y z w (4), linear (3) and angular (3) velocity in the world], its joints
stand in an order of its own (FL, FR, RL, RR was seen), so they are found by name.

The rules of its tensor API (documentation of Preview 3, "Tensor API"), which `Simulation` keeps:
prepare_sim before any tensor, tensors acquired once; efforts are forgotten after every simulate;
a setter at most once between two simulates, and what it set shows only after the next one, so
a refresh never follows a setter; fetch_results on the CPU pipeline; a tensor that was handed over
must be kept, Isaac Gym holds its address only.

A process of Isaac Gym can have one simulation. `Front` owns the socket and hands requests to
processes (`work`), one for rollouts and one for the robot; one that needs another simulation, or
that Isaac Gym has ended, is replaced and asked again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from typing import Any, Callable, Dict, Iterator, NamedTuple, Tuple

try:
    import msgpack
    import numpy as np
    import zmq
except ImportError as error:
    print(f"server.py: {error}: pip install numpy pyzmq msgpack", file=sys.stderr)
    sys.exit(2)

PROTOCOL = 3  # of runtime/physics_messages.py
NOBODY = -1  # id of a refusal of what could not be read
LEGS = ("FR", "FL", "RR", "RL")
JOINTS = [f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf")]
FEET = [f"{leg}_foot" for leg in LEGS]
TRUNK = "trunk"
GRAVITY = 9.81  # [m/s^2]
ARMATURE = 0.01  # [kg m^2] of a rotor at its joint; a URDF has no word for it
FRICTION = 0.8  # of feet and floor, in rollouts
FASTEST = 1000.0  # [m/s], [rad/s]: PhysX cuts speeds off here, and a robot there has diverged
PARKED = 100.0  # [m] above the floor: where robots are made
FLOOR_REACH = 100.0  # [m] of the floor around the origin, where a ground has more than it
CHECK_PERIOD = 0.002  # physics step of --check [s]

Array, Options, Message = np.ndarray, argparse.Namespace, Dict[str, Any]


class Refused(Exception):
    """Not done, and why, in one line."""


class NeedsFresh(Exception):
    """Only another process can do this."""


# ---------------------------------------------------------------------------------- the wire

SHAPES = {  # of a request's arrays; a letter is one number throughout
    "hello": "",
    "ground": "centre B 3, half B 3, rotation B 3 3, grid R C, grid_origin 2",
    "rollout": "x0 37,inputs P N 12,feedforward P N 12,gains P N 12 36,states P N+1 37,step_size C",
    "world": "torque_limit 12, corner_speed 12, no_load_speed 12, q 19, v 18",
    "tick": "commands S 5 12, base_force 3, joint_torque 12, base_velocity 3",
    "place": "q 19, v 18",
}


def encode(message: Message) -> bytes:
    """The frame of a message; its arrays go as ["<f8", shape, little-endian bytes]."""
    frame: Any = msgpack.packb(message, default=lambda x: ("<f8", x.shape, x.tobytes()))
    return frame


def decode(frame: bytes) -> Message:
    """The request in a frame. Raises Refused for other bytes, and for arrays of other shapes."""
    try:
        request: Message = msgpack.unpackb(frame, raw=False)
        sizes = {"id": int(request["id"])}
        for line in filter(None, SHAPES[request["kind"]].split(",")):
            name, *wanted = line.split()
            _, shape, data = request[name]
            array = np.ndarray(shape, "<f8", data).copy()
            expected = [
                int(want) if want.isdigit() else sizes.setdefault(want[0], size) + (want == "N+1")
                for size, want in zip(shape, wanted)
            ]
            if array.nbytes != len(data) or len(wanted) != len(shape) or expected != shape:
                raise ValueError(f"{name} has shape {shape}, not {wanted}")
            request[name] = array
    except Exception as error:  # of bytes that are not its own msgpack raises many kinds
        raise Refused(f"no request: {error!r}") from None
    return request


# -------------------------------------------------- states and policies, in torch on the device
# `t` is torch. Nothing here waits for the device.


def rotate(t: Any, quaternion: Any, vector: Any, way: float = 1.0) -> Any:
    """R(q) v of unit quaternions x y z w (E, 4) and vectors (E, 3); R(q)' v where `way` is -1."""
    axis, w = quaternion[:, :3], way * quaternion[:, 3:]
    twice = 2.0 * t.cross(axis, vector, dim=-1)
    return vector + w * twice + t.cross(axis, twice, dim=-1)


def difference(t: Any, reference: Any, x: Any) -> Any:
    """x (-) reference of states (E, 37), in the tangent space at the reference (E, 36).

    [R_ref' (p - p_ref), log3(R_ref' R), joints - joints_ref, v - v_ref], the short way round.
    """
    q, q_ref = x[:, 3:7], reference[:, 3:7]
    axis = q_ref[:, 3:] * q[:, :3] - q[:, 3:] * q_ref[:, :3]
    axis = axis - t.cross(q_ref[:, :3], q[:, :3], dim=-1)
    w = (q * q_ref).sum(-1)[:, None]
    axis, w = t.where(w < 0.0, -axis, axis), abs(w)
    sine = (axis * axis).sum(-1)[:, None] ** 0.5 + 1e-12  # so that a turn of zero divides no zeros
    turn = 2.0 * t.atan2(sine, w) / sine * axis
    position = rotate(t, q_ref, x[:, :3] - reference[:, :3], -1.0)
    return t.cat((position, turn, x[:, 7:] - reference[:, 7:]), dim=-1)


def root_from_x(t: Any, x: Any, point: Any) -> Any:
    """Isaac Gym's root states (E, 13) of states x (E, 37); see `x_from_root`."""
    quaternion, angular = x[:, 3:7], x[:, 22:25]
    linear = x[:, 19:22] + t.cross(angular, point, dim=-1)
    return t.cat((x[:, :7], rotate(t, quaternion, linear), rotate(t, quaternion, angular)), dim=-1)


def x_from_root(t: Any, root: Any, joints: Any, speeds: Any, point: Any) -> Any:
    """States x (E, 37) of root states (E, 13), joints and their speeds (E, 12).

    `point` (E, 3): where in the base the root's linear velocity is that of [m]; ours is the
    origin's.
    """
    quaternion = root[:, 3:7] / (root[:, 3:7] ** 2).sum(-1)[:, None] ** 0.5
    angular = rotate(t, quaternion, root[:, 10:13], -1.0)
    linear = rotate(t, quaternion, root[:, 7:10], -1.0) - t.cross(angular, point, dim=-1)
    return t.cat((root[:, :3], quaternion, joints, linear, angular, speeds), dim=-1)


def sound(t: Any, x: Any) -> Any:
    """Sound ones of the states x (E, 37): finite, and slower than PhysX lets them be (E,)."""
    return t.isfinite(x).all(-1) & ((x[:, 19:] ** 2).sum(-1) < (0.999 * FASTEST) ** 2)


# ------------------------------------------------------------------------- motors and the URDF


def motor_torque(command: Array, x: Array, limits: Message) -> Array:
    """Torque of the motors (12) [N m] for tau + kp (q_des - q) + kd (dq_des - dq).

    `command` (5, 12) has rows q_des, dq_des, kp, kd, tau. The speed curve limits torque in the
    direction of motion only; what is not finite becomes zero, as on the robot's own wire.
    """
    (q_des, dq_des, kp, kd, tau), q, dq = command, x[7:19], x[25:]
    asked = tau + kp * (q_des - q) + kd * (dq_des - dq)
    asked = np.where(np.isfinite(asked), asked, 0.0)
    corner, no_load = limits["corner_speed"], limits["no_load_speed"]
    share = np.clip((no_load - np.abs(dq)) / (no_load - corner), 0.0, 1.0)
    limit = limits["torque_limit"] * np.where(asked * dq > 0.0, share, 1.0)
    return np.clip(asked, -limit, limit)


def changed_urdf(
    urdf: str, mass_scale: float = 1.0, payload: float = 0.0, feet_only: bool = False
) -> str:
    """The robot with other masses, or with shapes at the feet alone (what a planner's need).

    Every mass and inertia times `mass_scale`, then `payload` [kg] at the trunk's centre of mass.
    """
    robot: Any = ElementTree.fromstring(urdf)
    for element in (*robot.iter("mass"), *robot.iter("inertia")):
        for key, value in element.items():
            element.set(key, repr(float(value) * mass_scale))
    trunk = robot.find(f"link[@name='{TRUNK}']/inertial/mass")
    trunk.set("value", repr(float(trunk.get("value")) + payload))
    for link in robot.iter("link"):
        for shape in link.findall("collision"):
            if feet_only and link.get("name") not in FEET:
                link.remove(shape)
    return ElementTree.tostring(robot, encoding="unicode")


# ------------------------------------------------------------------------------ the ground


def mesh_of(ground: Message) -> tuple[Array, Array]:
    """Vertices (V, 3) [m] and triangles (T, 3) of floor, boxes and grid of a ground.

    Triangles go round counter-clockwise as seen from outside. Nothing has a bottom.
    """
    floor, (corners, sides) = ground["floor"], _surface(np.ones((2, 2)), 1.0)
    boxes = [([0.0, 0.0, floor - 1.0], [FLOOR_REACH, FLOOR_REACH, 1.0], np.eye(3))]
    boxes += zip(ground["centre"], ground["half"], ground["rotation"])
    solids = [(at + (half * (2.0 * corners - 1.0)) @ axes.T, sides) for at, half, axes in boxes]
    if ground["grid"].size:
        points, triangles = _surface(ground["grid"], ground["grid_spacing"])
        solids.append((points + [*ground["grid_origin"], floor], triangles))
    first = np.cumsum([0] + [len(points) for points, _ in solids])
    triangles = [sides + count for (_, sides), count in zip(solids, first)]
    return np.concatenate([points for points, _ in solids]), np.concatenate(triangles)


def _surface(heights: Array, spacing: float) -> tuple[Array, Array]:
    """Two triangles a cell, which meet along its diagonal from least x, y to most x, y.

    A ring of cells without width around them is its sides, down to z = 0.
    """
    y, x = (np.arange(size + 2).clip(1, size) - 1 for size in heights.shape)
    heights = np.pad(heights, 1)
    points = np.stack((*np.meshgrid(spacing * x, spacing * y), heights), axis=2)
    number = np.arange(heights.size).reshape(heights.shape)
    low, right, left, high = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    triangles = np.stack((low, right, high, low, high, left), axis=2)
    return points.reshape(-1, 3), triangles.reshape(-1, 3)


# --------------------------------------------------------------------------- the simulation


Api = Tuple[Any, Any, Any]  # gymapi, gymtorch and torch


class Setup(NamedTuple):
    """Description of a simulation; another one needs another process."""

    timestep: float  # [s]
    envs: int
    urdf: str
    friction: float
    slope: float = 0.0  # of the floor, uphill along world x [rad]
    ground: str = ""  # the name of one in its place


INSTALL = "pip install -e isaacgym/python, of NVIDIA's Preview 4, into Python 3.8"
REMEDIES = (  # of an import that fails, by a word of its message
    ("libpython", "apt install libpython3.8; in conda: export LD_LIBRARY_PATH=$CONDA_PREFIX/lib"),
    ("inja", "pip install ninja"),
    ("", f"{INSTALL} (this is {sys.version.split()[0]})"),
)


def load_api(device: str) -> Api:
    """Import Isaac Gym, and torch after it, as it asks. Raises Refused for what is missing."""
    try:
        from isaacgym import gymapi, gymtorch  # type: ignore  # isort: skip
        import torch  # type: ignore
    except Exception as error:  # it compiles as it is imported, which fails in many ways
        text = " ".join(str(error).split())
        remedy = next(remedy for word, remedy in REMEDIES if word in text)
        raise Refused(f"isaacgym does not import ({text}): {remedy}") from None
    if device != "cpu" and not torch.cuda.is_available():
        raise Refused(
            f"torch {torch.__version__} finds no GPU: `nvidia-smi` must list one that this torch "
            "supports; or give --device cpu"
        )
    return gymapi, gymtorch, torch


class Simulation:
    """A simulation of E robots at one place, each in a collision group of its own.

    Use: `stage` a state or not, `step` (which hands over what was staged, once), `read`. States and
    torques are torch's, float64 on the device of Isaac Gym's tensors.
    """

    def __init__(
        self, api: Api, setup: Setup, options: Options, ground: Message | None = None
    ) -> None:
        """Build it, on a ground or the floor. Raises Refused where Isaac Gym does not."""
        self._gymapi, self._gymtorch, self.torch = api
        self.setup, self._options, self._staged = setup, options, False
        self._on_gpu = options.device != "cpu"
        self._gym = self._gymapi.acquire_gym()
        self._sim = self._create_sim()
        self._add_floor(ground)
        self._fill()
        self._gym.prepare_sim(self._sim)
        self._share_tensors()

    def tensor(self, values: Any) -> Any:
        """A tensor of a numpy array, where the simulation's are."""
        return self.torch.as_tensor(np.asarray(values), device=self._root.device)

    def stage(self, x: Any) -> None:
        """Put the robots at x (E, 37), from the next `step` on."""
        self._root[:] = root_from_x(self.torch, x, self.velocity_point)
        self._dof[:, :, 0] = x[:, 7:19][:, self._ours]
        self._dof[:, :, 1] = x[:, 25:][:, self._ours]
        self._staged = True

    def kick(self, velocity: Any) -> None:
        """Add a velocity (3) in world [m/s] to each trunk's, before the next `step`."""
        self._root[:, 7:10] += velocity
        self._staged = True

    def step(self, torque: Any, trunk_force: Any = None) -> None:
        """Simulate one timestep under torques (E, 12) [N m], and a force (3) on each trunk [N].

        The force acts at the trunk's centre of mass, in world.
        """
        gym, sim, unwrap = self._gym, self._sim, self._gymtorch.unwrap_tensor
        if self._staged:
            gym.set_actor_root_state_tensor(sim, unwrap(self._root))
            gym.set_dof_state_tensor(sim, unwrap(self._dof))
            self._staged = False
        self._effort[:] = torque[:, self._ours]
        gym.set_dof_actuation_force_tensor(sim, unwrap(self._effort))
        if trunk_force is not None:
            self._force[:, 0] = trunk_force
            space = self._gymapi.ENV_SPACE  # whose axes are the world's
            gym.apply_rigid_body_force_tensors(sim, unwrap(self._force), None, space)
        gym.simulate(sim)
        if not self._on_gpu:
            gym.fetch_results(sim, True)

    def read(self) -> tuple[Any, Any]:
        """After a `step`: states x (E, 37), and contact forces on feet and trunk (E, 5, 3) [N]."""
        gym, sim, double = self._gym, self._sim, self.torch.float64
        gym.refresh_actor_root_state_tensor(sim)
        gym.refresh_dof_state_tensor(sim)
        gym.refresh_net_contact_force_tensor(sim)
        root, dof = self._root.to(double), self._dof[:, self._theirs].to(double)
        x = x_from_root(self.torch, root, dof[:, :, 0], dof[:, :, 1], self.velocity_point)
        return x, self._contact[:, self._touching].to(double)

    def _create_sim(self) -> Any:
        gymapi = self._gymapi
        params = gymapi.SimParams()
        params.dt, params.substeps = self.setup.timestep, 1
        params.up_axis, params.gravity = gymapi.UP_AXIS_Z, gymapi.Vec3(0.0, 0.0, -GRAVITY)
        params.use_gpu_pipeline = params.physx.use_gpu = self._on_gpu
        physx = params.physx
        physx.num_threads = 4
        physx.max_gpu_contact_pairs = 2**23  # pairs that overlap count before they are dropped
        physx.solver_type = 1  # TGS
        physx.num_position_iterations, physx.num_velocity_iterations = 4, 1
        physx.contact_offset, physx.rest_offset = 0.01, 0.0
        physx.bounce_threshold_velocity, physx.max_depenetration_velocity = 0.5, 1.0
        physx.contact_collection = gymapi.CC_LAST_SUBSTEP  # there is one
        index = int(self._options.device[len("cuda:") :] or 0)
        sim = self._gym.create_sim(index, -1, gymapi.SIM_PHYSX, params)
        if sim is None:
            raise Refused(f"Isaac Gym made no simulation on {self._options.device}")
        return sim

    def _add_floor(self, ground: Message | None) -> None:
        """A plane or a mesh with the robot's own friction: their mean, as PhysX takes it."""
        gymapi, slope = self._gymapi, self.setup.slope
        params = gymapi.PlaneParams() if ground is None else gymapi.TriangleMeshParams()
        params.static_friction = params.dynamic_friction = self.setup.friction
        params.restitution = 0.0
        if ground is None:
            params.normal = gymapi.Vec3(-float(np.sin(slope)), 0.0, float(np.cos(slope)))
            self._gym.add_ground(self._sim, params)
            return
        points, corners = mesh_of(ground)
        params.nb_vertices, params.nb_triangles = len(points), len(corners)
        mesh = points.ravel().astype("f4"), corners.ravel().astype("u4")
        self._gym.add_triangle_mesh(self._sim, *mesh, params)

    def _load_robot(self) -> Any:
        options = self._gymapi.AssetOptions()
        options.default_dof_drive_mode = int(self._gymapi.DOF_MODE_EFFORT)
        options.collapse_fixed_joints = True  # feet keep their own bodies by dont_collapse
        options.linear_damping = options.angular_damping = 0.0
        options.max_linear_velocity = options.max_angular_velocity = FASTEST
        options.thickness = 0.0
        options.replace_cylinder_with_capsule = True  # ours are without their caps
        options.enable_gyroscopic_forces = True
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "robot.urdf"), "w") as file:
                file.write(self.setup.urdf)
            return self._gym.load_asset(self._sim, folder, "robot.urdf", options)

    def _fill(self) -> None:
        """Make the robots, each in an environment and a collision group of its own."""
        gym, gymapi = self._gym, self._gymapi
        asset = self._load_robot()
        self._find_names(asset)
        shapes = gym.get_asset_rigid_shape_properties(asset)
        for shape in shapes:
            shape.friction, shape.restitution = self.setup.friction, 0.0
        gym.set_asset_rigid_shape_properties(asset, shapes)
        pose = gymapi.Transform()
        pose.p = gymapi.Vec3(0.0, 0.0, PARKED)
        for index in range(self.setup.envs):
            env = gym.create_env(self._sim, gymapi.Vec3(), gymapi.Vec3(), self.setup.envs)
            # Filter 1 on every shape: those of one robot do not collide with each other.
            actor = gym.create_actor(env, asset, pose, "robot", index, 1, 0)
            self._set_joints(env, actor)
            bodies = gym.get_actor_rigid_body_properties(env, actor)
            self.mass, com = sum(body.mass for body in bodies), bodies[0].com
            self.trunk_com = np.array([com.x, com.y, com.z])

    def _find_names(self, asset: Any) -> None:
        bodies = list(self._gym.get_asset_rigid_body_names(asset))
        self._touching = [bodies.index(name) for name in (*FEET, TRUNK)]
        # Isaac Gym's joints, each by its number among ours.
        self._order = [JOINTS.index(name) for name in self._gym.get_asset_dof_names(asset)]

    def _set_joints(self, env: Any, actor: Any) -> None:
        """Torque as given: no drive, no friction, and no cut at the URDF's speed and effort."""
        joints = self._gym.get_actor_dof_properties(env, actor)
        joints["driveMode"].fill(int(self._gymapi.DOF_MODE_EFFORT))
        for name in ("stiffness", "damping", "friction"):
            joints[name].fill(0.0)
        self.torque_limit = joints["effort"].astype(float)[np.argsort(self._order)]
        joints["velocity"].fill(FASTEST)
        joints["effort"].fill(1e4)
        joints["armature"].fill(ARMATURE)
        self._gym.set_actor_dof_properties(env, actor, joints)

    def _share_tensors(self) -> None:
        gym, sim, envs, wrap = self._gym, self._sim, self.setup.envs, self._gymtorch.wrap_tensor
        self._root = wrap(gym.acquire_actor_root_state_tensor(sim))
        self._dof = wrap(gym.acquire_dof_state_tensor(sim)).reshape(envs, 12, 2)
        contact = wrap(gym.acquire_net_contact_force_tensor(sim))
        self._contact = contact.reshape(envs, -1, 3)
        at_com = self._options.root_velocity == "com"
        self.velocity_point = self.tensor(np.tile(at_com * self.trunk_com, (envs, 1)))
        self._effort = self.tensor(np.zeros((envs, 12), "f4"))
        self._force = self.tensor(np.zeros(self._contact.shape, "f4"))
        # Indices on the device: a list would be copied there at every use.
        self._ours, self._theirs = self.tensor(self._order), self.tensor(np.argsort(self._order))
        self._touching = self.tensor(self._touching)


# ------------------------------------------------------------------------------- the two roles


class Rollouts:
    """Candidate policies rolled out from one state, as `RolloutRequest` asks."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, self._poisoned = simulation, False

    def roll_out(self, request: Message) -> Message:
        """The fields of a RolloutReply but its id.

        All knots are queued on the device; their numbers come to the host at the end.
        u = u_nominal + step k_ff + K (x (-) x_nominal), (5.17), within the motors' limit.
        Raises NeedsFresh where Isaac Gym does not recover from what diverged in an earlier call.
        """
        begin = time.perf_counter()
        sim, t, tensor = self.simulation, self.simulation.torch, self.simulation.tensor
        chosen, x0, steps = request["policy_index"], request["x0"], request["step_size"]
        planned = request["inputs"][chosen] + steps[:, None, None] * request["feedforward"][chosen]
        count, knots, _ = planned.shape
        planned, gains = tensor(planned), tensor(request["gains"][chosen])
        nominal, limit = tensor(request["states"][chosen]), tensor(sim.torque_limit)
        zero, nan = tensor(0.0), tensor(np.nan)
        sizes = (knots + 1, 37), (knots, 12), (knots, 4)
        states, inputs, forces = (tensor(np.zeros((count, *size))) for size in sizes)
        finite = bool(np.isfinite(x0).all())
        envs = sim.setup.envs  # those without a candidate are limp
        every = tensor(np.tile(x0 if finite else REST, (envs, 1)))
        torque = tensor(np.zeros((envs, 12)))
        sim.stage(every)
        alive, clean = tensor(np.full(count, finite)), []
        for k in range(knots + 1):
            x = states[:, k] = t.where(alive[:, None], every[:count], nan)
            if k == knots:
                break
            # Sums of their own for every candidate, whatever the number of others.
            u = planned[:, k] + (gains[:, k] * difference(t, nominal[:, k], x)[:, None]).sum(-1)
            u = inputs[:, k] = t.minimum(t.maximum(u, -limit), limit)  # NaN stays
            alive = alive & t.isfinite(u).all(-1)
            # All share one scene: what is not a number must not get into it.
            torque[:count] = t.where(alive[:, None], u, zero)
            for _ in range(request["substeps"]):
                sim.step(torque)
            every, touching = sim.read()
            clean.append(t.isfinite(every).all())
            forces[:, k] = touching[:count, :4, 2]
            alive = alive & sound(t, every[:count])
        if self._poisoned and not bool(clean[0]):
            raise NeedsFresh
        self._poisoned = not bool(clean[-1])
        return {
            "kind": "rolled_out",
            "states": states.cpu().numpy(),
            "inputs": inputs.cpu().numpy(),
            "normal_forces": np.maximum(forces.cpu().numpy(), 0.0),
            "finite": alive.cpu().numpy().tolist(),
            "compute_s": time.perf_counter() - begin,
        }


class World:
    """One robot with its motors, as `WorldRequest`, `TickRequest` and `PlaceRequest` ask."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def begin(self, request: Message) -> Message:
        """Begin anew."""
        self._limits = request
        return self.place(request)

    def place(self, request: Message) -> Message:
        """Put the robot into another state; no time passes, so nothing touches yet."""
        self._x = np.concatenate((request["q"], request["v"]))
        self._torque, self._touching = np.zeros(12), np.zeros((5, 3))
        self._simulation.stage(self._simulation.tensor(self._x[None]))
        return self._reply()

    def tick(self, request: Message) -> Message:
        """Simulate the commands' steps; a robot that has diverged stays as it is."""
        sim = self._simulation
        if request["base_velocity"].any():
            sim.kick(sim.tensor(request["base_velocity"]))
        force = sim.tensor(request["base_force"]) if request["base_force"].any() else None
        for command in request["commands"]:
            if not sound(np, self._x[None])[0]:
                self._x = np.full(37, np.nan)
                break
            asked = motor_torque(command, self._x, self._limits)
            self._torque = asked * (not request["blocked"])
            sim.step(sim.tensor((self._torque + request["joint_torque"])[None]), force)
            self._x, self._touching = (part.cpu().numpy()[0] for part in sim.read())
        return self._reply()

    def _reply(self) -> Message:
        return {
            "kind": "lived",
            "q": self._x[:19],
            "v": self._x[19:],
            "torque": self._torque,
            "foot_force": self._touching[:4],
            "trunk_contact": bool(self._touching[4].any()),
        }


# ----------------------------------------------------------------- processes, and the socket


def work(
    pipe: Any, options: Options, setup: Setup, ground: Message | None,
    load: Callable[[str], Api] = load_api,
) -> None:  # fmt: skip
    """Answer requests in one simulation until the pipe closes or Isaac Gym is not to be trusted."""
    with pipe:
        try:
            simulation = Simulation(load(options.device), setup, options, ground)
            rollouts, world = Rollouts(simulation), World(simulation)
            answers = {"rollout": rollouts.roll_out, "world": world.begin}
            answers.update(tick=world.tick, place=world.place)
            pipe.send({"kind": "ready"})
            while True:
                request = pipe.recv()
                pipe.send(answers[request["kind"]](request))
        except (EOFError, NeedsFresh):
            pass
        except Exception as error:
            pipe.send(refusal_of(error))


def refusal_of(error: Exception) -> Message:
    """A refusal but its id."""
    reason = str(error) if isinstance(error, Refused) else repr(error)
    return {"kind": "refusal", "reason": " ".join(reason.split())}


def _work_alone(*arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group
    work(*arguments)


def spawn(*made_for: Any) -> tuple[Any, Any]:
    """A pipe to a process that does `work`, and the process."""
    context = multiprocessing.get_context("spawn")  # a fork would inherit CUDA's state
    ours, theirs = context.Pipe()
    process = context.Process(target=_work_alone, args=(theirs, *made_for), daemon=True)
    process.start()
    theirs.close()
    return ours, process


class Worker:
    """A process that holds one simulation: Isaac Gym may end it by a fault."""

    def __init__(self, *made_for: Any) -> None:
        """Start it with options, setup and ground. Raises Refused where that fails."""
        self._pipe, self._process = spawn(*made_for)
        ready = self.ask() or {"reason": "Isaac Gym's process ended at its start"}
        if "reason" in ready:
            raise Refused(ready["reason"])

    def ask(self, request: Message | None = None) -> Message | None:
        """The reply; None where the process has ended, by itself or over this request."""
        try:
            if request:
                self._pipe.send(request)
            return self._pipe.recv()
        except (EOFError, OSError):
            return None

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


class Front:
    """Hands requests to processes, one for rollouts and one for the robot's world."""

    def __init__(self, options: Options) -> None:
        self._options, self._urdf = options, changed_urdf(options.urdf_text, feet_only=True)
        self._workers: Message = {}  # setup and worker of "rollout" and "world"
        self._ground: Message = {}
        self._ground_of = self._owner = b""  # clients; none has this name

    def answer(self, client: bytes, frame: bytes) -> bytes:
        """The reply's frame; what cannot be done is refused in one line."""
        number = NOBODY
        try:
            request = decode(frame)
            number = request["id"]
            reply = self._reply(client, request)
        except Exception as error:
            reply = refusal_of(error)
        return encode(dict(reply, id=number))

    def _reply(self, client: bytes, request: Message) -> Message:
        kind, options = request["kind"], self._options
        if kind == "hello":
            return {
                "kind": "server",
                "protocol": PROTOCOL,
                "backend": "isaacgym",
                "device": options.device,
                "most_candidates": options.envs,
                "rollouts": True,
                "robot": True,
                "moves_ground": False,  # another ground needs another process
            }
        if kind == "ground":
            self._ground, self._ground_of = request, client
            return {"kind": "ground_kept"}
        if kind == "rollout":
            chosen, known = request["policy_index"], range(len(request["inputs"]))
            if not 1 <= len(chosen) <= options.envs or not set(chosen) <= set(known):
                raise Refused(f"give 1 to {options.envs} candidates of policies 0 to {known[-1]}")
            if request["ground"] and self._ground_of != client:
                raise Refused("the ground is not known here; send it first")
            made_for = options.envs, self._urdf, FRICTION, 0.0, request["ground"]
            setup = Setup(request["period"] / request["substeps"], *made_for)
        elif kind == "world":
            self._owner = client
            urdf = changed_urdf(request["urdf"], request["mass_scale"], request["payload_mass"])
            setup = Setup(request["timestep"], 1, urdf, request["friction"], request["floor_slope"])
        elif client == self._owner and "world" in self._workers:
            setup = self._workers["world"][0]
        else:
            raise Refused("no world was begun, or somebody began another")
        return self._ask("rollout" if kind == "rollout" else "world", setup, request)

    def _ask(self, role: str, setup: Setup, request: Message) -> Message:
        """The reply of the role's process, or of a fresh one where that is made for another setup.

        One that has ended is asked for once more, unless its world has ended with it.
        """
        for _ in range(2 if request["kind"] == role else 1):
            made_for, worker = self._workers.pop(role, (None, None))
            if worker and made_for != setup:
                worker.close()
                worker = None
            ground = self._ground if setup.ground else None
            worker = worker or Worker(self._options, setup, ground)
            reply = worker.ask(request)
            if reply:
                self._workers[role] = setup, worker
                return reply
            worker.close()
        raise Refused("Isaac Gym's process has ended")


def open_socket(address: str, key_file: str) -> Any:
    """A listening ROUTER socket; beyond this machine it needs a key. Raises Refused."""
    if not key_file and not re.match(r"ipc://|tcp://127\.0\.0\.1:", address):
        raise Refused(f"{address} goes beyond this machine: give --key-file, or 127.0.0.1")
    socket = zmq.Context().socket(zmq.ROUTER)
    socket.linger = 1000
    try:
        if key_file:
            with open(key_file) as file:
                (word, secret), mode = file.read().split(), os.fstat(file.fileno()).st_mode
            if word != "saltus-secret-key" or mode & 0o077:
                raise Refused(f"give the half without .pub, closed to others: chmod 600 {key_file}")
            socket.curve_server, socket.curve_secretkey = True, secret.encode()
        socket.bind(address)
    except (OSError, ValueError, zmq.ZMQError) as error:
        raise Refused(f"cannot listen at {address} with key file {key_file!r}: {error}") from None
    return socket


def serve(options: Options) -> None:
    """Answer until SIGINT or SIGTERM; then say so in one line of JSON."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    socket = open_socket(options.address, options.key_file)
    try:
        load_api(options.device)  # what is missing shows at once
        front = Front(options)
        print(f"isaacgym on {options.device} listens at {options.address}", file=sys.stderr)
        while True:
            if socket.poll(500):  # [ms]: a wait without an end misses a signal right before it
                client, *_, frame = socket.recv_multipart()
                socket.send_multipart((client, front.answer(client, frame)))
    except KeyboardInterrupt:
        print(json.dumps({"backend": "isaacgym", "address": options.address}))


# ------------------------------------------------------------------------------ the self-check

REST = np.array(  # feet below the hips and (radius 0.02 m) on the floor
    [0.0, 0.0, 0.4 * np.cos(0.8) + 0.02, 0.0, 0.0, 0.0, 1.0] + 4 * [0.0, 0.8, -1.6] + 18 * [0.0]
)
ALOFT = REST + 3.0 * np.eye(37)[2]


def self_check(rollouts: Rollouts) -> Iterator[tuple[str, bool, str]]:
    """Assumptions of this file about Isaac Gym, whether they hold here, and the numbers."""
    sim = rollouts.simulation
    period, weight = sim.setup.timestep, sim.mass * GRAVITY  # [s] between knots, [N]

    def roll(x: Array, knots: int, held: bool = False) -> Any:
        """States and forces of a robot, its joints held by springs or limp."""
        gain, inputs = np.zeros((12, 36)), np.zeros((1, knots, 12))
        if held:
            gain[range(12), range(6, 18)], gain[range(12), range(24, 36)] = -100.0, -3.0
        reply = rollouts.roll_out(
            {
                "substeps": 1,
                "x0": x,
                "states": np.tile(x, (1, knots + 1, 1)),
                "inputs": inputs,
                "feedforward": inputs,
                "gains": np.tile(gain, (1, knots, 1, 1)),
                "policy_index": [0],
                "step_size": np.zeros(1),
            }
        )
        return reply["states"][0], reply["normal_forces"][0]

    def of(function: Any, *arrays: Array) -> Array:
        return function(sim.torch, *map(sim.tensor, arrays)).cpu().numpy()

    # One step moves a state by its velocity: quaternion order, velocity frames, joints.
    x = ALOFT + np.random.RandomState(0).uniform(-0.5, 0.5, 37)
    x[3:7] /= np.linalg.norm(x[3:7])
    moved = of(difference, x[None], roll(x, 1)[0][1:])[0]
    error = max(np.abs(moved[:18] / period - x[19:]).max(), np.abs(moved[18:]).max())
    yield "state round trip", error < 0.1, f"error {error:.3f} m/s or rad/s"

    # A robot at rest falls by gravity alone: no damping, no drive.
    fallen, expected = roll(ALOFT, 100)[0][-1], -GRAVITY * 100 * period
    moved = np.abs(fallen - ALOFT)[7:19].max()
    text = f"velocity {fallen[21]:.4f} m/s, expected {expected:.4f}; joints moved {moved:.4f} rad"
    yield "free fall", abs(fallen[21] / expected - 1.0) < 0.01 and moved < 0.01, text

    # The base moves as its velocity says, to the 4 mm from its origin to the trunk's COM.
    x = ALOFT.copy()
    x[22:25] = 10.0, 0.0, 5.0
    states = roll(x, 60)[0]
    moved = (states[2:, :3] - states[:-2, :3]) / (2.0 * period)
    velocity = of(rotate, states[:, 3:7], states[:, 19:22])
    error = moved - 0.5 * (velocity[1:-1] + velocity[2:])
    offset = of(rotate, states[1:-1, 3:7], np.cross(states[1:-1, 22:25], sim.trunk_com))
    # Of the error, the part along the difference between the two readings: 0 if this is right.
    share = (error * offset).sum() / (offset * offset).sum()
    other = "origin" if sim.velocity_point.any() else "com"
    text = f"share of the offset in the error {share:.2f}; at 1 or -1 give --root-velocity {other}"
    yield "velocity of the root", abs(share) < 0.3, text

    # A standing robot's feet carry its weight.
    states, forces = roll(REST, 500, held=True)
    late = forces[-100:].mean(axis=0)
    text = f"feet carry {np.round(late, 1)} of {weight:.1f} N; base at {states[-1, 2]:.4f} m"
    yield "standing", abs(late.sum() / weight - 1.0) < 0.02 and min(late) > 0.1 * weight, text

    # A foot in the air carries nothing, and it is the right one.
    wrong = []
    for foot, name in enumerate(FEET):
        x = REST.copy()
        x[9 + 3 * foot] -= 0.5  # the calf folds, the foot leaves the floor
        late = roll(x, 20, held=True)[1][5:].mean(axis=0)
        wrong += [name] if late[foot] > 0.5 or late.sum() < 0.3 * weight else []
    yield "feet are told apart", not wrong, f"wrong: {wrong}"


def check(api: Api, options: Options) -> bool:
    """Print what holds on this machine, a line each and then JSON; whether all does."""
    urdf, failed = changed_urdf(options.urdf_text, feet_only=True), []
    simulation = Simulation(api, Setup(CHECK_PERIOD, 2, urdf, FRICTION), options)
    for what, good, text in self_check(Rollouts(simulation)):
        print(f"{'PASS' if good else 'FAIL'}  {what:26} {text}", file=sys.stderr)
        failed += [] if good else [what]
    print(json.dumps({"ok": not failed, "failed": failed}))
    return not failed


# ------------------------------------------------------------------------------ command line


OPTIONS = argparse.ArgumentParser(description="Isaac Gym behind Saltus's messages.")
_add = OPTIONS.add_argument
_add("--address", default="tcp://127.0.0.1:46210")
_add("--key-file", default="", help="secret half of a key pair, for an address beyond loopback")
_add("--urdf", required=True, help="the robot: python -m robots.urdf a1 > a1.urdf")
_add("--envs", type=int, default=16, help="most candidates of one request")
_add("--device", default="cuda:0", help="of PhysX and tensors: cuda:0, cuda:1, ..., or cpu")
_add("--root-velocity", choices=("com", "origin"), default="com", help="see --check")
_add("--check", action="store_true", help="check Isaac Gym on this machine, and end")


def main(arguments: list[str]) -> int:
    """Exit status: 0; 1 for a check that failed; 2 for what cannot work."""
    try:
        options = OPTIONS.parse_args(arguments)
        with open(options.urdf) as file:
            options.urdf_text = file.read()
        if options.check:
            return 0 if check(load_api(options.device), options) else 1
        serve(options)
    except (Refused, OSError, UnicodeDecodeError) as error:
        print(f"server.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
