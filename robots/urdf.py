"""A robot as URDF, for engines that cannot read MJCF; `python -m robots.urdf a1` prints it.

Made from its MJCF: same links, joints, masses and inertias, and
the same shapes where they can touch the floor. Left out is what URDF has no word for: a joint's
armature and friction against the floor are the engine's to set.
Looks are left out too. Joints stand in motor order, but readers of URDF may sort them by name:
Pinocchio and Isaac Gym do.
"""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

import sys
from xml.etree import ElementTree as Xml

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robots.kinematic_tree import rotation_of
from robots.robot import Robot, load_robot

Array = NDArray[np.float64]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_NOISE = 1e-15  # numbers below it are rounding


def urdf_of(described: Robot) -> str:
    """The robot as URDF text, with `trunk` as its root.

    Feet (`FR_foot`, ...) and IMU are links of their own on fixed joints. A foot's joint asks not to
    be collapsed (Isaac Gym's `dont_collapse`), so that its contact forces keep a body.
    """
    spec = mujoco.MjSpec.from_string(described.mjcf)
    spec.compiler.fusestatic = False  # a foot is a body
    model = spec.compile()
    robot = Xml.Element("robot", name=spec.modelname)
    for body in range(1, model.nbody):
        _add_link(robot, model, body)
        if model.body_parentid[body] != 0:
            _add_joint(robot, model, body, described)
    Xml.indent(robot)
    return f'<?xml version="1.0"?>\n{Xml.tostring(robot, encoding="unicode")}\n'


def _add_link(robot: Xml.Element, model: mujoco.MjModel, body: int) -> None:
    axes = rotation_of(model.body_iquat[body])
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    link = Xml.SubElement(robot, "link", name=model.body(body).name)
    inertial = Xml.SubElement(link, "inertial")
    _add_origin(inertial, model.body_ipos[body])
    Xml.SubElement(inertial, "mass", value=_text(model.body_mass[body]))
    upper = {f"i{'xyz'[i]}{'xyz'[j]}": _text(inertia[i, j]) for i in range(3) for j in range(i, 3)}
    Xml.SubElement(inertial, "inertia", upper)
    for geom in np.flatnonzero((model.geom_bodyid == body) & (model.geom_conaffinity != 0)):
        _add_collision(link, model, int(geom))


def _add_collision(link: Xml.Element, model: mujoco.MjModel, geom: int) -> None:
    """A shape that can touch the floor.

    A capsule, which URDF does not have, becomes the cylinder between its two caps; Isaac Gym's
    `replace_cylinder_with_capsule` puts caps on it again.
    """
    collision = Xml.SubElement(link, "collision", name=model.geom(geom).name)
    _add_origin(collision, model.geom_pos[geom], model.geom_quat[geom])
    shape, size = Xml.SubElement(collision, "geometry"), model.geom_size[geom]
    kind = mujoco.mjtGeom(model.geom_type[geom])
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        Xml.SubElement(shape, "sphere", radius=_text(size[0]))
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        Xml.SubElement(shape, "box", size=_text(2.0 * size))
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        Xml.SubElement(shape, "cylinder", radius=_text(size[0]), length=_text(2.0 * size[1]))
    else:
        raise ValueError(f"no URDF for the shape {kind.name}")


def _add_joint(robot: Xml.Element, model: mujoco.MjModel, body: int, described: Robot) -> None:
    """Join a body to its parent: by its one hinge, or rigidly."""
    name, hinged = model.body(body).name, model.body_jntnum[body] == 1
    index = model.body_jntadr[body]
    joint = Xml.SubElement(
        robot, "joint",
        name=model.joint(index).name if hinged else f"{name}_fixed",
        type="revolute" if hinged else "fixed",
    )  # fmt: skip
    Xml.SubElement(joint, "parent", link=model.body(model.body_parentid[body]).name)
    Xml.SubElement(joint, "child", link=name)
    _add_origin(joint, model.body_pos[body], model.body_quat[body])
    if not hinged:
        if (model.geom_bodyid == body).any():
            joint.set("dont_collapse", "true")
        return
    lower, upper = model.jnt_range[index]
    dof, motor = model.jnt_dofadr[index], index - 1
    Xml.SubElement(joint, "axis", xyz=_text(model.jnt_axis[index]))
    Xml.SubElement(
        joint, "limit", lower=_text(lower), upper=_text(upper),
        effort=_text(described.torque_limit[motor]),
        velocity=_text(described.velocity_limit[motor]),
    )  # fmt: skip
    damping, friction = model.dof_damping[dof], model.dof_frictionloss[dof]
    Xml.SubElement(joint, "dynamics", damping=_text(damping), friction=_text(friction))


def _add_origin(parent: Xml.Element, position: Array, quaternion: Array = UPRIGHT) -> None:
    """Position [m] and fixed-axis roll, pitch, yaw [rad] of MuJoCo's quaternion, w first."""
    turns = pin.rpy.matrixToRpy(rotation_of(quaternion))
    Xml.SubElement(parent, "origin", xyz=_text(position), rpy=_text(turns))


def _text(numbers: float | Array) -> str:
    values = np.atleast_1d(np.asarray(numbers, dtype=np.float64))
    return " ".join(f"{0.0 if abs(x) < _NOISE else x:.15g}" for x in values)


if __name__ == "__main__":
    print(urdf_of(load_robot(sys.argv[1])), end="")
