"""The scene of a page: robot, ghosts, plan, forces and commands."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import viser
from numpy.typing import NDArray

from robots.robot import Robot as RobotModel
from robots.terrain import Ground, height_at
from runtime.messages import GroundTruth, PlanOutline
from saltus.metrics.driving import base_rotation
from saltus.view.instant import Instant
from saltus.view.robots import Ghosts, Kinematics, Robot, add_ground

Array = NDArray[np.float64]

WORLD = "/world"
GHOSTS = 4  # along the horizon
FORCE_SCALE = 0.003  # length of the arrow of a force [m/N]
VELOCITY_SCALE = 0.5  # of the arrow of a velocity [m s/m]
ABOVE_BASE = 0.2  # [m], where arrows of velocities begin
BLUE, GREEN, ORANGE, RED, GREY = (
    (60, 120, 220), (60, 170, 90), (235, 140, 40), (210, 50, 50), (150, 150, 150),
)  # fmt: skip


@dataclass
class Visibility:
    """What a person wants to see."""

    follow: bool = True
    estimate: bool = True
    plan: bool = True
    horizon: bool = True
    candidates: bool = False
    forces: bool = True
    velocity: bool = True


class Scene:
    """Draws instants; what did not change is not sent again."""

    def __init__(
        self, server: viser.ViserServer, robot: RobotModel, slope: float = 0.0,
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
        kinematics = Kinematics(robot)
        self._robot = Robot(server, f"{WORLD}/robot", kinematics)
        self._ghosts = Ghosts(
            server,
            f"{WORLD}/ghosts",
            kinematics,
            [ORANGE, *[BLUE] * GHOSTS],
            [0.4, *[0.15] * GHOSTS],
        )
        self._poses: list[Array | None] = [None] * (1 + GHOSTS)
        self._horizon: list[Array | None] = [None] * GHOSTS
        self._kinematics = kinematics
        empty = np.zeros((1, 2, 3))
        self._path = scene.add_line_segments(f"{WORLD}/path", empty, BLUE, thickness=0.008)
        self._candidates = scene.add_line_segments(
            f"{WORLD}/candidates", empty, GREY, thickness=0.003, visible=False
        )
        self._footholds = scene.add_point_cloud(
            f"{WORLD}/footholds", np.zeros((1, 3)), BLUE, point_size=0.025, point_shape="circle"
        )
        self._forces = scene.add_arrows(
            f"{WORLD}/forces", np.zeros((4, 2, 3)), RED, shaft_radius=0.006, head_radius=0.014,
            head_length=0.03,
        )  # fmt: skip
        self._velocities = scene.add_arrows(
            f"{WORLD}/velocity", np.zeros((2, 2, 3)), np.array((ORANGE, GREEN)), shaft_radius=0.008,
            head_radius=0.018, head_length=0.04,
        )  # fmt: skip
        self._plan = -1  # the one that is drawn

    def draw(self, instant: Instant) -> None:
        """Show an instant."""
        state, visible = instant.state, self.visible
        if state is None:
            return
        feet = self._robot.place(state.q)
        x, y = state.q[:2] if visible.follow else (0.0, 0.0)
        z = height_at(self._ground, x, y) if self._ground is not None and visible.follow else 0.0
        self._world.position = (-x, -y, -z)
        estimate = instant.estimate if instant.truth is not None else None
        self._draw_forces(instant.truth, feet)
        self._draw_velocity(instant)
        self._draw_plan(instant.plan)
        self._draw_ghosts(estimate.q if visible.estimate and estimate is not None else None)

    def _draw_forces(self, truth: GroundTruth | None, feet: Array) -> None:
        visible = self.visible.forces and truth is not None
        _show(self._forces, visible)
        if visible and truth is not None:
            arrows = np.stack([feet, feet + FORCE_SCALE * truth.foot_force], axis=1)
            self._forces.points = arrows.astype(np.float32)

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
        """Base path, footholds, ghosts along the horizon and candidates of a plan that is new."""
        visible = self.visible
        has_plan = plan is not None and plan.status != "failed"
        _show(self._path, visible.plan and has_plan)
        _show(self._footholds, visible.plan and has_plan)
        candidates = plan is not None and len(plan.candidates) > 0
        _show(self._candidates, visible.candidates and candidates)
        if plan is None or not has_plan or plan.id == self._plan:
            return
        self._plan = plan.id
        q = plan.states_q
        if visible.plan:
            self._path.points = _segments(q[None, :, :3])
            self._footholds.points = self._landings(plan).astype(np.float32)
        knots = np.linspace(0, len(q) - 1, GHOSTS + 1).round().astype(int)[1:]
        self._horizon = list(q[knots])
        if visible.candidates and candidates:
            self._candidates.points = _segments(plan.candidates)

    def _draw_ghosts(self, estimate: Array | None) -> None:
        """The estimate, and poses along the horizon."""
        poses = [estimate, *(self._horizon if self.visible.horizon else [None] * GHOSTS)]
        if estimate is not None or any(a is not b for a, b in zip(poses, self._poses, strict=True)):
            self._poses = poses
            self._ghosts.place(poses)

    def _landings(self, plan: PlanOutline) -> Array:
        """Where feet touch down along a plan (F, 3) [m]; the feet at knot 0 where none does."""
        landing = np.diff(plan.contacts, axis=0, prepend=plan.contacts[:1]) > 0.5
        knots = np.flatnonzero(landing.any(axis=1))
        if not len(knots):
            return self._kinematics.place(plan.states_q[0])[2]
        return np.concatenate(
            [self._kinematics.place(plan.states_q[k])[2][landing[k]] for k in knots]
        )


def _segments(paths: Array) -> NDArray[np.float32]:
    """Paths (C, M, 3) as line segments (C (M - 1), 2, 3)."""
    return np.stack([paths[:, :-1], paths[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.float32)


def _show(handle: viser.SceneNodeHandle, visible: bool) -> None:
    if handle.visible != visible:
        handle.visible = visible
