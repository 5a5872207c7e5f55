"""The simulated robot: physics, motors, sensors and perturbations behind one tick of 1 ms."""

import math
from collections import deque
from collections.abc import Callable
from typing import cast

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.conventions import FALLEN_TILT, GRAVITY
from robots.legs import Legs, foot_jacobians_in_base, slip_speeds
from robots.robot import Robot
from robots.rotations import rotation_from_quaternion
from robots.terrain import Ground
from runtime.messages import GroundTruth, MotorCommand, SensorReading
from runtime.rows import layout_of
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbation_script import TICK, PerturbationScript
from sim_bridge.physics.begin import begin_physics
from sim_bridge.physics.mujoco_physics import MujocoPhysics
from sim_bridge.sensors import READING, Sensors, measure

Array = NDArray[np.float64]

TRUTH = layout_of(GroundTruth)
_Q, _V, _FOOT_FORCE, _CONTACT, _TRUNK, _TORQUE, _WORK, _SLIP = (
    TRUTH.spans[name]
    for name in ("q", "v", "foot_force", "contact", "trunk_contact", "torque", "work", "foot_slip")
)
TICK_AT, TIME = 0, 1  # in every row
CONTACT_FORCE = 1.0  # [N], above which a foot counts as being in contact
_UPRIGHT = math.cos(FALLEN_TILT)
STRETCHED = 0.1  # of a foot Jacobian's largest singular value; directions below move no foot


class SimulatedRobot:
    """A robot that reads like the real one, obeys motor commands, and knows its own truth.

    Its physics begins at the origin along x, as terrain and perturbations see it; truth and IMU are
    of the world that `options.start` places it in.

    Deterministic as far as its physics is: with MuJoCo, equal options, script and commands give
    equal runs, bit for bit. Until the first command arrives the robot holds its standing start, or
    lies limp where `options.start` says so; a missing command repeats the last one.

    Attributes:
        robot: what is simulated.
        options: what it was made with.
        tick: ticks of 1 ms since the start.
        fell: the trunk has touched the floor, the body has tilted past 60 degrees, or the physics
            has diverged; stays true.
        judge_falls: whether touching and tilting count as a fall; true for a robot that starts
            standing. One that starts lying touches the floor from the first, and is free to lie
            down again: a caller that knows when it should be up may set it.
        tilt_allowance: how far the trunk may tilt beside 60 degrees at a time [s]: [rad].
        time_lost: for how long this world has stood still while the controllers' went on [s].
        blocked: the motors give no torque.
        loss: why the physics was lost, in one line; ticks go on, the robot stays; else empty.
        reading_row, truth_row: of this tick, but for their times.
    """

    def __init__(
        self,
        robot: Robot,
        options: SimulationOptions | None = None,
        script: PerturbationScript | None = None,
        ground: Ground | None = None,
    ) -> None:
        """Build the world and stand (or lie) in it, at rest, at tick 0; `ground` None is level.

        Raises:
            Unavailable: the options name a server for the physics, and none answers.
        """
        self.robot, self.options = robot, options or SimulationOptions()
        self.tick, self.fell, self.blocked = 0, False, False
        self._script = script or PerturbationScript()
        self._script_due = self._script.due(0)
        self._sensors = Sensors(self.options.sensors, self.options.seed)
        self.judge_falls = self.options.start.posture == "stand"
        self._start = self.options.start.pose
        self.tilt_allowance: Callable[[float], float] = lambda _: 0.0
        self.time_lost = 0.0
        self.reading_row, self.truth_row = np.zeros(READING.width), np.zeros(TRUTH.width)
        self._physics, command = begin_physics(robot, self.options, ground)
        self._steps = self.options.steps_per_tick
        self._commands = np.array([command] * self._steps)  # what each step of a tick obeys
        self._delayed = deque[tuple[int, Array]]()  # commands, by the step at which they are due
        self._delay = round(self.options.input_delay / self.options.timestep)
        self._observe(self._physics.base_velocity, False)

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self.tick * TICK

    @property
    def data(self) -> mujoco.MjData:
        """MuJoCo's state. Raises AttributeError where the physics is a server's."""
        return cast(MujocoPhysics, self._physics).data

    def reading(self, stamp: float | None = None) -> SensorReading:
        """Measurements of the sensors at this tick, stamped `stamp` [s] or the simulated time."""
        row = self.reading_row.copy()
        row[TIME] = self.time if stamp is None else stamp
        return READING.message(row)

    def truth(self, stamp: float | None = None) -> GroundTruth:
        """The true state at this tick; contact forces are those of the last physics step."""
        row = self.truth_row.copy()
        row[TIME] = self.time if stamp is None else stamp
        return TRUTH.message(row)

    def obey(self, command: Array) -> None:
        """Take the command (5, 12) of this tick: rows q, dq, kp, kd, tau.

        The motors act on it after the input delay.
        """
        self._delayed.append((self.tick * self._steps + self._delay, command))

    def advance(self, command: MotorCommand | None = None) -> None:
        """Simulate one tick, with a new command or (None) with the last one.

        Never raises for what a command holds: a torque that is not finite counts as zero.
        """
        if command is not None:
            self.obey(np.array((command.q, command.dq, command.kp, command.kd, command.tau)))
        tick, delayed, commands, steps = self.tick, self._delayed, self._commands, self._steps
        if tick >= self._script_due:
            self._script.apply(self, tick)
            self._script_due = self._script.due(tick + 1)
        physics = self._physics
        velocity_before = physics.base_velocity.copy()
        if not self._diverged:  # a diverged robot stays as it is
            commands[:] = commands[-1]
            while delayed and delayed[0][0] < (tick + 1) * steps:
                due, newer = delayed.popleft()
                commands[max(0, due - tick * steps) :] = newer
            physics.live(commands, self.blocked)
        self.tick += 1
        self._observe(velocity_before, True)

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); tick, command and script stay."""
        self._physics.place(self._start.to_local(q), v)
        self._observe(self._physics.base_velocity, False)

    def add_base_velocity(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, at once; the accelerometer does not see it.

        A real blow of that size within a tick is far beyond an accelerometer's range.
        """
        self._physics.kick(velocity_in_world)

    def add_foot_velocity(self, leg: int, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to a foot's, at once, by the joints of its `leg` (0 to 3) alone.

        dq = J^+ R^T v; where the leg is nearly stretched, the part that no joint gives is left out.
        """
        motion = self._physics.motion
        if not math.isfinite(motion.q.sum()):
            return
        rotation = rotation_from_quaternion(motion.q[3:7])
        jacobian = foot_jacobians_in_base(self.robot.legs, np.array(motion.q[7:]))[leg]
        v = motion.v.copy()
        v[:3] = self._physics.base_velocity @ rotation  # a kick may not be in the motion yet
        v[6 + 3 * leg : 9 + 3 * leg] += np.linalg.pinv(jacobian, STRETCHED) @ (
            velocity_in_world @ rotation
        )
        self._physics.place(motion.q, v)

    def push_base(self, force_in_world: Array) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        self._physics.push(force_in_world)

    def block_motors(self, blocked: bool) -> None:
        """Take the motors' torque away, or give it back, from now on."""
        self.blocked = blocked

    def drive_joints(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        self._physics.drive(torque)

    def close(self) -> None:
        """Hand back what the physics holds, such as a connection."""
        self._physics.close()

    def _observe(self, velocity_before: Array, lived: bool) -> None:
        """Write truth and sensors, once a tick, whatever is asked for."""
        physics = self._physics
        self.loss = physics.loss
        height = _write_rows(
            self.robot.legs, self.tick, lived, *self._start, *physics.motion, physics.base_velocity,
            velocity_before, *self._sensors.draw(), self.reading_row, self.truth_row,
        )  # fmt: skip
        self._diverged = math.isnan(height)
        upright = height >= _UPRIGHT  # false for NaN: a diverged robot fell
        if not upright:
            most = FALLEN_TILT + self.tilt_allowance(self.time + self.time_lost)
            upright = height >= math.cos(min(math.pi, most))
        down = bool(physics.motion.trunk_contact[0]) or not upright
        self.fell = self.fell or (down if self.judge_falls else self._diverged)


@njit(cache=True)
def _write_rows(
    legs: Legs, tick: int, lived: bool, x: float, y: float, yaw: float, q: Array, v: Array,
    torque: Array, foot_force: Array, normal_force: Array, trunk: Array, velocity: Array,
    velocity_before: Array, offset: Array, noise: Array, bounds: Array, reading: Array,
    truth: Array,
) -> float:  # fmt: skip
    """Write the rows of a tick, but for their times; return e_z of the base along e_z.

    NaN where the physics has diverged. The accelerometer's force is the mean over the tick, as of
    one that integrates between samples.

    Args:
        legs: of the robot.
        tick: of both rows.
        lived: the robot has lived through a tick: the motors' work and the feet's slip grow.
        x, y, yaw: of the origin of the physics in the world of the rows [m, rad].
        q, v, torque, foot_force, normal_force, trunk: a `PhysicsState`.
        velocity, velocity_before: of the trunk in the world (3), now and before the tick [m/s].
        offset, noise, bounds: as `measure` has them.
        reading, truth: the rows.
    """
    reading[TICK_AT] = truth[TICK_AT] = tick
    truth[_Q], truth[_V], truth[_TORQUE], truth[_TRUNK] = q, v, torque, trunk
    truth[_FOOT_FORCE] = foot_force.ravel()
    if x != 0.0 or y != 0.0 or yaw != 0.0:
        _turn_to_world(x, y, yaw, truth[_Q])
    rotation = rotation_from_quaternion(q[3:7])
    acceleration = (velocity - velocity_before) / TICK
    acceleration[2] += GRAVITY
    measure(
        tick * TICK, truth[_Q], v, acceleration @ rotation, torque, normal_force,
        offset, noise, bounds, reading,
    )  # fmt: skip
    speeds, slip = slip_speeds(legs, q, v), 0.0
    for foot in range(4):
        touches = normal_force[foot] > CONTACT_FORCE
        truth[_CONTACT][foot] = touches
        if touches:
            slip += speeds[foot]
    if lived:
        power = np.maximum(torque * v[6:], 0.0)
        pairs = power[0:8:2] + power[1:8:2]  # the order of numpy's sum
        total = (pairs[0] + pairs[1]) + (pairs[2] + pairs[3])
        for i in range(8, 12):
            total += power[i]
        truth[_WORK] += TICK * total
        truth[_SLIP] += TICK * slip
    return rotation[2, 2] if np.isfinite(q).all() else np.nan


@njit(cache=True)
def _turn_to_world(x: float, y: float, yaw: float, q: Array) -> None:
    """Do `PlanarPose.to_world` in place."""
    c, s = math.cos(yaw), math.sin(yaw)
    q[0], q[1] = c * q[0] - s * q[1] + x, s * q[0] + c * q[1] + y
    c, s = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    i, j, k, w = q[3], q[4], q[5], q[6]
    q[3], q[4], q[5], q[6] = c * i - s * j, c * j + s * i, c * k + s * w, c * w - s * k
