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
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import shlex
import signal
import stat
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import OrderedDict, deque
from typing import Any, Callable, Dict, NamedTuple

import msgpack
import numpy as np
import zmq

PROTOCOL = 3  # of runtime/physics_messages.py
LEGS = ("FR", "FL", "RR", "RL")
JOINTS = tuple(f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf"))
FEET = tuple(f"{leg}_foot" for leg in LEGS)
TRUNK = "trunk"
GRAVITY = 9.81  # [m/s^2]
ARMATURE = 0.01  # [kg m^2] of a rotor at its joint; a URDF has no word for it
FASTEST = 1000.0  # [m/s], [rad/s]: PhysX cuts speeds off here; whoever is there has diverged
PARKED = 100.0  # [m] above the start: where candidates that nobody asked for fall freely
SPACING = 2.0  # [m] between robots: PhysX looks at all pairs that overlap before it drops them
MOST_KNOTS, MOST_SUBSTEPS = 2000, 1000
MOST_STEPS = 10_000  # of one request, knots x substeps: all robots live through each step at once
MOST_STATES = 500_000  # of one request, candidates x knots: the reply must fit in a frame
MOST_BOXES, MOST_CELLS, MOST_GROUNDS = 4096, 2**20, 16  # of a ground; and grounds kept
FARTHEST = 1e4  # [m] of a ground's numbers
FLOOR_REACH = 100.0  # [m] of the floor around the origin, where a ground has more than it
HEADROOM = 3.0  # [m] between one robot's ground and the next one above
NEWEST = 10_000  # times of answers that are kept
START_S = 600.0  # longest start of Isaac Gym, which compiles at its first import [s]
FRESH = b"fresh"  # a worker's answer: this needs another simulation, and a process has only one

Message = Dict[str, Any]


class Refused(Exception):
    """Not done, and why, in one line: what a client is told."""


class NeedsFresh(Exception):
    """Only another process can do this."""


class Unusable(Exception):
    """This server cannot work here, and why, in one line."""


class Hung(Exception):
    """Isaac Gym's process gives no answer, and for how long, in one line."""


# ---------------------------------------------------------------------------------- the wire

_REQUESTS: dict[str, dict[str, Any]] = {  # a type, or the shape of an array
    "hello": {"id": int, "protocol": int},
    "ground": {
        "id": int,
        "floor": float,
        "centre": ("B", 3),
        "half": ("B", 3),
        "rotation": ("B", 3, 3),
        "grid": ("R", "C"),
        "grid_origin": (2,),
        "grid_spacing": float,
    },
    "rollout": {
        "id": int,
        "ground": str,
        "period": float,
        "substeps": int,
        "x0": (37,),
        "states": ("P", "N+1", 37),
        "inputs": ("P", "N", 12),
        "feedforward": ("P", "N", 12),
        "gains": ("P", "N", 12, 36),
        "policy_index": list,
        "step_size": ("C",),
    },
    "world": {
        "id": int,
        "timestep": float,
        "friction": float,
        "payload_mass": float,
        "mass_scale": float,
        "floor_slope": float,
        "torque_limit": (12,),
        "corner_speed": (12,),
        "no_load_speed": (12,),
        "q": (19,),
        "v": (18,),
        "urdf": str,
    },
    "tick": {
        "id": int,
        "commands": ("S", 5, 12),
        "blocked": bool,
        "base_force": (3,),
        "joint_torque": (12,),
        "base_velocity": (3,),
    },
    "place": {"id": int, "q": (19,), "v": (18,)},
}


def encode(message: Message) -> bytes:
    """The frame of a message; its arrays go as ["<f8", shape, little-endian bytes]."""
    frame: Any = msgpack.packb({key: _to_wire(value) for key, value in message.items()})
    return frame


def decode(frame: bytes) -> Message:
    """The request in a frame. Raises ValueError for bytes that are not exactly one."""
    try:
        message = msgpack.unpackb(frame, raw=False, strict_map_key=True)
    except Exception as error:  # msgpack raises many kinds for bytes that are not its own
        raise ValueError(f"not MessagePack: {error}") from None
    kind = message.pop("kind", None) if isinstance(message, dict) else None
    fields = _REQUESTS.get(kind) if isinstance(kind, str) else None
    if fields is None or set(message) != set(fields):
        raise ValueError("not a request: unknown kind, or fields missing or unknown")
    sizes: dict[str, int] = {}
    values = {name: _checked(name, message[name], fields[name], sizes) for name in fields}
    values["kind"] = kind
    return values


def _to_wire(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return "<f8", value.shape, np.ascontiguousarray(value, dtype="<f8").tobytes()
    return value


def _checked(name: str, value: Any, wanted: Any, sizes: dict[str, int]) -> Any:
    """A field's value, an array in its shape. Raises ValueError for what does not fit."""
    if isinstance(wanted, tuple):
        array = _array(name, value)
        if not _fits(array.shape, wanted, sizes):
            raise ValueError(f"{name} has shape {array.shape}, not {wanted}")
        return array
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise ValueError(f"{name} is no {wanted.__name__}")
    if wanted is list and not all(type(item) is int for item in value):
        raise ValueError(f"{name} holds more than integers")
    return value


def _array(name: str, value: Any) -> np.ndarray:
    try:
        dtype, shape, data = value
        if dtype != "<f8" or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError
        if not data:  # of which frombuffer makes no array
            return np.zeros(0).reshape(shape)
        return np.frombuffer(data, "<f8").reshape(shape).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is no float64 array") from None


def _fits(shape: tuple[int, ...], wanted: tuple[Any, ...], sizes: dict[str, int]) -> bool:
    """Whether a shape is as wanted; a letter is one number throughout a message."""
    if len(shape) != len(wanted):
        return False
    for size, want in zip(shape, wanted):
        letter, _, offset = str(want).partition("+")
        if not isinstance(want, int):
            want = sizes.setdefault(letter, size - int(offset or 0)) + int(offset or 0)
        if size != want:
            return False
    return True


# ------------------------------------------------------------------- states, policies, motors


def rotate(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """R(q) v of unit quaternions x y z w (..., 4) and vectors (..., 3)."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


def rotate_back(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """R(q)' v of unit quaternions x y z w (..., 4) and vectors (..., 3)."""
    return rotate(quaternion * np.array([-1.0, -1.0, -1.0, 1.0]), vector)


def difference(reference: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x (-) reference of states (..., 37), in the tangent space at the reference (..., 36).

    [R_ref' (p - p_ref), log3(R_ref' R), joints - joints_ref, v - v_ref], the short way round.
    """
    q, q_ref = x[..., 3:7], reference[..., 3:7]
    axis = q_ref[..., 3:] * q[..., :3] - q[..., 3:] * q_ref[..., :3]
    axis = axis - np.cross(q_ref[..., :3], q[..., :3])
    w = np.sum(q * q_ref, axis=-1, keepdims=True)
    axis, w = np.where(w < 0.0, -axis, axis), np.abs(w)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    small = sine < 1e-9
    angle_by_sine = np.where(small, 1.0, np.arctan2(sine, w) / np.where(small, 1.0, sine))
    position = rotate_back(q_ref, x[..., :3] - reference[..., :3])
    rest = x[..., 7:] - reference[..., 7:]
    return np.concatenate((position, 2.0 * angle_by_sine * axis, rest), axis=-1)


def root_from_x(x: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Isaac Gym's root states (E, 13) of states x (E, 37); see `x_from_root`."""
    quaternion, linear, angular = x[:, 3:7], x[:, 19:22], x[:, 22:25]
    at_point = linear + np.cross(angular, point)
    velocities = rotate(quaternion, at_point), rotate(quaternion, angular)
    return np.concatenate((x[:, :7],) + velocities, axis=1)


def x_from_root(
    root: np.ndarray, joints: np.ndarray, speeds: np.ndarray, point: np.ndarray
) -> np.ndarray:
    """States x (E, 37) of root states (E, 13), joints and their speeds (E, 12).

    `point` (3): where in the base the root's linear velocity is that of [m]; ours is the origin's.
    """
    quaternion = root[:, 3:7] / np.linalg.norm(root[:, 3:7], axis=1, keepdims=True)
    angular = rotate_back(quaternion, root[:, 10:13])
    linear = rotate_back(quaternion, root[:, 7:10]) - np.cross(angular, point)
    return np.concatenate((root[:, :3], quaternion, joints, linear, angular, speeds), axis=1)


def policy_torque(
    request: Message, chosen: np.ndarray, k: int, x: np.ndarray, limit: np.ndarray
) -> np.ndarray:
    """Torques (C, 12) [N m] at knot k of candidates at x (C, 37); `chosen` (C,) names policies.

    u = u_nominal + step k_ff + K (x (-) x_nominal), (5.17), within `limit` (12,); NaN stays.
    """
    dx = difference(request["states"][chosen, k], x)
    u = request["inputs"][chosen, k]
    u = u + request["step_size"][:, None] * request["feedforward"][chosen, k]
    # Sums of their own for every candidate, whatever the number of others.
    u = u + np.einsum("cij,cj->ci", request["gains"][chosen, k], dx)
    return np.clip(u, -limit, limit)


class MotorLimits(NamedTuple):
    """Of the motors, at their joints (12,)."""

    torque: np.ndarray  # [N m]
    corner_speed: np.ndarray  # up to which the whole torque is there [rad/s]
    no_load_speed: np.ndarray  # at which no accelerating torque is left [rad/s]


def motor_torque(
    command: np.ndarray, q: np.ndarray, dq: np.ndarray, limits: MotorLimits
) -> np.ndarray:
    """What the motors give (12) [N m] when asked for tau + kp (q_des - q) + kd (dq_des - dq).

    `command` (5, 12) has rows q_des, dq_des, kp, kd, tau. The speed curve limits torque in the
    direction of motion only; what is not finite becomes zero, as on the robot's own wire.
    """
    asked = command[4] + command[2] * (command[0] - q)
    asked = asked + command[3] * (command[1] - dq)
    asked = np.where(np.isfinite(asked), asked, 0.0)
    share = (limits.no_load_speed - np.abs(dq)) / (limits.no_load_speed - limits.corner_speed)
    accelerating = asked * dq > 0.0
    limit = limits.torque * np.where(accelerating, np.clip(share, 0.0, 1.0), 1.0)
    return np.clip(asked, -limit, limit)


# -------------------------------------------------------------------------------- the URDF


def changed_urdf(
    urdf: str, mass_scale: float = 1.0, payload: float = 0.0, feet_only: bool = False
) -> str:
    """The robot with other masses, or with shapes at the feet alone (what a planner's need).

    Every mass and inertia times `mass_scale`, then `payload` [kg] at the trunk's centre of mass.
    Raises Refused for what is no URDF of a robot.
    """
    try:
        robot = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise Refused(f"the URDF is no XML: {error}") from None
    links = {link.get("name", ""): link for link in robot.findall("link")}
    missing = [name for name in (TRUNK,) + FEET if name not in links]
    if missing:
        raise Refused(f"the URDF has no link {', '.join(missing)}")
    for name, link in links.items():
        for mass in link.findall("inertial/mass"):
            extra = payload if name == TRUNK else 0.0
            mass.set("value", repr(float(mass.get("value", "0")) * mass_scale + extra))
        for inertia in link.findall("inertial/inertia"):
            for key, value in inertia.attrib.items():
                inertia.set(key, repr(float(value) * mass_scale))
        if feet_only and name not in FEET:
            for shape in link.findall("collision"):
                link.remove(shape)
    return ElementTree.tostring(robot, encoding="unicode")


def torque_limits(urdf: str) -> np.ndarray:
    """Of the motors (12,) [N m]."""
    robot = ElementTree.fromstring(urdf)
    efforts = (robot.find(f"joint[@name='{name}']/limit") for name in JOINTS)
    return np.array(
        [np.inf if each is None else float(each.get("effort", "inf")) for each in efforts]
    )


def total_mass(urdf: str) -> float:
    """Of all links [kg]."""
    masses = ElementTree.fromstring(urdf).findall("link/inertial/mass")
    return sum(float(mass.get("value", "0")) for mass in masses)


# ------------------------------------------------------------------------------ the ground


class Ground:
    """A floor, boxes and a grid of heights, of a request that `check_ground` has let pass.

    Attributes:
        name: by which rollouts ask for it; grounds of one name are equal.
        extent: of all its solids from bottom to top [m].
    """

    FIELDS = ("floor", "half", "grid", "grid_origin", "grid_spacing", "centre", "rotation")

    def __init__(self, request: Message) -> None:
        self._request = request
        digest = hashlib.sha256()
        for field in self.FIELDS:
            array = np.asarray(request[field], dtype="<f8")
            digest.update(str(array.shape).encode())
            digest.update(array.tobytes())
        self.name = digest.hexdigest()
        heights = self.mesh(np.zeros((1, 3)))[0][:, 2]
        self.extent = float(heights.max() - heights.min())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ground) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def mesh(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (V, 3) [m] and triangles (T, 3) of a copy at each of `places` (E, 3).

        Triangles go round counter-clockwise as seen from outside. Boxes are closed.
        """
        parts = [self._floor()]
        request = self._request
        for centre, half, axes in zip(request["centre"], request["half"], request["rotation"]):
            parts.append((centre + (half * CORNERS) @ axes.T, SIDES))
        if request["grid"].size:
            parts.append(self._grid())
        vertices, triangles, count = [], [], 0
        for place in places:
            for points, sides in parts:
                vertices.append(points + place)
                triangles.append(sides + count)
                count += len(points)
        return np.concatenate(vertices), np.concatenate(triangles)

    def _floor(self) -> tuple[np.ndarray, np.ndarray]:
        corners = FLOOR_REACH * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        return corners + [0.0, 0.0, self._request["floor"]], np.array([[0, 1, 2], [0, 2, 3]])

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Two triangles a cell, which meet along its diagonal from least x, y to most x, y."""
        heights, spacing = self._request["grid"], self._request["grid_spacing"]
        rows, columns = heights.shape
        x, y = np.meshgrid(np.arange(columns) * spacing, np.arange(rows) * spacing)
        points = np.stack((x, y, heights), axis=2).reshape(-1, 3)
        number = np.arange(rows * columns).reshape(rows, columns)
        low, right = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
        left, high = number[1:, :-1].ravel(), number[1:, 1:].ravel()
        top = np.concatenate((np.stack((low, right, high), 1), np.stack((low, high, left), 1)))
        # Its sides go down to the floor.
        rim = np.concatenate((number[0], number[1:, -1], number[-1, -2::-1], number[-2:0:-1, 0]))
        foot = rows * columns + np.arange(len(rim))
        next_rim, next_foot = np.roll(rim, -1), np.roll(foot, -1)
        sides = (np.stack((rim, foot, next_foot), 1), np.stack((rim, next_foot, next_rim), 1))
        points = np.concatenate((points, points[rim] * [1.0, 1.0, 0.0]))
        points = points + np.append(self._request["grid_origin"], self._request["floor"])
        return points, np.concatenate((top,) + sides)


CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
SIDES = np.array(  # of a box with these corners
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4]]
    + [[2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]]
)


# --------------------------------------------------------------------------- the simulation


class Api(NamedTuple):
    """The modules of Isaac Gym."""

    gymapi: Any
    gymtorch: Any
    torch: Any


class Setup(NamedTuple):
    """What a simulation is made for; another one needs another process."""

    timestep: float  # [s]
    envs: int
    urdf: str
    friction: float
    slope: float  # of the floor, uphill along world x [rad]
    ground: Ground | None  # in its place


def load_api() -> Api:
    """Import Isaac Gym, and torch after it, as it asks. Raises Unusable where there is none."""
    try:
        from isaacgym import gymapi, gymtorch  # type: ignore  # isort: skip
        import torch  # type: ignore
    except Exception as error:  # it compiles as it is imported, which fails in many ways
        raise Unusable(
            f"isaacgym does not import ({' '.join(str(error).split())}); install Isaac Gym "
            "Preview 4 into this Python 3.8"
        ) from None
    return Api(gymapi, gymtorch, torch)


class SharedTensor:
    """A tensor of Isaac Gym's, or one for it, with the descriptor by which Isaac Gym knows it.

    It lives as long as its simulation: Isaac Gym remembers addresses, Python counts references.
    """

    def __init__(self, api: Api, tensor: Any, descriptor: Any) -> None:
        self._torch, self._tensor, self.descriptor = api.torch, tensor, descriptor
        self.shape = tuple(tensor.shape)

    @classmethod
    def of(cls, api: Api, descriptor: Any) -> SharedTensor:
        """One that Isaac Gym owns."""
        return cls(api, api.gymtorch.wrap_tensor(descriptor), descriptor)

    @classmethod
    def zeros(cls, api: Api, shape: tuple[int, ...], device: str) -> SharedTensor:
        """One of our own, to hand over."""
        tensor = api.torch.zeros(shape, dtype=api.torch.float32, device=device)
        return cls(api, tensor, api.gymtorch.unwrap_tensor(tensor))

    def read(self) -> np.ndarray:
        """Its values as float64; one copy, from the GPU where it is there."""
        return self._tensor.cpu().numpy().astype(np.float64)

    def write(self, values: np.ndarray) -> None:
        """Fill it; one copy, to the GPU where it is there."""
        rows = np.ascontiguousarray(values.reshape(self.shape), dtype=np.float32)
        self._tensor.copy_(self._torch.from_numpy(rows))


class Simulation:
    """A simulation of E robots, none aware of the others.

    Each has a place of its own, in `places` (E, 3) [m]; in states it is at the origin. On a level
    floor they are beside each other; each copy of a ground lies above the one before.
    Use: `stage` a state or not, `step` (which hands over what was staged, once), `read`.
    """

    def __init__(self, api: Api, setup: Setup, options: argparse.Namespace) -> None:
        """Build it. Raises Refused where Isaac Gym does not."""
        self.setup, self.parked = setup, PARKED
        self.places = np.pad(SPACING * grid(setup.envs), ((0, 0), (0, 1)))
        if setup.ground is not None:
            storey = setup.ground.extent + HEADROOM
            self.places = storey * levels(setup.envs)
            self.parked = PARKED + setup.envs * storey  # above all of them
        self._api, self._options = api, options
        self._gpu_pipeline = options.pipeline == "gpu"
        self._gym = api.gymapi.acquire_gym()
        self._sim = self._create_sim()
        if setup.ground is None:
            self._add_floor()
        else:
            self._add_ground(setup.ground)
        self._fill()
        self._gym.prepare_sim(self._sim)
        self._share_tensors()
        self._staged = False

    def stage(self, x: np.ndarray) -> None:
        """Put the robots at x (E, 37), from the next `step` on."""
        joints = np.zeros((self.setup.envs, 12, 2))
        joints[:, self._joints, 0], joints[:, self._joints, 1] = x[:, 7:19], x[:, 25:]
        root = root_from_x(x, self.velocity_point)
        root[:, :3] += self.places
        self._root.write(root)
        self._dof.write(joints)
        self._staged = True

    def step(self, torque: np.ndarray, trunk_force: np.ndarray | None = None) -> None:
        """Live through one timestep under torques (E, 12) [N m], and a force (3) on each trunk [N].

        The force acts at the trunk's centre of mass, in world.
        """
        gym, sim = self._gym, self._sim
        if self._staged:
            gym.set_actor_root_state_tensor(sim, self._root.descriptor)
            gym.set_dof_state_tensor(sim, self._dof.descriptor)
            self._staged = False
        efforts = np.zeros((self.setup.envs, 12))
        efforts[:, self._joints] = torque
        self._effort.write(efforts)
        gym.set_dof_actuation_force_tensor(sim, self._effort.descriptor)
        if trunk_force is not None:
            self._push(trunk_force)
        gym.simulate(sim)
        if not self._gpu_pipeline:
            gym.fetch_results(sim, True)

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """After a `step`: states x (E, 37), and the contact force on each body (E, B, 3) [N]."""
        self._gym.refresh_actor_root_state_tensor(self._sim)
        self._gym.refresh_dof_state_tensor(self._sim)
        self._gym.refresh_net_contact_force_tensor(self._sim)
        dof = self._dof.read().reshape(self.setup.envs, 12, 2)[:, self._joints]
        root = self._root.read()
        root[:, :3] -= self.places
        x = x_from_root(root, dof[..., 0], dof[..., 1], self.velocity_point)
        return x, self._contact.read().reshape(self.setup.envs, self._bodies, 3)

    def _create_sim(self) -> Any:
        gymapi, options = self._api.gymapi, self._options
        params = gymapi.SimParams()
        params.dt, params.substeps = self.setup.timestep, 1
        params.up_axis, params.gravity = gymapi.UP_AXIS_Z, gymapi.Vec3(0.0, 0.0, -GRAVITY)
        params.use_gpu_pipeline = self._gpu_pipeline
        physx = params.physx
        physx.use_gpu, physx.num_threads = options.device != "cpu", options.threads
        physx.solver_type = 1  # TGS
        physx.num_position_iterations = options.position_iterations
        physx.num_velocity_iterations = options.velocity_iterations
        physx.contact_offset, physx.rest_offset = 0.01, 0.0
        physx.bounce_threshold_velocity, physx.max_depenetration_velocity = 0.5, 1.0
        physx.contact_collection = gymapi.CC_LAST_SUBSTEP  # there is one
        index = device_index(options.device)
        sim = self._gym.create_sim(index, -1, gymapi.SIM_PHYSX, params)
        if sim is None:
            raise Refused(f"Isaac Gym made no simulation on {options.device}")
        return sim

    def _add_floor(self) -> None:
        """A plane with the robot's own friction: their mean, which PhysX takes, is it again."""
        slope, friction = self.setup.slope, self.setup.friction
        plane = self._api.gymapi.PlaneParams()
        plane.normal = self._api.gymapi.Vec3(-float(np.sin(slope)), 0.0, float(np.cos(slope)))
        plane.distance, plane.restitution = 0.0, 0.0
        plane.static_friction = plane.dynamic_friction = friction
        self._gym.add_ground(self._sim, plane)

    def _add_ground(self, ground: Ground) -> None:
        """A copy of the ground for every robot, all in one mesh."""
        vertices, triangles = ground.mesh(self.places)
        params = self._api.gymapi.TriangleMeshParams()
        params.nb_vertices, params.nb_triangles = len(vertices), len(triangles)
        params.static_friction = params.dynamic_friction = self.setup.friction
        params.restitution = 0.0
        points = np.ascontiguousarray(vertices.ravel(), dtype=np.float32)
        corners = np.ascontiguousarray(triangles.ravel(), dtype=np.uint32)
        self._gym.add_triangle_mesh(self._sim, points, corners, params)

    def _load_robot(self) -> Any:
        options = self._api.gymapi.AssetOptions()
        options.default_dof_drive_mode = int(self._api.gymapi.DOF_MODE_EFFORT)
        options.collapse_fixed_joints = True  # feet keep their own bodies by dont_collapse
        options.fix_base_link = options.disable_gravity = False
        options.linear_damping = options.angular_damping = 0.0
        options.max_linear_velocity = options.max_angular_velocity = FASTEST
        options.armature, options.thickness = 0.0, 0.0  # a joint's armature is set at the joint
        options.replace_cylinder_with_capsule = True  # ours are without their caps
        options.enable_gyroscopic_forces = True
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a1.urdf"), "w") as file:
                file.write(self.setup.urdf)
            asset = self._gym.load_asset(self._sim, folder, "a1.urdf", options)
        if asset is None:
            raise Refused("Isaac Gym does not load the URDF")
        return asset

    def _fill(self) -> None:
        """Make the robots, each in an environment and a collision group of its own."""
        gym, gymapi = self._gym, self._api.gymapi
        asset = self._load_robot()
        self._find_names(asset)
        shapes = gym.get_asset_rigid_shape_properties(asset)
        for shape in shapes:
            shape.friction, shape.restitution = self.setup.friction, 0.0
        gym.set_asset_rigid_shape_properties(asset, shapes)
        pose = gymapi.Transform()
        self._robots = []
        for index, (x, y, z) in enumerate(self.places.tolist()):
            pose.p = gymapi.Vec3(x, y, z + self.parked)
            env = gym.create_env(self._sim, gymapi.Vec3(), gymapi.Vec3(), self.setup.envs)
            # Filter 1 on every shape: those of one robot do not collide with each other.
            actor = gym.create_actor(env, asset, pose, "robot", index, 1, 0)
            self._set_joints(env, actor)
            self._robots.append((env, actor))
        com = gym.get_actor_rigid_body_properties(*self._robots[0])[0].com
        at_com = self._options.root_velocity == "com"
        self.trunk_com = np.array([com.x, com.y, com.z])
        self.velocity_point = self.trunk_com if at_com else np.zeros(3)

    def _find_names(self, asset: Any) -> None:
        joints = list(self._gym.get_asset_dof_names(asset))
        bodies = list(self._gym.get_asset_rigid_body_names(asset))
        named = sorted(joints) == sorted(JOINTS) and set(FEET) <= set(bodies)
        if not named or bodies[0] != TRUNK:  # the root comes first
            raise Refused(f"Isaac Gym found other joints, or no feet: {joints}, {bodies}")
        self._joints = [joints.index(name) for name in JOINTS]  # ours to Isaac Gym's
        self.feet, self._bodies = [bodies.index(name) for name in FEET], len(bodies)

    def _set_joints(self, env: Any, actor: Any) -> None:
        """Torque as given: no drive, no friction, and no cut at the URDF's speed and effort."""
        joints = self._gym.get_actor_dof_properties(env, actor)
        joints["driveMode"].fill(int(self._api.gymapi.DOF_MODE_EFFORT))
        for name in ("stiffness", "damping", "friction"):
            joints[name].fill(0.0)
        joints["velocity"].fill(FASTEST)
        joints["effort"].fill(1e4)
        joints["armature"].fill(self._options.armature)
        self._gym.set_actor_dof_properties(env, actor, joints)

    def _share_tensors(self) -> None:
        gym, sim, api, envs = self._gym, self._sim, self._api, self.setup.envs
        device = self._options.device if self._gpu_pipeline else "cpu"
        self._root = SharedTensor.of(api, gym.acquire_actor_root_state_tensor(sim))
        self._dof = SharedTensor.of(api, gym.acquire_dof_state_tensor(sim))
        self._contact = SharedTensor.of(api, gym.acquire_net_contact_force_tensor(sim))
        self._effort = SharedTensor.zeros(api, (envs * 12,), device)
        self._force = SharedTensor.zeros(api, (envs * self._bodies, 3), device)

    def _push(self, force: np.ndarray) -> None:
        """A force (3) [N] at each trunk's centre of mass; environments' axes are the world's."""
        forces = np.zeros((self.setup.envs, self._bodies, 3))
        forces[:, 0] = force
        self._force.write(forces)
        self._gym.apply_rigid_body_force_tensors(
            self._sim, self._force.descriptor, None, self._api.gymapi.ENV_SPACE
        )


def grid(count: int) -> np.ndarray:
    """The first squares (count, 2) of a grid that grows around (0, 0), whatever `count` is."""
    index = np.arange(count)
    side = np.sqrt(index).astype(np.int64)
    along = index - side * side
    return np.stack((np.minimum(along, side), np.minimum(2 * side - along, side)), axis=1)


def levels(count: int) -> np.ndarray:
    """(0, 0, z) (count, 3) of z = 0, 1, -1, 2, -2, ..., whatever `count` is."""
    index = np.arange(count)
    z = (index + 1) // 2 * np.where(index % 2, 1, -1)
    return np.stack((0 * z, 0 * z, z), axis=1).astype(np.float64)


def device_index(device: str) -> int:
    """The number in "cuda:1"; 0 for "cpu"."""
    return int(device.partition(":")[2] or 0)


def diverged(x: np.ndarray) -> np.ndarray:
    """Which of the states x (E, 37) are not finite, or as fast as PhysX lets them be (E,)."""
    speeds = np.stack([np.linalg.norm(x[:, 19:22], axis=1), np.abs(x[:, 22:]).max(axis=1)])
    sound = np.isfinite(x).all(axis=1) & (speeds < 0.999 * FASTEST).all(axis=0)
    return np.logical_not(sound)


# ------------------------------------------------------------------------------- the two roles


class Rollouts:
    """Candidate policies rolled out from one state, as `RolloutRequest` asks."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self._limit = torque_limits(simulation.setup.urdf)
        self._was_poisoned = False

    def roll_out(self, request: Message) -> Message:
        """The fields of a RolloutReply but its id and time.

        Raises NeedsFresh where Isaac Gym does not recover from what diverged in an earlier call.
        """
        chosen = np.array(request["policy_index"], dtype=np.int64)
        count, knots = len(chosen), request["inputs"].shape[1]
        states = np.full((count, knots + 1, 37), np.nan)
        inputs, forces = np.full((count, knots, 12), np.nan), np.zeros((count, knots, 4))
        alive = np.full(count, bool(np.isfinite(request["x0"]).all()))
        x = np.tile(request["x0"], (count, 1))
        if alive.all():
            self.simulation.stage(self._start(request["x0"], count))
        torque = np.zeros((self.simulation.setup.envs, 12))
        for k in range(knots if alive.all() else 0):
            states[:, k] = x
            with np.errstate(all="ignore"):
                inputs[:, k] = policy_torque(request, chosen, k, x, self._limit)
            alive &= np.isfinite(inputs[:, k]).all(axis=1)
            # All share one scene: what is not a number must not get into it.
            torque[:count] = np.where(alive[:, None], inputs[:, k], 0.0)
            for _ in range(request["substeps"]):
                self.simulation.step(torque)
            x, forces[:, k] = self._look(count, first=k == 0)
            alive &= ~diverged(x)
            x[~alive] = np.nan
        states[:, knots] = x
        finite = [bool(sound) for sound in alive]
        return {"states": states, "inputs": inputs, "normal_forces": forces, "finite": finite}

    def _start(self, x0: np.ndarray, count: int) -> np.ndarray:
        """All robots at x0, the idle ones high above it and at rest, where they touch nothing."""
        x = np.tile(x0, (self.simulation.setup.envs, 1))
        x[count:, 2] += self.simulation.parked
        x[count:, 19:] = 0.0
        return x

    def _look(self, count: int, first: bool) -> tuple[np.ndarray, np.ndarray]:
        """States (C, 37) and feet's normal forces (C, 4) [N] of the candidates."""
        x, contacts = self.simulation.read()
        poisoned = not np.isfinite(x).all()
        if first and poisoned and self._was_poisoned:
            raise NeedsFresh
        self._was_poisoned = poisoned or (self._was_poisoned and not first)
        return x[:count], np.maximum(contacts[:count, self.simulation.feet, 2], 0.0)


class World:
    """One robot with its motors, as `WorldRequest`, `TickRequest` and `PlaceRequest` ask."""

    def __init__(self, simulation: Simulation, limits: MotorLimits) -> None:
        self.simulation, self.limits = simulation, limits

    def place(self, request: Message) -> Message:
        """Put the robot into another state; no time passes, so nothing touches yet."""
        self._x = np.concatenate((request["q"], request["v"]))
        self._torque, self._contacts = np.zeros(12), np.zeros((self.simulation._bodies, 3))
        self.simulation.stage(self._x[None])
        return self._reply()

    def tick(self, request: Message) -> Message:
        """Live through the commands; a robot that has diverged stays as it is."""
        if request["base_velocity"].any():
            kick = rotate_back(self._x[3:7], request["base_velocity"])
            self._x = self._x + np.concatenate((np.zeros(19), kick, np.zeros(15)))
            if np.isfinite(self._x).all():
                self.simulation.stage(self._x[None])
        force = request["base_force"] if request["base_force"].any() else None
        for command in request["commands"]:
            if diverged(self._x[None])[0]:
                self._x = np.full(37, np.nan)
                break
            self._torque = np.zeros(12)
            if not request["blocked"]:
                self._torque = motor_torque(command, self._x[7:19], self._x[25:], self.limits)
            self.simulation.step((self._torque + request["joint_torque"])[None], force)
            x, contacts = self.simulation.read()
            self._x, self._contacts = x[0], contacts[0]
        return self._reply()

    def _reply(self) -> Message:
        return {
            "q": self._x[:19],
            "v": self._x[19:],
            "torque": self._torque,
            "foot_force": self._contacts[self.simulation.feet],
            "trunk_contact": bool(np.linalg.norm(self._contacts[0]) > 0.0),
        }


class Service:
    """Answers frames in the process that holds the simulation; never raises for what one holds."""

    def __init__(self, api: Api, options: argparse.Namespace) -> None:
        self._api, self._options, self._broken = api, options, False
        text = options.urdf_text  # empty for a robot, whose world brings it
        self._planner_urdf = changed_urdf(text, feet_only=True) if text else ""
        self._rollouts: Rollouts | None = None
        self._world: World | None = None
        self._grounds: OrderedDict[str, Ground] = OrderedDict()
        self._owner = self._client = b""  # of the world; of the request
        self._answers: dict[str, Callable[[Message], Message]] = {
            "hello": self._hello,
            "ground": self._keep,
            "rollout": self._roll_out,
            "world": self._begin,
            "tick": self._tick,
            "place": self._place,
        }

    def answer(self, frame: bytes, client: bytes = b"") -> bytes:
        """The reply's frame; b"" for bytes that are no request; FRESH to be asked elsewhere."""
        try:
            self._client, request = client, decode(frame)
        except ValueError:
            return b""
        if self._broken and request["kind"] != "hello":  # who greets has no time for a restart
            return FRESH
        try:
            reply = self._answers[request["kind"]](request)
        except NeedsFresh:
            return FRESH
        except Refused as refusal:
            reply = {"kind": "refusal", "reason": str(refusal)}
        except Exception as error:  # Isaac Gym's own: tell the client, and do not trust it again
            self._broken = True
            reason = f"{type(error).__name__} in Isaac Gym: {error}"
            reply = {"kind": "refusal", "reason": " ".join(reason.split())}
        reply["id"] = request["id"]
        return encode(reply)

    def _hello(self, _: Message) -> Message:
        options = self._options
        name = "cpu"
        if options.device != "cpu":
            name = str(self._api.torch.cuda.get_device_name(device_index(options.device)))
        rollouts = options.role == "rollouts"
        return {
            "kind": "server",
            "protocol": PROTOCOL,
            "backend": "isaacgym",
            "device": name,
            "most_candidates": options.envs if rollouts else 0,
            "rollouts": rollouts,
            "robot": not rollouts,
            "moves_ground": False,  # another ground needs another process
        }

    def _keep(self, request: Message) -> Message:
        if self._options.role != "rollouts":
            raise Refused("this server simulates a robot, on a level floor")
        check_ground(request)
        ground = Ground(request)
        self._grounds[ground.name] = ground
        if len(self._grounds) > MOST_GROUNDS:
            self._grounds.popitem(last=False)
        return {"kind": "ground_kept"}

    def _roll_out(self, request: Message) -> Message:
        if self._options.role != "rollouts":
            raise Refused("this server simulates a robot; rollouts need one with --role rollouts")
        check_rollout(request, self._options.envs)
        if request["ground"] and request["ground"] not in self._grounds:
            raise Refused("the ground is not known here; send it first")
        setup = Setup(
            request["period"] / request["substeps"],
            self._options.envs,
            self._planner_urdf,
            self._options.friction,
            0.0,
            self._grounds.get(request["ground"]),
        )
        if self._rollouts is None:
            self._rollouts = Rollouts(self._simulate(setup))
        elif self._rollouts.simulation.setup != setup:
            raise NeedsFresh
        start = time.perf_counter()
        reply = self._rollouts.roll_out(request)
        reply["kind"], reply["compute_s"] = "rolled_out", time.perf_counter() - start
        return reply

    def _begin(self, request: Message) -> Message:
        if self._options.role != "robot":
            raise Refused("this server rolls out; a robot needs one with --role robot")
        check_world(request)
        masses = request["mass_scale"], request["payload_mass"]
        setup = Setup(
            request["timestep"],
            1,
            changed_urdf(request["urdf"], *masses),
            request["friction"],
            request["floor_slope"],
            None,
        )
        if self._world is not None and self._world.simulation.setup != setup:
            raise NeedsFresh
        limits = (request[name] for name in ("torque_limit", "corner_speed", "no_load_speed"))
        simulation = self._simulate(setup) if self._world is None else self._world.simulation
        self._world, self._owner = World(simulation, MotorLimits(*limits)), self._client
        return dict(self._world.place(request), kind="lived")

    def _tick(self, request: Message) -> Message:
        outside = [request[name] for name in ("base_force", "joint_torque", "base_velocity")]
        if not np.isfinite(np.concatenate(outside)).all():
            raise Refused("a push that is not finite")
        if len(request["commands"]) > MOST_SUBSTEPS:
            raise Refused(f"{len(request['commands'])} steps at once; at most {MOST_SUBSTEPS}")
        return dict(self._begun().tick(request), kind="lived")

    def _place(self, request: Message) -> Message:
        check_state(request)
        return dict(self._begun().place(request), kind="lived")

    def _begun(self) -> World:
        if self._world is None or self._client != self._owner:
            raise Refused("no world was begun, or somebody began another")
        return self._world

    def _simulate(self, setup: Setup) -> Simulation:
        """This process's one simulation; where it fails, the next one needs another process."""
        self._broken = True
        simulation = Simulation(self._api, setup, self._options)
        self._broken = False
        return simulation


def check_rollout(request: Message, envs: int) -> None:
    """Raise Refused for rollouts that cannot be done."""
    policies, knots = request["inputs"].shape[:2]
    chosen = request["policy_index"]
    if not 1 <= len(chosen) <= envs:
        raise Refused(f"{len(chosen)} candidates; this server takes 1 to {envs}")
    if len(request["step_size"]) != len(chosen):
        raise Refused("as many step sizes as policy indices are needed")
    if not (1 <= knots <= MOST_KNOTS and 1 <= request["substeps"] <= MOST_SUBSTEPS):
        raise Refused(f"1 to {MOST_KNOTS} knots of 1 to {MOST_SUBSTEPS} substeps")
    if knots * request["substeps"] > MOST_STEPS or len(chosen) * knots > MOST_STATES:
        size = f"{len(chosen)} candidates, {knots} knots of {request['substeps']} substeps"
        bounds = f"{MOST_STEPS} steps and {MOST_STATES} knots of all candidates"
        raise Refused(f"{size}; this server takes up to {bounds}")
    if not all(0 <= index < policies for index in chosen):
        raise Refused(f"a policy index is not below the number of policies, {policies}")
    if not 0.0 < request["period"] <= 1.0:
        raise Refused(f"period is {request['period']:g}; give seconds in (0, 1]")


def check_ground(request: Message) -> None:
    """Raise Refused for a ground that cannot be, or is too large."""
    half, heights, axes = request["half"], request["grid"], request["rotation"]
    if len(half) > MOST_BOXES or heights.size > MOST_CELLS:
        raise Refused(f"{len(half)} boxes, {heights.size} heights; {MOST_BOXES}, {MOST_CELLS} fit")
    numbers = [np.ravel(request[field]) for field in Ground.FIELDS]
    good = bool((np.abs(np.concatenate(numbers)) <= FARTHEST).all())  # NaN is not
    good = good and bool((half > 0.0).all() and (heights >= 0.0).all())
    good = good and request["grid_spacing"] > 0.0
    good = good and (not heights.size or min(heights.shape) > 1)
    squares = np.swapaxes(axes, 1, 2) @ axes if good else np.full((1, 3, 3), np.nan)
    if not (np.abs(squares - np.eye(3)) < 1e-6).all() or (np.linalg.det(axes) < 0.0).any():
        raise Refused("no ground: sizes, axes or heights that cannot be")


def check_world(request: Message) -> None:
    """Raise Refused for a world that cannot be."""
    torque, corner, fast = (
        request[name] for name in ("torque_limit", "corner_speed", "no_load_speed")
    )
    wrong = [
        name
        for name, good in (
            ("timestep", 0.0 < request["timestep"] <= 0.1),
            ("friction", 0.0 <= request["friction"] < 100.0),
            ("payload_mass", 0.0 <= request["payload_mass"] < 1000.0),
            ("mass_scale", 0.0 < request["mass_scale"] < 1000.0),
            ("floor_slope", abs(request["floor_slope"]) < 1.5),
            ("torque_limit", bool(((torque > 0.0) & (torque < 1e4)).all())),
            ("corner_speed", bool(((corner >= 0.0) & (corner < fast) & (fast < np.inf)).all())),
        )
        if not good
    ]
    if wrong:
        raise Refused(f"{wrong[0]} cannot be {request[wrong[0]]!r}")
    check_state(request)


def check_state(request: Message) -> None:
    """Raise Refused for a state (q, v) that is none."""
    finite = np.isfinite(request["q"]).all() and np.isfinite(request["v"]).all()
    if not finite or abs(np.linalg.norm(request["q"][3:7]) - 1.0) > 1e-3:
        raise Refused("q, v are no state: not finite, or the quaternion is not of length one")


# ------------------------------------------------------------------- its process, and the socket


class Worker:
    """The process of one simulation: Isaac Gym takes one a process, and may end it by a fault."""

    def __init__(self, options: argparse.Namespace, stopping: Callable[[], bool]) -> None:
        """Start it.

        Raises Unusable where Isaac Gym is not, EOFError if all is to stop, Hung where it does not
        start.
        """
        if stopping():
            raise EOFError
        context = multiprocessing.get_context("spawn")  # a fork would inherit CUDA's state
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, options), daemon=True)
        self._stopping, self._patience = stopping, options.patience
        self._process.start()
        theirs.close()
        try:
            trouble = self._receive(START_S).decode()
        except Hung:
            self.close()
            raise
        except EOFError:
            how = self.close()
            if stopping():
                raise
            trouble = f"Isaac Gym's process ended at its start ({how})"
        if trouble:
            raise Unusable(trouble)

    def ask(self, frame: bytes, client: bytes) -> bytes:
        """The service's answer.

        Raises EOFError if the process ends over it, or is to end, and Hung after `--patience`.
        """
        try:
            self._pipe.send_bytes(frame)
            self._pipe.send_bytes(client)
        except OSError:
            raise EOFError from None
        return self._receive(self._patience)

    def close(self) -> str:
        """End the process; how it ended."""
        self._pipe.close()
        self._process.join(2.0)
        self._process.terminate()
        self._process.join(5.0)
        self._process.kill()
        self._process.join(5.0)
        return f"exit code {self._process.exitcode}"

    def _receive(self, patience: float) -> bytes:
        """What the process sends within `patience` [s]."""
        deadline = time.monotonic() + patience
        while not self._pipe.poll(0.2):
            if self._stopping():
                raise EOFError
            if time.monotonic() >= deadline:
                raise Hung(f"Isaac Gym hangs: no answer in {patience:g} s; the server ends")
        try:
            return self._pipe.recv_bytes()
        except OSError:
            raise EOFError from None


def work(pipe: Any, options: argparse.Namespace) -> None:
    """A worker's life: answer frames until the pipe closes."""
    # Ctrl-C reaches the whole group; the front ends this process when it has its answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        service = Service(load_api(), options)
    except Unusable as error:
        pipe.send_bytes(str(error).encode())
        return
    pipe.send_bytes(b"")
    while True:
        try:
            pipe.send_bytes(service.answer(pipe.recv_bytes(), pipe.recv_bytes()))
        except (EOFError, OSError):
            return


class Front:
    """Hands frames to a worker, and to a fresh one where the old one has died or cannot."""

    def __init__(self, make_worker: Callable[[], Any]) -> None:
        """`make_worker()` has ask(frame, client) and close(), like Worker; EOFError: to stop."""
        self._make_worker, self._worker = make_worker, make_worker()
        self._grounds: list[bytes] = []  # frames, for a fresh worker
        self.restarts = 0

    def answer(self, frame: bytes, client: bytes = b"") -> bytes:
        """The reply's frame; b"" for bytes that are no request. `client`: whose it is.

        Raises Hung where the worker, or a fresh one, gives no answer.
        """
        try:
            reply = self._worker.ask(frame, client)
            if reply == FRESH:
                self._renew()
                reply = self._worker.ask(frame, client)
            if len(reply) < 64 and b"ground_kept" in reply:
                self._grounds = self._grounds[1 - MOST_GROUNDS :] + [frame]
            return reply
        except EOFError:
            pass
        try:
            how = self._renew()
            return refusal(frame, f"Isaac Gym's process ended ({how}); a new one has started")
        except EOFError:  # all is to stop
            return b""

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def _renew(self) -> str:
        how = self._worker.close()
        self._worker = self._make_worker()
        self.restarts += 1
        for frame in self._grounds:
            self._worker.ask(frame, b"")
        return how


def refusal(frame: bytes, reason: str) -> bytes:
    """A refusal of the request in a frame; b"" if there is none in it."""
    try:
        return encode({"kind": "refusal", "id": decode(frame)["id"], "reason": reason})
    except ValueError:
        return b""


def open_socket(address: str, secret: str) -> Any:
    """A listening ROUTER socket. Raises Unusable for an address that cannot be, or not without key.

    `secret` is the secret half of a CURVE key pair, "" for none, which does on this machine only.
    """
    found = re.match(r"tcp://(\[[0-9a-fA-F:.]+\]|[^\s:\[\]]+):\d{1,5}$", address)
    if not found and not address.startswith("ipc://"):
        raise Unusable(f"address is {address!r}; give tcp://HOST:PORT or ipc://FILE")
    local = not found or found.group(1).strip("[]") in ("127.0.0.1", "::1", "localhost")
    if not local and not secret:
        raise Unusable(f"{address} goes beyond this machine: give --key-file, or 127.0.0.1")
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    socket.linger, socket.ipv6 = 0, "[" in address
    socket.maxmsgsize, socket.sndhwm, socket.rcvhwm = 256 * 2**20, 16, 16
    if secret:
        socket.curve_server, socket.curve_secretkey = True, secret.encode()
    try:
        socket.bind(address.replace("//localhost:", "//127.0.0.1:"))
    except zmq.ZMQError as error:
        raise Unusable(f"cannot bind {address}: {error}") from None
    return socket


def read_secret(file: str) -> str:
    """The secret half of a key pair, as `saltus serve --key-file` writes it; "" for no file."""
    if not file:
        return ""
    try:
        with open(file) as lines:
            status, words = os.fstat(lines.fileno()), lines.read().split()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"key file {file}: {error}") from None
    if len(words) != 2 or words[0] != "saltus-secret-key" or len(words[1]) != 40:
        raise Unusable(f"key file {file} holds no secret half (`saltus serve --key-file NAME`)")
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid == os.getuid() and mode & 0o077:
        remedy = f"chmod 600 {shlex.quote(file)}"
        raise Unusable(f"key file {file} is open to others (mode {mode:04o}): {remedy}")
    return words[1]


class Stop:
    """Whether SIGINT or SIGTERM has come, or the time is over."""

    def __init__(self, duration: float) -> None:
        """`duration` [s]; 0: no end."""
        self._end = time.monotonic() + duration if duration > 0.0 else float("inf")
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._set)

    def _set(self, *_: Any) -> None:
        self._end = 0.0

    def __call__(self) -> bool:
        """Whether to stop."""
        return time.monotonic() >= self._end


class Tally:
    """What was answered: how many frames, how many of them no requests, and how fast."""

    def __init__(self) -> None:
        self.answered = self.unread = 0
        self.times: deque[float] = deque(maxlen=NEWEST)  # [ms], of the newest

    def add(self, seconds: float, reply: bytes) -> None:
        """Count one frame."""
        self.answered += 1
        self.unread += not reply
        self.times.append(1e3 * seconds)

    def report(self) -> Message:
        """Counts, and quantiles of the newest times [ms]."""
        p50, p99 = np.percentile(self.times or [0.0], (50, 99))
        times = {"p50": round(float(p50), 3), "p99": round(float(p99), 3)}
        return {"requests": self.answered, "undecodable": self.unread, "ms": times}


def answer_until(stop: Callable[[], bool], socket: Any, front: Front, tally: Tally) -> None:
    """Answer what comes. Raises Hung where Isaac Gym hangs, once the client has been told."""
    while not stop():
        if not socket.poll(200):
            continue
        frames = socket.recv_multipart()
        start = time.perf_counter()
        try:
            reply = front.answer(frames[1], frames[0]) if len(frames) == 2 else b""
        except Hung as error:
            socket.linger = 1000  # [ms] for the refusal to leave
            socket.send_multipart((frames[0], refusal(frames[1], str(error))), zmq.NOBLOCK)
            raise
        tally.add(time.perf_counter() - start, reply)
        if reply:
            socket.send_multipart((frames[0], reply), zmq.NOBLOCK)


def serve(options: argparse.Namespace) -> None:
    """Answer until SIGINT, SIGTERM or the end of `options.duration`; report in one line of JSON."""
    stop, tally = Stop(options.duration), Tally()
    socket = open_socket(options.address, read_secret(options.key_file))
    try:
        try:
            front = Front(lambda: Worker(options, stop))
        except EOFError:  # stopped before Isaac Gym was there
            return
        print(f"Isaac Gym ({options.role}) listens on {options.address}", file=sys.stderr)
        try:
            answer_until(stop, socket, front, tally)
        finally:
            front.close()
    finally:
        socket.close()
    report = {"backend": "isaacgym", "role": options.role, "address": options.address}
    print(json.dumps(dict(report, restarts=front.restarts, **tally.report())))


# ------------------------------------------------------------------------------ the self-check


class SelfCheck:
    """Whether Isaac Gym on this machine does what this file takes it to do."""

    def __init__(self, rollouts: Rollouts, period: float, mass: float) -> None:
        """`period` between knots of one step each [s]; `mass` of the robot [kg]."""
        self.rollouts, self.period, self.mass, self.passed = rollouts, period, mass, True

    def run(self) -> bool:
        """All checks, a line each; whether all passed."""
        self.state_round_trip()
        self.free_fall()
        self.root_velocity()
        self.motors()
        self.standing()
        self.feet()
        return self.passed

    def state_round_trip(self) -> None:
        """One step moves a state by its velocity: quaternion order, velocity frames, joints."""
        errors = []
        for seed in range(8):
            x = _standing(height=3.0)
            noise = np.random.RandomState(seed)
            x[3:7] = noise.normal(size=4)
            x[3:7] /= np.linalg.norm(x[3:7])
            x[7:19] += 0.2 * noise.uniform(-1.0, 1.0, 12)
            x[19:] = 0.5 * noise.uniform(-1.0, 1.0, 18)
            after = self._limp(x, 2)["states"][0, 1]
            moved = difference(x, after) / self.period
            errors.append(max(_most(moved[:18] - x[19:]), _most(moved[18:]) * self.period))
        self._line("state round trip", max(errors) < 0.1, f"error {max(errors):.3f} m/s or rad/s")

    def free_fall(self) -> None:
        """A robot at rest falls by gravity alone: no damping, no drive."""
        knots = int(round(0.2 / self.period))
        x = self._limp(_standing(height=3.0), knots)["states"][0, knots]
        expected = -GRAVITY * knots * self.period
        at_rest = _most(x[7:19] - _standing()[7:19])
        good = abs(x[21] / expected - 1.0) < 0.01 and at_rest < 0.01
        text = f"velocity {x[21]:.4f} m/s, expected {expected:.4f}; joints moved {at_rest:.4f} rad"
        self._line("free fall", good, text)

    def root_velocity(self) -> None:
        """The base moves as its velocity says, to the 4 mm from its origin to the trunk's COM."""
        x = _standing(height=3.0)
        x[22:25] = 10.0, 0.0, 5.0
        states = self._limp(x, 60)["states"][0]
        moved = (states[2:, :3] - states[:-2, :3]) / (2.0 * self.period)
        mean = 0.5 * (rotate(states[1:-1, 3:7], states[1:-1, 19:22]))
        mean = mean + 0.5 * rotate(states[2:, 3:7], states[2:, 19:22])
        offset = np.cross(states[1:-1, 22:25], self.rollouts.simulation.trunk_com)
        offset = rotate(states[1:-1, 3:7], offset)
        # Of the error, the part along the difference between the two readings: 0 if this is right.
        share = np.sum((moved - mean) * offset) / max(float(np.sum(offset * offset)), 1e-12)
        other = "origin" if self.rollouts.simulation.velocity_point.any() else "com"
        text = f"share of the offset in the error {share:.2f}: 0 is right, "
        text += f"at 1 or -1 give --root-velocity {other}"
        self._line("velocity of the root", abs(share) < 0.3, text)

    def motors(self) -> None:
        """A torque on one joint moves that joint most, and forward."""
        wrong = []
        for joint, name in enumerate(JOINTS):
            torque = np.zeros(12)
            torque[joint] = 1.0
            speeds = self._limp(_standing(height=3.0), 5, torque)["states"][0, 5, 25:]
            if np.argmax(np.abs(speeds)) != joint or speeds[joint] <= 0.0:
                wrong.append(name)
        self._names("motors move their joints", wrong)

    def standing(self) -> None:
        """A standing robot's feet carry its weight."""
        knots = int(round(1.0 / self.period))
        reply = self._hold(_standing(), knots)
        late = reply["normal_forces"][0, -knots // 5 :].mean(axis=0)
        weight = self.mass * GRAVITY
        good = abs(late.sum() / weight - 1.0) < 0.02 and late.min() > 0.1 * weight
        height, geometry = reply["states"][0, knots, 2], _standing()[2]
        text = f"feet carry {np.round(late, 1)} N, sum {late.sum():.1f} of {weight:.1f}; "
        text += f"base at {height:.4f} m, {geometry:.4f} on rigid legs"
        self._line("standing", good, text)

    def feet(self) -> None:
        """A foot in the air carries nothing, and it is the right one."""
        wrong = []
        for foot, name in enumerate(FEET):
            x = _standing()
            x[9 + 3 * foot] -= 0.5  # the calf folds, the foot leaves the floor
            forces = self._hold(x, 20)["normal_forces"][0, 5:].mean(axis=0)
            others = np.delete(forces, foot)
            if forces[foot] > 0.5 or others.sum() < 0.3 * self.mass * GRAVITY:
                wrong.append(name)
        self._names("feet are told apart", wrong)

    def _limp(self, x: np.ndarray, knots: int, torque: np.ndarray | None = None) -> Message:
        return self._roll(x, knots, np.zeros(12) if torque is None else torque, np.zeros((12, 36)))

    def _hold(self, x: np.ndarray, knots: int) -> Message:
        """Hold the joints of x by springs and dampers."""
        gain = np.zeros((12, 36))
        gain[range(12), range(6, 18)], gain[range(12), range(24, 36)] = -100.0, -3.0
        return self._roll(x, knots, np.zeros(12), gain)

    def _roll(self, x: np.ndarray, knots: int, torque: np.ndarray, gain: np.ndarray) -> Message:
        return self.rollouts.roll_out(
            {
                "period": self.period,
                "substeps": 1,
                "x0": x,
                "states": np.tile(x, (1, knots + 1, 1)),
                "inputs": np.tile(torque, (1, knots, 1)),
                "feedforward": np.zeros((1, knots, 12)),
                "gains": np.tile(gain, (1, knots, 1, 1)),
                "policy_index": [0],
                "step_size": np.zeros(1),
            }
        )

    def _names(self, what: str, wrong: list[str]) -> None:
        self._line(what, not wrong, f"wrong: {', '.join(wrong) or 'none'}")

    def _line(self, what: str, good: bool, text: str) -> None:
        self.passed = self.passed and bool(good)
        print(f"{'PASS' if good else 'FAIL'}  {what:26} {text}")


def _standing(height: float | None = None) -> np.ndarray:
    """At rest, feet below the hips and (radius 0.02 m) on the floor, or the base at `height`."""
    z = 0.4 * np.cos(0.8) + 0.02 if height is None else height
    return np.concatenate(([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0], [0.0, 0.8, -1.6] * 4, np.zeros(18)))


def _most(values: np.ndarray) -> float:
    return float(np.abs(values).max())


def check(api: Api, options: argparse.Namespace) -> bool:
    """Print what holds on this machine, a line each; whether all does."""
    urdf = changed_urdf(options.urdf_text, feet_only=True)
    setup = Setup(options.check_period, 2, urdf, options.friction, 0.0, None)
    rollouts = Rollouts(Simulation(api, setup, options))
    return SelfCheck(rollouts, setup.timestep, total_mass(urdf)).run()


# ------------------------------------------------------------------------------ command line


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options, with what hangs together filled in. Raises Unusable for what does not."""
    parser = argparse.ArgumentParser(description="Isaac Gym behind Saltus's messages.")
    add = parser.add_argument
    add("--role", choices=("rollouts", "robot"), default="rollouts")
    add("--address", default="", help="default tcp://127.0.0.1:46210, for a robot ...:46211")
    add("--key-file", default="", help="secret half of a key pair, for an address beyond loopback")
    add("--urdf", default="", help="the robot, for rollouts: python -m robots.urdf a1 > a1.urdf")
    add("--envs", type=int, default=16, help="most candidates of one request")
    add("--device", default="cuda:0", help="of PhysX: cuda:0, cuda:1, ..., or cpu")
    add("--pipeline", choices=("gpu", "cpu"), help="of tensors; default: as --device")
    add("--friction", type=float, default=0.8, help="of feet and floor, in rollouts")
    add("--root-velocity", choices=("com", "origin"), default="com", help="see --check")
    add("--armature", type=float, default=ARMATURE, help="of the rotors at their joints [kg m^2]")
    add("--position-iterations", type=int, default=4)
    add("--velocity-iterations", type=int, default=1)
    add("--threads", type=int, default=4, help="of PhysX on the CPU")
    add("--patience", type=float, default=120.0, help="end where one answer takes longer [s]")
    add("--duration", type=float, default=0.0, help="end after so many seconds; 0: never")
    add("--check", action="store_true", help="check Isaac Gym on this machine, and end")
    add("--check-period", type=float, default=0.001, help="physics step of --check [s]")
    options = parser.parse_args(arguments)
    for name, least in (("envs", 1), ("threads", 1), ("friction", 0.0), ("armature", 0.0)):
        if not least <= getattr(options, name) < np.inf:
            raise Unusable(f"--{name} is {getattr(options, name)}; give {least} or more")
    if not 0.0 < options.patience <= 3600.0:
        raise Unusable(f"--patience is {options.patience:g}; give seconds in (0, 3600]")
    if not 0.0 < options.check_period <= 0.02:
        raise Unusable(f"--check-period is {options.check_period:g}; give seconds in (0, 0.02]")
    if not re.match(r"cpu$|cuda:\d+$", options.device):
        raise Unusable(f"--device is {options.device!r}; give cpu or cuda:N")
    options.pipeline = options.pipeline or ("cpu" if options.device == "cpu" else "gpu")
    if options.pipeline == "gpu" and options.device == "cpu":
        raise Unusable("--pipeline gpu needs --device cuda:N")
    if not options.address:
        port = 46210 if options.role == "rollouts" else 46211
        options.address = f"tcp://127.0.0.1:{port}"
    options.urdf_text = _read_urdf(options)
    return options


def _read_urdf(options: argparse.Namespace) -> str:
    if options.role == "robot" and not options.check:
        return ""  # a world brings its own
    if not options.urdf:
        raise Unusable("--urdf FILE is needed; write one by: python -m robots.urdf a1 > a1.urdf")
    try:
        with open(options.urdf) as file:
            text = file.read()
        changed_urdf(text)
    except (OSError, UnicodeDecodeError, Refused) as error:
        raise Unusable(f"{options.urdf}: {error}") from None
    return text


def main(arguments: list[str]) -> int:
    """Exit status: 0; 1 for a check that failed or physics that hangs; 2 for what cannot work."""
    try:
        options = parse(arguments)
        if options.check:
            return 0 if check(load_api(), options) else 1
        serve(options)
    except (Unusable, Refused) as error:
        print(f"server.py: {error}", file=sys.stderr)
        return 2
    except Hung as error:
        print(f"server.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    if multiprocessing.active_children():  # hung past a kill: an orderly exit would wait for it
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
