"""Footholds by Raibert's law and the capture point, the feet's motion, and what force laws see."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from controller.centroidal.path import Path, plane_rotations
from controller.centroidal.qp import Status, frames_below, level_frames
from controller.centroidal.rigid_body import BodyState
from controller.driving.footholds import avoid_edges, rise_between
from controller.gaits import ContactSchedule, Swing
from controller.planner_options import SteppingOptions
from robots.conventions import GRAVITY
from robots.legs import foot_positions_in_base
from robots.profiles import bump, minimum_jerk
from robots.robot import Robot
from robots.rotations import Array, exp3
from robots.terrain import Ground, height_at


class FootMotion(NamedTuple):
    """Position (3) [m] and velocity (3) [m/s] of a foot in the world."""

    position: Array
    velocity: Array


class Step(NamedTuple):
    """The next step of a body with a desired motion.

    Attributes:
        wait: until the foot lands [s]; stance: for which it then stands [s].
        velocity: desired of the body now (3) [m/s].
        gain: what this changes by until the foot lands, along the axes of the body (3) [m/s].
        turn: of the body until then [rad]; yaw_rate: desired then [rad/s].
        acceleration: desired then, along the axes of `velocity` (3) [m/s^2].
    """

    wait: float
    stance: float
    velocity: Array
    gain: Array = np.zeros(3)
    turn: float = 0.0
    yaw_rate: float = 0.0
    acceleration: Array = np.zeros(3)


class Stepper:
    """Keeps where every foot left the ground, and chooses where it lands.

    The foothold of a foot lies below its neutral place at touchdown, moved by

        v_des T_stance / 2 + capture sqrt(h / g) (v - v_des):

    the symmetric stance of Raibert 1986, and the capture point of Pratt et al. 2006. It is chosen
    anew with every plan while the foot swings.

    Where the body is to turn or accelerate, the first term is the way of the neutral place in half
    a stance, and the foot lies a h / g further back: a pendulum accelerates away from its support.
    """

    def __init__(
        self, options: SteppingOptions, robot: Robot, schedule: ContactSchedule,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """All feet stand; `ground` is a level floor where None."""
        self._ground, self._heading = ground, np.eye(2)  # of the axes in the world
        self.options, self.schedule = options, schedule
        self._neutral = foot_positions_in_base(robot.legs, robot.stand)[:, :2]
        self._side, self._height = np.sign(robot.legs.plane), robot.stand_height
        self._foot_radius = robot.legs.foot_radius
        self._left: Array | None = None  # where each foot stood last (4, 3)
        self._early = np.zeros(4, dtype=bool)  # feet that found the ground before their time
        self._swings = np.zeros(4, dtype=bool)

    def observe(self, time: float, feet: Array, touching: Array) -> Array:
        """Take in the feet's places, and say which ones stand now (4,), 1 or 0.

        Args:
            time: on the schedule's clock [s].
            feet: (4, 3) [m]; touching: probability of contact (4,).
        """
        self._left = feet.copy() if self._left is None else self._left
        for foot in range(4):
            swing = self.schedule.swing(foot, time)
            late = swing is not None and progress(swing, time) >= self.options.early
            self._early[foot] = swing is not None and (
                self._early[foot] or (late and touching[foot] > 0.5)
            )
            self._swings[foot] = swing is not None and not self._early[foot]
        self._left[~self._swings] = feet[~self._swings]
        return (~self._swings).astype(np.float64)

    def turn(self, turn: Array) -> None:
        """Turn all memory of places by a rotation (3, 3): the axes have turned the other way."""
        if self._left is not None:
            self._left = self._left @ turn.T
        self._heading = self._heading @ turn[:2, :2].T

    def swing(self, foot: int, time: float, now: float) -> Swing | None:
        """The swing of a foot at `time` [s], as known `now`; None where it stands.

        A foot stands by the schedule, or because it found the ground early.
        """
        swing = self.schedule.swing(foot, time)
        if swing is None or not self._early[foot]:
            return swing
        return None if swing == self.schedule.swing(foot, now) else swing

    def foothold(self, foot: int, body: BodyState, step: Step) -> Array:
        """The centre of a foot at its next landing, in the world (3,) [m]."""
        heading = np.arctan2(body.rotation[1, 0], body.rotation[0, 0])
        x, y = self._neutral[foot]
        offset = plane_rotations(heading).T @ self._offset(body.com_velocity[:2], step)
        offset += 0.5 * step.stance * step.yaw_rate * np.array([-y, x])
        ahead = self._neutral[foot] + self._within_reach(foot, offset)
        way = (
            plane_rotations(0.5 * step.turn) @ (body.com_velocity + 0.5 * step.gain)[:2] * step.wait
        )
        place = body.base[:2] + way + plane_rotations(heading + step.turn) @ ahead
        hold = np.array([place[0], place[1], self._foot_radius - self.options.press])
        if self._ground is not None:
            hold[:2] = self._heading @ hold[:2]
            avoid_edges(self._ground, hold)
            hold[2] += height_at(self._ground, hold[0], hold[1])
            hold[:2] = hold[:2] @ self._heading
        return hold

    def surface_frames(self, feet: Array) -> Array:
        """Axes (..., 3, 3) of the surface below feet (..., 3) [m]; the last is its normal."""
        if self._ground is None:
            return level_frames(feet.shape[:-1])
        frames = frames_below(self._ground, self._heading, feet.reshape(-1, 3))
        return frames.reshape(*feet.shape, 3)

    def _offset(self, velocity: Array, step: Step) -> Array:
        """The parts of a step that depend on velocities and accelerations (2,) [m]."""
        late = step.velocity + step.gain + 0.25 * step.stance * step.acceleration
        capture = self.options.capture * np.sqrt(self._height / GRAVITY)
        offset = 0.5 * step.stance * late[:2] + capture * (velocity - step.velocity[:2])
        return offset - self._height / GRAVITY * step.acceleration[:2]

    def _within_reach(self, foot: int, offset: Array) -> Array:
        """An offset from the neutral place in the heading's frame (2,) [m], as far as allowed."""
        most_x, most_out = self.options.reach
        outward = np.clip(self._side[foot] * offset[1], -self.options.inward, most_out)
        return np.array([np.clip(offset[0], -most_x, most_x), self._side[foot] * outward])

    def motion(self, foot: int, swing: Swing, time: float, foothold: Array) -> FootMotion:
        """Motion at `time` [s] of a swinging foot on its way to `foothold` (3,) [m].

        Minimum jerk between the ends, and a bump with the swing's height on top.
        """
        assert self._left is not None
        rate = 1.0 / swing.duration
        s = min(1.0, max(0.0, progress(swing, time)))
        way, blend, height = foothold - self._left[foot], minimum_jerk(s), bump(s)
        up = np.array([0.0, 0.0, swing.height + self._rise(self._left[foot], foothold)])
        return FootMotion(
            self._left[foot] + blend.value * way + height.value * up,
            rate * (blend.slope * way + height.slope * up),
        )

    def _rise(self, start: Array, end: Array) -> float:
        """Height that a swing needs beside its usual one to pass over the ground on its way [m]."""
        if self._ground is None:
            return 0.0
        ends = np.array((start, end))
        ends[:, :2] = ends[:, :2] @ self._heading.T
        return rise_between(self._ground, ends[0], ends[1], self._foot_radius)


def progress(swing: Swing, time: float) -> float:
    """Share of a swing that has gone at `time` [s]."""
    return (time - swing.lift_off) / swing.duration


class Situation(NamedTuple):
    """All that a force law may look at, in the path's axes.

    Attributes:
        time: on the path's clock [s].
        body: the robot; inertia: of it (3, 3) [kg m^2].
        standing: feet that stand now by the schedule, and early ones (4,), 1 or 0.
        touching: probability of contact that the estimator gives (4,).
        path: what the body is asked to do; stepper: where feet are and go.
    """

    time: float
    body: BodyState
    inertia: Array
    standing: Array
    touching: Array
    path: Path
    stepper: Stepper


class Forces(NamedTuple):
    """The answer of a force law.

    Attributes:
        forces: on each foot in each step, in the world (K, 4, 3) [N]; the last step goes on.
        step: length of a step [s].
        status: of the QP; iterations: it took.
    """

    forces: Array
    step: float
    status: Status
    iterations: int


class ForceLaw(Protocol):
    """Decides on the forces of the standing feet."""

    def forces(self, now: Situation) -> Forces:
        """Forces from now on."""
        ...


def foothold_table(now: Situation) -> Array:
    """Footholds of the feet that swing now or within the plan (4, 3) [m].

    A foot that will not step stays where it is.
    """
    holds = now.body.feet.copy()
    for foot in range(4):
        swing = swing_to_land(now, foot)
        if swing is not None:
            holds[foot] = now.stepper.foothold(foot, now.body, _step(now, swing))
    return holds


def _step(now: Situation, swing: Swing) -> Step:
    """The step with which a swing ends, along the path."""
    half = 0.5 * swing.stance
    times = np.array([now.time, swing.landing, swing.landing + half])
    begin, land, later = now.path.states(now.time, now.body.com, times)
    turn = float(land[2] - begin[2])
    back = exp3(np.array([0.0, 0.0, -turn])) if turn else np.eye(3)
    return Step(
        swing.landing - now.time, swing.stance, begin[9:], back @ land[9:] - begin[9:], turn,
        float(land[8]), back @ (later - land)[9:] / half,
    )  # fmt: skip


def swing_to_land(now: Situation, foot: int) -> Swing | None:
    """The swing with which a foot lands next; a standing foot lifts before that."""
    schedule = now.path.schedule
    ask = schedule.next_swing if now.standing[foot] else schedule.swing
    return ask(foot, now.time)


def foot_motion(now: Situation, holds: Array, foot: int, time: float) -> Array:
    """Position [m] and velocity [m/s] of a foot at `time` [s]: (2, 3)."""
    swing = now.stepper.swing(foot, time, now.time)
    if swing is not None:
        return np.array(now.stepper.motion(foot, swing, time, holds[foot]))
    landing = swing_to_land(now, foot)
    landed = landing is not None and time >= now.time + (landing.landing - now.time)
    motion = np.zeros((2, 3))
    motion[0] = holds[foot] if landed else now.body.feet[foot]
    return motion
