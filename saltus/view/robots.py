"""What stands in the scene of a page: a robot in colour, ghosts, and the ground."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
import trimesh
import viser
from mujoco import mjtGeom
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES
from robots.mujoco_model import load_mujoco
from robots.robot import Robot as RobotModel
from robots.terrain import Ground, plate_at

Array = NDArray[np.float64]

FEET, LOOKS, BODY = 1, 2, 3  # geom groups of robots/a1/a1.xml
ROUND = 14  # sections of what is round: a page on a small computer draws 30 frames a second


class Part(NamedTuple):
    """Links of the same shape, which a browser draws at once."""

    links: tuple[int, ...]
    mesh: Any  # a trimesh.Trimesh, whose stubs do not know its vertices and colours


class Kinematics:
    """Where the links of a robot are, and what they look like."""

    def __init__(self, model: RobotModel) -> None:
        """Load the model."""
        self.model: Any = load_mujoco(model, meshes=True)
        self._data: Any = mujoco.MjData(self.model)
        self._feet = [self.model.geom(f"{name}_foot").id for name in FOOT_NAMES]

    def place(self, q: Array) -> tuple[Array, Array, Array]:
        """Positions (B, 3) and quaternions w, x, y, z (B, 4) of the bodies, and feet (4, 3).

        q (19) as in the messages; all in world [m].
        """
        self._data.qpos[:] = np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]])
        mujoco.mj_kinematics(self.model, self._data)
        data = self._data
        return data.xpos.copy(), data.xquat.copy(), data.geom_xpos[self._feet].copy()

    def parts(self, *groups: int) -> list[Part]:
        """The links by their shape, of the geoms of these groups, in the links' own axes."""
        shapes: dict[bytes, tuple[list[int], Any]] = {}
        for body in range(1, self.model.nbody):  # 0 is the world
            geoms = [
                g
                for g in range(self.model.ngeom)
                if self.model.geom_bodyid[g] == body and self.model.geom_group[g] in groups
            ]
            if not geoms:
                continue
            mesh: Any = trimesh.util.concatenate([_mesh(self.model, g) for g in geoms])
            key = np.round(mesh.vertices, 5).tobytes()
            shapes.setdefault(key, ([], mesh))[0].append(body)
        return [Part(tuple(links), mesh) for links, mesh in shapes.values()]


class Robot:
    """One robot in colour."""

    def __init__(self, server: viser.ViserServer, name: str, kinematics: Kinematics) -> None:
        """Add it below the node `name`."""
        self._kinematics = kinematics
        self._handles = []
        for part in kinematics.parts(FEET, LOOKS):
            data = part.mesh.export(file_type="glb")
            handle = server.scene.add_batched_glb(
                f"{name}/{part.links[0]}", data, *_origins(len(part.links)), lod="off"
            )
            self._handles.append((np.array(part.links), handle))

    def place(self, q: Array) -> Array:
        """Show it in the configuration q (19); returns the positions of its feet (4, 3) [m]."""
        positions, quaternions, feet = self._kinematics.place(q)
        for links, handle in self._handles:
            handle.batched_positions = positions[links].astype(np.float32)
            handle.batched_wxyzs = quaternions[links].astype(np.float32)
        return feet


class Ghosts:
    """Several robots in plain colours that one can look through."""

    def __init__(
        self, server: viser.ViserServer, name: str, kinematics: Kinematics,
        colours: list[tuple[int, int, int]], opacities: list[float],
    ) -> None:  # fmt: skip
        """Add a robot for each colour and opacity below the node `name`."""
        self._kinematics = kinematics
        self._handles = []
        self._placed = np.zeros((len(colours), 19))
        for part in kinematics.parts(FEET, BODY):
            count = len(part.links)
            handle = server.scene.add_batched_meshes_simple(
                f"{name}/{part.links[0]}", part.mesh.vertices, part.mesh.faces,
                *_origins(len(colours) * count), lod="off", opacity=1.0,
                batched_colors=np.repeat(np.array(colours, dtype=np.uint8), count, axis=0),
                batched_opacities=np.repeat(np.array(opacities, dtype=np.float32), count),
                cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
            self._handles.append((np.array(part.links), handle))

    def place(self, configurations: list[Array | None]) -> None:
        """Show each in its configuration (19), or, for None, below the floor."""
        below = np.concatenate([(0.0, 0.0, -5.0, 0.0, 0.0, 0.0, 1.0), np.zeros(12)])
        poses = [self._kinematics.place(below if q is None else q) for q in configurations]
        for links, handle in self._handles:
            positions = np.concatenate([position[links] for position, _, _ in poses])
            quaternions = np.concatenate([quaternion[links] for _, quaternion, _ in poses])
            handle.batched_positions = positions.astype(np.float32)
            handle.batched_wxyzs = quaternions.astype(np.float32)


def _origins(count: int) -> tuple[Array, Array]:
    """Quaternions w, x, y, z and positions of `count` links that are nowhere yet."""
    return np.tile((1.0, 0.0, 0.0, 0.0), (count, 1)), np.tile((0.0, 0.0, -5.0), (count, 1))


def _mesh(model: Any, geom: int) -> Any:
    """A primitive of the model, in its link's axes and with its colour."""
    mesh: Any
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == mjtGeom.mjGEOM_SPHERE:
        mesh = trimesh.creation.icosphere(subdivisions=2, radius=size[0])
    elif kind == mjtGeom.mjGEOM_BOX:
        mesh = trimesh.creation.box(2.0 * size)
    elif kind == mjtGeom.mjGEOM_CYLINDER:
        mesh = trimesh.creation.cylinder(size[0], 2.0 * size[1], sections=2 * ROUND)
    elif kind == mjtGeom.mjGEOM_CAPSULE:
        mesh = trimesh.creation.capsule(2.0 * size[1], size[0], count=[ROUND, ROUND])
        mesh.apply_translation((0.0, 0.0, -mesh.bounds.mean(axis=0)[2]))
    else:
        raise ValueError(f"geom {model.geom(geom).name}: no shape for {mjtGeom(kind).name}")
    pose = np.eye(4)
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    pose[:3, :3], pose[:3, 3] = rotation.reshape(3, 3), model.geom_pos[geom]
    mesh.apply_transform(pose)
    material = model.geom_matid[geom]
    rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
    # pyrefly: ignore[missing-attribute]
    mesh.visual.vertex_colors = np.tile(np.round(255 * rgba), (len(mesh.vertices), 1)).astype(
        np.uint8
    )
    return mesh


STONE, ICE = (178, 184, 194), (150, 200, 230)
PATCH_THICKNESS = 0.002  # [m]


def add_ground(server: viser.ViserServer, name: str, ground: Ground) -> None:
    """Add what stands on the floor, below the node `name`."""
    boxes = zip(ground.centre, ground.half, ground.rotation, strict=True)
    for i, (centre, half, rotation) in enumerate(boxes):
        wxyz = np.empty(4)
        mujoco.mju_mat2Quat(wxyz, rotation.ravel())
        server.scene.add_box(
            f"{name}/box{i}", STONE, tuple(2.0 * half), position=tuple(centre), wxyz=wxyz
        )
    if ground.grid.size:
        _add_grid(server, f"{name}/grid", ground)
    for i, (x, y, x_most, y_most) in enumerate(ground.patch):
        middle = 0.5 * (x + x_most), 0.5 * (y + y_most)
        z, axes = plate_at(ground, *middle)
        wxyz = np.empty(4)
        mujoco.mju_mat2Quat(wxyz, axes.ravel())
        server.scene.add_box(
            f"{name}/patch{i}", ICE, (x_most - x, y_most - y, PATCH_THICKNESS),
            position=(*middle, z), wxyz=wxyz,
        )  # fmt: skip


def _add_grid(server: viser.ViserServer, name: str, ground: Ground) -> None:
    rows, columns = ground.grid.shape
    i, j = np.divmod(np.arange(rows * columns), columns)
    x, y = ground.grid_origin
    d, heights = ground.grid_spacing, ground.floor + ground.grid.ravel()
    vertices = np.stack((x + d * j, y + d * i, heights), axis=1)
    low = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).ravel()
    faces = np.concatenate((
        np.stack((low, low + 1, low + columns + 1), axis=1),
        np.stack((low, low + columns + 1, low + columns), axis=1),
    ))  # fmt: skip
    server.scene.add_mesh_simple(name, vertices, faces, color=STONE, flat_shading=True)
