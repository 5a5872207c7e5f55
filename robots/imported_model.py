"""Turn any MJCF of a quadruped into the form that all of Saltus reads.

The form: a body `trunk` with a free joint; legs FR, FL, RR, RL, each with bodies hip, thigh and
calf; one hinge each at the body's origin, about x, y and y; a sphere `FR_foot` fixed to the calf,
with a touch sensor; motors in motor order. Names, order and signs of the given model do not matter:
a leg is known by the place of its hip.
"""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree as Xml

import mujoco
import numpy as np

from robots.conventions import FOOT_NAMES
from robots.kinematic_tree import rotation_of
from robots.rotations import Array

AXES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])  # of hip, thigh and calf
PARTS = ("hip", "thigh", "calf")
STRAIGHT = 1e-3  # largest deviation of an axis, and of a thigh from the vertical [rad, m]
FOOT = {"friction": "0.8 0.02 0.01", "priority": "1"}  # rubber on a floor, as the A1's
BODY = {"friction": "0.6 0.02 0.01"}
SHAPES = ("sphere", "capsule", "cylinder", "box", "ellipsoid")


class ModelError(ValueError):
    """A model is no quadruped of this form; the message says where."""


def import_model(path: Path, torque_limit: Array | None = None, meshes: bool = False) -> str:
    """Return the model in the form of Saltus, as text.

    Args:
        path: of the MJCF.
        torque_limit: (12) in motor order, instead of the model's own [N m].
        meshes: whether what is only looked at comes along, which may be 15 MB of text.

    Raises:
        ModelError: it cannot be loaded, or is no quadruped with three joints a leg.
    """
    given = _fused(path)
    trunk = _trunk(given)
    legs = _legs(given, trunk)
    root = Xml.Element("mujoco", model=path.stem)
    Xml.SubElement(root, "compiler", angle="radian", autolimits="true", fusestatic="true")
    assets = Xml.SubElement(root, "asset") if meshes else None
    body = _add(Xml.SubElement(root, "worldbody"), "body", name="trunk", pos=[0.0, 0.0, 0.32])
    _add(body, "freejoint", name="root")
    _fill(given, assets, body, trunk, None)
    _add(body, "site", name="imu", size=0.01, group=4)
    size = 2.0 * np.linalg.norm(given.body_pos[given.jnt_bodyid[legs[0][2]]]) / 0.4  # of the A1's
    _add(
        body, "light", name="sun", mode="trackcom", pos=[size, -1.2 * size, 2.5 * size],
        dir=[-0.2, 0.3, -1.0], directional="true", diffuse=[0.6, 0.6, 0.57], specular=[0.35] * 3,
    )  # fmt: skip
    motors, sensors = (Xml.SubElement(root, name) for name in ("actuator", "sensor"))
    for foot, chain in zip(FOOT_NAMES, legs, strict=True):
        parent, sphere = body, _foot(given, int(given.jnt_bodyid[chain[2]]))
        for part, joint in zip(PARTS, chain, strict=True):
            parent = _add_segment(given, assets, parent, f"{foot}_{part}", joint, sphere)
            limit = motor_limit(given, joint)
            if torque_limit is not None:
                limit = float(torque_limit[len(motors)])
            bounds = () if limit == math.inf else ("ctrlrange", "forcerange")
            _add(
                motors, "motor", name=f"{foot}_{part}", joint=f"{foot}_{part}_joint",
                **dict.fromkeys(bounds, [-limit, limit]),
            )  # fmt: skip
        name, radius = f"{foot}_foot", float(given.geom_size[sphere, 0])
        fixed = _add(parent, "body", name=name, pos=given.geom_pos[sphere])
        _add(
            fixed, "geom", name=name, type="sphere", size=radius, contype=0, conaffinity=1,
            group=1, density=0.0, rgba=[0.1, 0.1, 0.1, 1.0], **FOOT,
        )  # fmt: skip
        _add(fixed, "site", name=name, type="sphere", size=1.5 * radius, group=4)
        _add(sensors, "touch", name=f"{foot}_touch", site=name)
    return Xml.tostring(root, encoding="unicode")


def _fused(path: Path) -> mujoco.MjModel:
    """The model, in which a body without a joint is a part of the body that carries it."""
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = True
        for each in (*spec.sensors, *spec.cameras, *spec.lights, *spec.excludes):
            spec.delete(each)  # MuJoCo fuses no body that is referred to
        model = spec.compile()
    except ValueError as error:
        raise ModelError(" ".join(str(error).split())) from error
    for body in np.flatnonzero(model.body_jntnum[1:] == 0):
        raise ModelError(f"body {model.body(body + 1).name} has no joint, and something names it")
    return model


def _add(parent: Xml.Element, tag: str, **attributes: object) -> Xml.Element:
    """Add an element; numbers in full precision, which MuJoCo's own writer does not keep."""
    return Xml.SubElement(parent, tag, {key: _text(value) for key, value in attributes.items()})


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return " ".join(repr(each) for each in np.atleast_1d(np.asarray(value)).ravel().tolist())


def _trunk(m: mujoco.MjModel) -> int:
    free = np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    if free.size != 1:
        raise ModelError(f"has {free.size} free joints; give the one robot a free joint")
    extras = {"springs": m.jnt_stiffness.any(), "tendons": m.ntendon, "equality constraints": m.neq}
    if found := [what for what, there in extras.items() if there]:
        raise ModelError(f"has {' and '.join(found)}, which Saltus cannot take over; remove them")
    return int(m.jnt_bodyid[free[0]])


def _legs(m: mujoco.MjModel, trunk: int) -> list[list[int]]:
    """The joints hip, thigh, calf of FR, FL, RR, RL."""
    hinges = np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_HINGE).tolist()
    carriers = m.body_parentid[m.jnt_bodyid].tolist()
    carried = {carriers[j]: j for j in hinges}
    chains: list[list[int]] = []
    for hip in (j for j in hinges if carriers[j] == trunk):
        chain = [hip]
        while (after := carried.get(int(m.jnt_bodyid[chain[-1]]))) is not None:
            chain.append(after)
        chains.append(chain)
    shapes = sorted(len(chain) for chain in chains)
    if shapes != [3, 3, 3, 3] or m.njnt != 13:
        raise ModelError(
            f"has {len(chains)} chains of {shapes} joints on its trunk; a robot has 4 legs of 3 "
            "hinges, hip, thigh and calf, and no other joint"
        )
    placed = {}
    for chain in chains:
        x, y, _ = m.body_pos[m.jnt_bodyid[chain[0]]]
        placed[("F" if x > 0.0 else "R") + ("L" if y > 0.0 else "R")] = chain
    if len(placed) != 4:
        raise ModelError("its hips are not at four corners: one each at +x and -x, +y and -y")
    for foot in FOOT_NAMES:
        for part, joint, axis in zip(PARTS, placed[foot], AXES, strict=True):
            _check_hinge(m, joint, axis, f"{foot} {part}")
    return [placed[foot] for foot in FOOT_NAMES]


def _check_hinge(m: mujoco.MjModel, joint: int, axis: Array, name: str) -> None:
    body = int(m.jnt_bodyid[joint])
    if np.abs(rotation_of(m.body_quat[body]) - np.eye(3)).max() > STRAIGHT:
        raise ModelError(
            f"{name} (body {m.body(body).name}) is turned at angle 0; give all bodies of a leg the "
            "trunk's axes, x forward and z up, with the leg straight down"
        )
    name = f"{name} (joint {m.joint(joint).name})"
    if np.abs(np.abs(m.jnt_axis[joint]) - axis).max() > STRAIGHT:
        raise ModelError(f"{name} turns about {m.jnt_axis[joint]}; "
                         f"a {name.split()[1]} turns about {'x' if axis[0] else 'y'}")  # fmt: skip
    if np.abs(m.jnt_pos[joint]).max() > STRAIGHT:
        raise ModelError(f"{name} is not at its body's origin")


def _add_segment(
    m: mujoco.MjModel, assets: Xml.Element | None, parent: Xml.Element, name: str, joint: int,
    foot: int,
) -> Xml.Element:  # fmt: skip
    body, dof = int(m.jnt_bodyid[joint]), int(m.jnt_dofadr[joint])
    place = m.body_pos[body].copy()
    if name.endswith("calf"):
        if abs(place[0]) > STRAIGHT or place[2] >= 0.0:
            raise ModelError(
                f"{name}: the thigh does not lead straight down to the knee at angle 0"
            )
        place[0] = 0.0
    if name.endswith("thigh"):
        if abs(place[2]) > STRAIGHT:
            raise ModelError(f"{name}: its axis is not at the height of the hip's")
        place[2] = 0.0
    added = _add(parent, "body", name=name, pos=place)
    axis = m.jnt_axis[joint].round()
    low, high = (-np.pi, np.pi)
    if m.jnt_limited[joint]:
        low, high = (m.jnt_range[joint] - m.qpos0[m.jnt_qposadr[joint]]) * axis.sum()
    _fill(m, assets, added, body, foot)
    _add(
        added, "joint", name=f"{name}_joint", axis=np.abs(axis), armature=m.dof_armature[dof],
        range=[min(low, high), max(low, high)], damping=np.atleast_1d(m.dof_damping[dof])[0],
        frictionloss=m.dof_frictionloss[dof],
    )  # fmt: skip
    return added


def _fill(
    m: mujoco.MjModel, assets: Xml.Element | None, body: Xml.Element, number: int, foot: int | None
) -> None:
    """Give a body the mass and the shapes of the given body `number`, all but the foot's."""
    axes = rotation_of(m.body_iquat[number])
    inertia = axes @ np.diag(m.body_inertia[number]) @ axes.T
    _add(
        body, "inertial", mass=m.body_mass[number], pos=m.body_ipos[number],
        fullinertia=inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
    )  # fmt: skip
    geoms = [g for g in _geoms(m, number) if assets is not None or _kind(m, g) in SHAPES]
    solids = [g for g in geoms if _touches(m, g) and g != foot and _kind(m, g) in SHAPES]
    for index, geom in enumerate(solids):
        name = f"{body.get('name')}_body{index or ''}"
        _add_geom(m, body, geom, name=name, group=3, conaffinity=1, **BODY)
    for geom in [g for g in geoms if not _touches(m, g)] or solids:
        _add_geom(m, body, geom, assets, group=2, conaffinity=0)
    if body.get("name") == "trunk" and not solids:
        raise ModelError("its trunk has no box, sphere, capsule or cylinder that touches the floor")


def _geoms(m: mujoco.MjModel, body: int) -> list[int]:
    return np.flatnonzero(m.geom_bodyid == body).tolist()


def _touches(m: mujoco.MjModel, geom: int) -> bool:
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom])


def _kind(m: mujoco.MjModel, geom: int) -> str:
    return mujoco.mjtGeom(m.geom_type[geom]).name.removeprefix("mjGEOM_").lower()


def _foot(m: mujoco.MjModel, calf: int) -> int:
    """The sphere at the end of a calf: the lowest one that can touch the floor."""
    solids = [g for g in _geoms(m, calf) if _touches(m, g)]
    spheres = [g for g in solids if _kind(m, g) == "sphere"]
    if not spheres:
        raise ModelError(
            f"body {m.body(calf).name} has no foot: give it a sphere that can touch the floor"
        )
    foot = min(spheres, key=lambda g: m.geom_pos[g, 2])
    # One radius is left for rounded-up boxes.
    lowest = m.geom_pos[foot, 2] - 2.0 * m.geom_size[foot, 0]
    for geom in solids:
        rotation = rotation_of(m.geom_quat[geom])
        centre, half = m.geom_aabb[geom].reshape(2, 3)
        low = m.geom_pos[geom] + rotation @ centre - np.abs(rotation) @ half
        if _kind(m, geom) in SHAPES and low[2] < lowest:
            raise ModelError(f"body {m.body(calf).name} reaches below its lowest sphere; "
                             "give it a sphere at its end as the foot")  # fmt: skip
    return foot


def _add_geom(
    m: mujoco.MjModel, body: Xml.Element, geom: int, assets: Xml.Element | None = None,
    **attributes: object,
) -> None:  # fmt: skip
    material, kind = int(m.geom_matid[geom]), _kind(m, geom)
    colour = m.mat_rgba[material] if material >= 0 else m.geom_rgba[geom]
    shape: dict[str, object] = {"size": m.geom_size[geom]}
    if kind == "mesh" and assets is not None:
        shape = {"mesh": _mesh(m, assets, int(m.geom_dataid[geom]))}
    _add(
        body, "geom", type=kind, pos=m.geom_pos[geom], quat=m.geom_quat[geom], rgba=colour,
        contype=0, density=0.0, **shape, **attributes,
    )  # fmt: skip


def _mesh(m: mujoco.MjModel, assets: Xml.Element, mesh: int) -> str:
    """Copy a mesh, once; return its name."""
    name = f"mesh{mesh}"
    if assets.find(f"mesh[@name='{name}']") is None:
        start, faces = m.mesh_vertadr[mesh], m.mesh_faceadr[mesh]
        vertices = m.mesh_vert[start : start + m.mesh_vertnum[mesh]]
        corners = m.mesh_face[faces : faces + m.mesh_facenum[mesh]]
        _add(assets, "mesh", name=name, vertex=vertices, face=corners)
    return name


def motor_limit(m: mujoco.MjModel, joint: int) -> float:
    """The largest torque of the motors of a joint [N m]; infinite where the model has no limit."""
    limits = [math.inf]
    if m.jnt_actfrclimited[joint]:
        limits.append(np.abs(m.jnt_actfrcrange[joint]).min())
    on_joint = m.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT
    for k in np.flatnonzero(on_joint & (m.actuator_trnid[:, 0] == joint)):
        gear = abs(m.actuator_gear[k, 0])
        if m.actuator_forcelimited[k]:
            limits.append(gear * np.abs(m.actuator_forcerange[k]).min())
        # A position or velocity servo has a bias; its control is no torque.
        if m.actuator_ctrllimited[k] and m.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_NONE:
            limits.append(
                gear * abs(m.actuator_gainprm[k, 0]) * np.abs(m.actuator_ctrlrange[k]).min()
            )
    return float(min(limits))
