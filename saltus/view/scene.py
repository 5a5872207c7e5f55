"""The scene of a page: ground, robot, ghosts, plan, forces and commands."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import trimesh
import viser
from mujoco import mjtGeom
from numpy.typing import NDArray
from viser import ViserServer

from robots.conventions import FOOT_NAMES
from robots.robot import Robot as RobotModel
from robots.terrain import Ground, height_at, plate_at
from runtime.checked import Array
from runtime.messages import GroundTruth, PlanOutline
from saltus.common.heading import base_rotation
from saltus.film.film import touchdowns
from saltus.launch.recorded import Instant
from saltus.recording.kinematics import BODY, FEET, LOOKS, Kinematics

Pull = Callable[[str, Array, bool], None]  # base or a foot, by how far (3) [m], and whether let go

ROUND = 14  # sections of what is round: a page on a small computer draws 30 frames a second


def parts_of(model: Any, *groups: int) -> list[tuple[list[int], Any]]:
    """Links of the same shape and their mesh, which a browser draws at once.

    Of the geoms of these groups, in the links' own axes.
    """
    shapes: dict[bytes, tuple[list[int], Any]] = {}
    for body in range(1, model.nbody):  # 0 is the world
        here = (model.geom_bodyid == body) & np.isin(model.geom_group, groups)
        if here.any():
            mesh: Any = trimesh.util.concatenate(
                [_mesh(model, g) for g in np.flatnonzero(here).tolist()]
            )
            key = np.round(mesh.vertices, 5).tobytes()
            shapes.setdefault(key, ([], mesh))[0].append(body)
    return list(shapes.values())


class Links:
    """The links of one robot or several: a handle for each shape."""

    def __init__(self, kinematics: Kinematics) -> None:
        """None are there yet."""
        self._kinematics = kinematics
        self._handles: list[tuple[NDArray[np.int64], Any]] = []

    def place(self, configurations: list[Array | None]) -> Array:
        """Show each in its configuration (19), or, for None, below the floor.

        Returns:
            Positions of the first one's feet (4, 3) [m].
        """
        below = np.concatenate([(0.0, 0.0, -5.0, 0.0, 0.0, 0.0, 1.0), np.zeros(12)])
        poses = [self._kinematics.place(below if q is None else q) for q in configurations]
        for links, handle in self._handles:
            positions = np.concatenate([position[links] for position, _, _ in poses])
            quaternions = np.concatenate([quaternion[links] for _, quaternion, _ in poses])
            handle.batched_positions = positions.astype(np.float32)
            handle.batched_wxyzs = quaternions.astype(np.float32)
        return poses[0][2]


class Robot(Links):
    """One robot in colour."""

    def __init__(self, server: ViserServer, name: str, kinematics: Kinematics) -> None:
        """Add it below the node `name`."""
        super().__init__(kinematics)
        for links, mesh in parts_of(kinematics.model, FEET, LOOKS):
            data = mesh.export(file_type="glb")
            handle = server.scene.add_batched_glb(
                f"{name}/{links[0]}", data, *_origins(len(links)), lod="off"
            )
            self._handles.append((np.array(links), handle))

    def on_drag(self, pull: Pull) -> None:
        """Report links that the mouse drags."""
        names = ["world", *self._kinematics.links]
        for links, handle in self._handles:

            async def dragged(event: Any, links: NDArray[np.int64] = links) -> None:
                leg = names[links[event.instance_index or 0]].split("_")[0]
                by = np.subtract(event.end_position, event.start_position)
                pull(leg if leg in FOOT_NAMES else "base", by, event.phase == "end")

            handle.on_drag(dragged)


class Ghosts(Links):
    """Several robots in plain colours that one can look through."""

    def __init__(
        self, server: ViserServer, name: str, kinematics: Kinematics,
        colours: list[tuple[int, int, int]], opacities: list[float],
    ) -> None:  # fmt: skip
        """Add a robot for each colour and opacity below the node `name`."""
        super().__init__(kinematics)
        for links, mesh in parts_of(kinematics.model, FEET, BODY):
            count = len(links)
            handle = server.scene.add_batched_meshes_simple(
                f"{name}/{links[0]}", mesh.vertices, mesh.faces,
                *_origins(len(colours) * count), lod="off", opacity=1.0,
                batched_colors=np.repeat(np.array(colours, dtype=np.uint8), count, axis=0),
                batched_opacities=np.repeat(np.array(opacities, dtype=np.float32), count),
                cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
            self._handles.append((np.array(links), handle))


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


def add_ground(server: ViserServer, name: str, ground: Ground) -> None:
    """Add what stands on the floor, below the node `name`."""
    stones = zip(ground.centre, 2.0 * ground.half, ground.rotation, strict=True)
    boxes = [(STONE, *each) for each in stones]
    for x, y, x_most, y_most in ground.patch:
        middle = 0.5 * (x + x_most), 0.5 * (y + y_most)
        z, axes = plate_at(ground, *middle)
        boxes.append((ICE, (*middle, z), (x_most - x, y_most - y, PATCH_THICKNESS), axes))
    for i, (colour, centre, size, rotation) in enumerate(boxes):
        wxyz = np.empty(4)
        mujoco.mju_mat2Quat(wxyz, np.ravel(rotation))
        server.scene.add_box(
            f"{name}/box{i}", colour, tuple(size), position=tuple(centre), wxyz=wxyz
        )
    if ground.grid.size:
        _add_grid(server, f"{name}/grid", ground)


def _add_grid(server: ViserServer, name: str, ground: Ground) -> None:
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


WORLD = "/world"
GHOSTS = 4  # along the horizon
FORCE_SCALE = 0.003  # length of the arrow of a force [m/N]
VELOCITY_SCALE = 0.5  # of the arrow of a velocity [m s/m]
PUSH_SCALE = 0.25  # of the arrow of a push [m s/m]
PUSH_S = 1.0  # for which it is shown, by the wall clock
ABOVE_BASE = 0.2  # [m], where arrows of velocities begin
BLUE, GREEN, ORANGE, RED, BLACK = (
    (60, 120, 220), (60, 170, 90), (235, 140, 40), (210, 50, 50), (20, 20, 20),
)  # fmt: skip


@dataclass
class Visibility:
    """Choice of the parts that the scene shows."""

    follow: bool = True
    estimate: bool = True
    plan: bool = True
    horizon: bool = True
    forces: bool = True
    velocity: bool = True


class Scene:
    """Draws instants; what did not change is not sent again."""

    def __init__(
        self, server: ViserServer, robot: RobotModel, slope: float = 0.0,
        speed: float = math.nan,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Build the scene.

        Args:
            server: of the pages.
            robot: that is drawn.
            slope: angle by which the floor is tilted about y [rad].
            speed: that the launch file commands [m/s]; NaN for a robot that is driven.
            ground: below the robot; None for a level floor.
        """
        self._speed = speed
        self.visible = Visibility()
        scene = server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(cast_shadow=False)
        server.initial_camera.position = (0.55, -1.0, 0.5)
        server.initial_camera.look_at = (0.0, 0.0, 0.2)
        self._world = scene.add_frame(WORLD, show_axes=False)
        tilt = np.array((np.cos(slope / 2), 0.0, -np.sin(slope / 2), 0.0))
        scene.add_grid(
            f"{WORLD}/floor", 200.0, 200.0, cell_size=0.25, section_size=1.0, fade_distance=12.0,
            wxyz=tilt, plane_color=(235, 238, 242), plane_opacity=1.0,
            position=(0.0, 0.0, 0.0 if ground is None else ground.floor),
        )  # fmt: skip
        self._ground = ground
        if ground is not None:
            add_ground(server, f"{WORLD}/ground", ground)
        kinematics = Kinematics(robot, meshes=True)
        self._robot = Robot(server, f"{WORLD}/robot", kinematics)
        colours, opacities = [ORANGE, *[BLUE] * GHOSTS], [0.4, *[0.15] * GHOSTS]
        self._ghosts = Ghosts(server, f"{WORLD}/ghosts", kinematics, colours, opacities)
        self._poses: list[Array | None] = []  # of the ghosts
        self._horizon: list[Array | None] = [None] * GHOSTS
        self._legs, self._lands = robot.legs, False
        empty = np.zeros((1, 2, 3))
        self._path = scene.add_line_segments(f"{WORLD}/path", empty, BLUE, thickness=0.008)
        self._footholds = scene.add_point_cloud(
            f"{WORLD}/footholds", np.zeros((1, 3)), BLUE, point_size=0.025, point_shape="circle"
        )
        self._forces, self._velocities, self._pushes = (
            scene.add_arrows(
                f"{WORLD}/{name}", np.zeros((count, 2, 3)), colour, shaft_radius=radius,
                head_radius=2.4 * radius, head_length=5.0 * radius,
            )
            for name, count, colour, radius in (
                ("forces", 4, RED, 0.006), ("velocity", 2, np.array((ORANGE, GREEN)), 0.008),
                ("push", 1, BLACK, 0.012),
            )
        )  # fmt: skip
        self._push, self._push_until = ("base", np.zeros(3)), 0.0
        self._plan = -1  # the one that is drawn

    def on_drag(self, pull: Pull) -> None:
        """Report links of the robot that the mouse drags."""
        self._robot.on_drag(pull)

    def show_push(self, body: str, velocity: Array) -> None:
        """Show a push of the base or a foot, (3,) in world [m/s], for a second."""
        self._push, self._push_until = (body, velocity), time.monotonic() + PUSH_S

    def draw(self, instant: Instant) -> None:
        """Show an instant."""
        state, visible = instant.state, self.visible
        if state is None:
            return
        feet = self._robot.place([state.q])
        x, y = state.q[:2] if visible.follow else (0.0, 0.0)
        z = height_at(self._ground, x, y) if self._ground is not None and visible.follow else 0.0
        self._world.position = (-x, -y, -z)
        estimate = instant.estimate if instant.truth is not None else None
        self._draw_forces(instant.truth, feet)
        self._draw_push(state.q[:3], feet)
        self._draw_velocity(instant)
        self._draw_plan(instant.plan)
        self._draw_ghosts(estimate.q if visible.estimate and estimate is not None else None)

    def _draw_forces(self, truth: GroundTruth | None, feet: Array) -> None:
        _show(self._forces, self.visible.forces and truth is not None)
        if self.visible.forces and truth is not None:
            arrows = np.stack([feet, feet + FORCE_SCALE * truth.foot_force], axis=1)
            self._forces.points = arrows.astype(np.float32)

    def _draw_push(self, base: Array, feet: Array) -> None:
        visible = time.monotonic() < self._push_until
        _show(self._pushes, visible)
        if visible:
            body, velocity = self._push
            begin = base if body == "base" else feet[FOOT_NAMES.index(body)]
            arrow = np.stack([begin, begin + PUSH_SCALE * velocity])[None]
            self._pushes.points = arrow.astype(np.float32)

    def _draw_velocity(self, instant: Instant) -> None:
        """The command in orange, what the base does in green; both from above the base."""
        state, command = instant.state, instant.command
        _show(self._velocities, self.visible.velocity)
        if state is None or not self.visible.velocity:
            return
        rotation = base_rotation(state.q[3:7])
        x, y = rotation[:2, 0] / np.hypot(*rotation[:2, 0])
        begin = state.q[:3] + (0.0, 0.0, ABOVE_BASE)
        forward, left = self._speed, 0.0
        if command is not None:
            forward, left = command.forward, command.left
        wanted = np.nan_to_num((forward * x - left * y, forward * y + left * x, 0.0))
        arrows = np.array((wanted, rotation @ state.v[:3])) * VELOCITY_SCALE
        points = np.stack([np.tile(begin, (2, 1)), begin + arrows], axis=1)
        self._velocities.points = points.astype(np.float32)

    def _draw_plan(self, plan: PlanOutline | None) -> None:
        """Base path, footholds and ghosts along the horizon of a plan that is new."""
        visible = self.visible
        if plan is not None and plan.status == "failed":
            plan = None
        if plan is not None and plan.id != self._plan:
            self._plan, q = plan.id, plan.states_q
            self._path.points = np.stack([q[:-1, :3], q[1:, :3]], axis=1).astype(np.float32)
            feet = touchdowns(plan, self._legs).astype(np.float32)
            self._lands = bool(len(feet))
            self._footholds.points = feet if self._lands else np.zeros((1, 3), np.float32)
            knots = np.linspace(0, len(q) - 1, GHOSTS + 1).round().astype(int)[1:]
            self._horizon = list(q[knots])
        _show(self._path, visible.plan and plan is not None)
        _show(self._footholds, visible.plan and plan is not None and self._lands)

    def _draw_ghosts(self, estimate: Array | None) -> None:
        """The estimate, and poses along the horizon."""
        poses = [estimate, *(self._horizon if self.visible.horizon else [None] * GHOSTS)]
        if [*map(id, poses)] != [*map(id, self._poses)]:
            self._poses = poses
            self._ghosts.place(poses)


def _show(handle: viser.SceneNodeHandle, visible: bool) -> None:
    if handle.visible != visible:
        handle.visible = visible
