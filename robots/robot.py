"""A robot as data: a folder with a model and `robot.yaml`, read into one frozen object.

Everything that the model says is taken from it: masses, lengths, feet, joint ranges, torque limits,
armature. `robot.yaml` has what a model cannot say (`robots.robot_file`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from robots.conventions import FOOT_NAMES, JOINT_NAMES
from robots.imported_model import ModelError, import_model, motor_limit
from robots.kinematic_tree import rotation_of
from robots.legs import Legs, foot_positions_in_base
from robots.robot_file import (
    FILE,
    ROBOTS,
    Numbers,
    RobotError,
    RobotFile,
    folder_of,
    is_own,
    read_robot_file,
)
from robots.rotations import Array


@dataclass(frozen=True, eq=False)
class Robot:
    """A quadruped; arrays of joints are (12) in motor order and cannot be written to.

    Attributes:
        name: as `load_robot` takes it.
        label: for people.
        mjcf: the model as text, without the world: bodies, joints and feet named by
            `robots.conventions`, joints in motor order.
        legs: what kernels need.
        mass: of the whole robot [kg].
        torque_limit: [N m]
        velocity_limit: speed at which a motor has no torque left [rad/s].
        corner_speed: up to which it has its full torque [rad/s].
        armature: inertia of the rotors, seen at the joints [kg m^2].
        stand: joints of the stand [rad].
        lie: joints at which the robot lies [rad].
        stand_height: of the base above level ground in the stand [m].
        body: (2, 3) opposite corners of the box around trunk, head and hips, in the base [m].
        wire: name of its frames, see `hw_bridge.wire.layout`.
        defaults: options of a launch that this robot needs.
    """

    name: str
    label: str
    mjcf: str
    legs: Legs
    mass: float
    torque_limit: Array
    velocity_limit: Array
    corner_speed: Array
    armature: Array
    stand: Array
    lie: Array
    stand_height: float
    body: Array
    wire: str = "unitree-a1"
    defaults: dict[str, Any] = field(default_factory=dict)

    def spec(self, meshes: bool = False) -> mujoco.MjSpec:
        """The robot in its world, to be changed and compiled; with `meshes` to be looked at."""
        world, mjcf = (ROBOTS / "scene.xml").read_text(), self.mjcf
        if meshes and not is_own(self.name):
            file = folder_of(self.name) / read_robot_file(self.name).model
            mjcf = import_model(file, self.torque_limit, meshes)
        return mujoco.MjSpec.from_string(world, include={"robot.xml": mjcf.encode()})

    @cached_property
    def leg_length(self) -> float:
        """Thigh and shank together [m], of the first leg."""
        return float(self.legs.thigh[0] * (1.0 + self.legs.ratio[0]))


@cache
def load_robot(name: str) -> Robot:
    """Return a robot of this project, such as ``a1``, or the one in the folder `name`.

    Raises:
        RobotError: there is no such folder, or what it holds is no robot.
    """
    folder = folder_of(name)
    described = read_robot_file(name)
    try:
        return _robot(name, folder, described)
    except ModelError as error:
        raise RobotError(f"{folder / described.model}: {error}") from error
    except ValueError as error:
        raise RobotError(f"{folder / FILE}: {error}") from error


def _robot(name: str, folder: Path, file: RobotFile) -> Robot:
    """Put together what the file and its model say; ValueError names what is wrong."""
    path = folder / file.model
    try:
        mjcf = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"cannot be read ({error})") from error
    given = file.torque_limit
    torque = None if given is None else _positive("torque_limit", given)
    if not is_own(name):
        mjcf = import_model(path, torque)
    try:
        model = mujoco.MjSpec.from_string(mjcf).compile()
    except ValueError as error:
        raise ModelError(" ".join(str(error).split())) from error
    hinges = slice(1, 13)
    lower, upper = model.jnt_range[hinges].T
    stand, lie = _joints("stand", file.stand), _joints("lie", file.lie)
    legs = _legs(model, _frozen(lower), _frozen(upper), stand)
    for pose, joints in (("stand", stand), ("lie", lie)):
        for k in np.flatnonzero((joints < lower) | (joints > upper)):
            raise ValueError(
                f"{pose}: {JOINT_NAMES[k]} at {joints[k]:g} rad is outside its range, "
                f"{lower[k]:.4g} to {upper[k]:.4g} rad"
            )
    feet = foot_positions_in_base(legs, stand)
    if not legs.bend.all():
        raise ValueError("stand: a knee is straight; bend it to the side to which it shall bend")
    speed = _positive("velocity_limit", file.velocity_limit)
    corner = file.corner_speed
    corner = _frozen(0.5 * speed) if corner is None else _positive("corner_speed", corner)
    if not (corner < speed).all():
        raise ValueError(f"corner_speed is {corner.max():g}; give less than velocity_limit")
    body = np.sort(_trunk_box(model) if file.body is None else np.array(file.body), axis=0)
    if not (np.isfinite(body).all() and (body[0] < body[1]).all()):
        raise ValueError(f"body is {body.tolist()}; give two opposite corners of a box")
    return Robot(
        name=name,
        label=file.label or folder.resolve().name,
        mjcf=mjcf,
        legs=legs,
        mass=round(float(model.body_mass.sum()), 9),
        torque_limit=_frozen(_torques(model) if torque is None else torque),
        velocity_limit=speed,
        corner_speed=corner,
        armature=_frozen(model.dof_armature[6:]),
        stand=stand,
        lie=lie,
        stand_height=float(-feet[:, 2].min()) + legs.foot_radius,
        body=_frozen(body),
        wire=file.wire,
        defaults=file.defaults,
    )


def _legs(model: mujoco.MjModel, lower: Array, upper: Array, stand: Array) -> Legs:
    """Read the legs' geometry; hips, thighs and calves are bodies 2 to 13 in motor order."""
    offset = model.body_pos[2:14].reshape(4, 3, 3)
    feet = [model.geom(f"{foot}_foot") for foot in FOOT_NAMES]
    sole = np.array([foot.pos for foot in feet])
    hip = offset[:, 0].copy()
    hip[:, 0] += offset[:, 1, 0]
    thigh, shank = np.hypot(offset[:, 2, 0], offset[:, 2, 2]), np.hypot(sole[:, 0], sole[:, 2])
    # The thigh leads straight down at b = 0 (`import_model`); the shank may lean.
    lean = np.arctan2(-sole[:, 0], -sole[:, 2])
    plane = offset[:, 1, 1] + offset[:, 2, 1] + sole[:, 1]
    ratio, bend = shank / thigh, np.sign(stand[2::3] + lean)
    hip, plane, thigh, ratio, lean, bend = map(_frozen, (hip, plane, thigh, ratio, lean, bend))
    radius = float(feet[0].size[0])
    return Legs(hip, plane, thigh, ratio, lean, bend, radius, lower, upper)


def _torques(model: mujoco.MjModel) -> Array:
    limits = np.array([motor_limit(model, joint) for joint in range(1, 13)])
    for joint in np.flatnonzero(~(np.isfinite(limits) & (limits > 0.0))):
        raise ValueError(
            f"torque_limit is missing: the model has none above 0 of {JOINT_NAMES[joint]}; give it "
            "[N m]"
        )
    return limits


def _trunk_box(model: mujoco.MjModel) -> Array:
    """Opposite corners (2, 3) of the box around the trunk's shapes that can touch the ground."""
    corners = []
    for geom in np.flatnonzero((model.geom_bodyid == 1) & (model.geom_conaffinity != 0)):
        rotation = rotation_of(model.geom_quat[geom])
        centre, half = model.geom_aabb[geom].reshape(2, 3)
        middle, reach = model.geom_pos[geom] + rotation @ centre, np.abs(rotation) @ half
        corners += [middle - reach, middle + reach]
    return np.array([np.min(corners, axis=0), np.max(corners, axis=0)])


def _joints(key: str, values: Numbers) -> Array:
    """One number for all joints, three of a leg or twelve, as twelve."""
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if not np.isfinite(numbers).all():
        raise ValueError(f"{key} is {numbers.tolist()}; give finite numbers")
    if numbers.size not in (1, 3, 12):
        raise ValueError(f"{key} has {numbers.size} numbers; give 1, 3 (hip, thigh, calf) or 12")
    return _frozen(np.tile(numbers, 12 // numbers.size))


def _positive(key: str, values: Numbers) -> Array:
    numbers = _joints(key, values)
    if not (numbers > 0.0).all():
        raise ValueError(f"{key} is {numbers.min():g}; give numbers above 0")
    return numbers


def _frozen(values: Array) -> Array:
    """The values as an array that cannot be written to by mistake."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
