"""The simulated A1: physics, motors, sensors and perturbations behind one tick of 1 ms."""

import math
from collections.abc import Callable

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.a1.constants import FALLEN_TILT, GRAVITY
from robots.a1.kinematics import foot_jacobians_in_base
from robots.a1.leg_measurements import slip_speeds
from robots.rotations import rotation_from_quaternion
from robots.terrain import Ground
from runtime.messages import GroundTruth, MotorCommand, SensorReading
from sim_bridge.delay import DelayLine
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbation_script import TICK, PerturbationScript
from sim_bridge.physics.begin import begin_physics
from sim_bridge.physics.mujoco_physics import MujocoPhysics
from sim_bridge.sensors import Sensors

Array = NDArray[np.float64]

CONTACT_FORCE = 1.0  # [N], above which a foot counts as being in contact
STRETCHED = 0.1  # of a foot Jacobian's largest singular value; directions below move no foot


class SimulatedA1:
    """A robot that reads like the real one, obeys motor commands, and knows its own truth.

    Its physics begins at the origin along x, as terrain and perturbations see it; truth and IMU are
    of the world that `options.start` places it in.

    Deterministic as far as its physics is: with MuJoCo, equal options, script and commands give
    equal runs, bit for bit. Until the first command arrives the robot holds its standing start, or
    lies limp where `options.start` says so; a missing command repeats the last one.

    Attributes:
        options: what it was made with.
        tick: ticks of 1 ms since the start.
        fell: the trunk has touched the floor, the body has tilted past 60 degrees, or the physics
            has diverged; stays true.
        judge_falls: whether touching and tilting count as a fall; true for a robot that starts
            standing. One that starts lying touches the floor from the first, and is free to lie
            down again: whoever knows when it should be up may set it.
        tilt_allowance: how far the trunk may tilt beside 60 degrees at a time [s]: [rad].
        time_lost: for how long this world has stood still while the controllers' went on [s].
        blocked: the motors give no torque.
    """

    def __init__(
        self,
        options: SimulationOptions | None = None,
        script: PerturbationScript | None = None,
        ground: Ground | None = None,
    ) -> None:
        """Build the world and stand (or lie) in it, at rest, at tick 0; `ground` None is level.

        Raises:
            Unavailable: the options name a server for the physics, and none answers.
        """
        self.options = options or SimulationOptions()
        self.tick, self.fell, self.blocked = 0, False, False
        self._script = script or PerturbationScript()
        self._sensors = Sensors(self.options.sensors, self.options.seed)
        self._delay = DelayLine[Array](self.options.input_delay, self.options.timestep)
        self.judge_falls = self.options.start.posture == "stand"
        self._start = self.options.start.pose
        self.tilt_allowance: Callable[[float], float] = lambda _: 0.0
        self.time_lost = 0.0
        self._work, self._foot_slip = 0.0, 0.0
        self._physics, self._command = begin_physics(self.options, ground)
        self._step = 0
        self._observe(self._physics.base_velocity())

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self.tick * TICK

    @property
    def loss(self) -> str:
        """Why the physics was lost, in one line; ticks go on, the robot stays; else empty."""
        return self._physics.loss

    @property
    def model(self) -> mujoco.MjModel:
        """The MuJoCo model, for viewing."""
        return self._mujoco().model

    @property
    def data(self) -> mujoco.MjData:
        """The MuJoCo state, for viewing."""
        return self._mujoco().data

    def reading(self, stamp: float | None = None) -> SensorReading:
        """What the sensors say at this tick, stamped `stamp` [s] or the simulated time."""
        time = self.time if stamp is None else stamp
        return SensorReading(tick=self.tick, time=time, **self._sensed._asdict())

    def truth(self, stamp: float | None = None) -> GroundTruth:
        """The true state at this tick; contact forces are those of the last physics step."""
        motion = self._motion
        return GroundTruth(
            tick=self.tick,
            time=self.time if stamp is None else stamp,
            q=self._start.to_world(motion.q),
            v=motion.v,
            foot_force=motion.foot_force,
            contact=(motion.normal_force > CONTACT_FORCE).astype(np.float64),
            trunk_contact=motion.trunk_contact,
            torque=motion.torque,
            work=self._work,
            foot_slip=self._foot_slip,
        )

    def advance(self, command: MotorCommand | None) -> None:
        """Live through one tick, with a new command or (None) with the one there is.

        Never raises for what a command holds: a torque that is not finite counts as zero.
        """
        if command is not None:
            rows = (command.q, command.dq, command.kp, command.kd, command.tau)
            self._delay.push(self._step, np.array(rows))
        self._script.apply(self, self.tick)
        velocity_before = self._physics.base_velocity()
        if math.isfinite(self._motion.q.sum()):  # a diverged robot stays as it is
            self._physics.live(self._due_commands(), self.blocked)
        self.tick += 1
        self._observe(velocity_before)
        motion = self._motion
        self._work += TICK * float(np.maximum(motion.torque * motion.v[6:], 0.0).sum())
        self._foot_slip += TICK * _slip_speed(motion.q, motion.v, motion.normal_force)

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); tick, command and script stay."""
        self._physics.place(self._start.to_local(q), v)
        self._observe(self._physics.base_velocity())

    def add_base_velocity(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, at once; the accelerometer does not see it.

        A real blow of that size within a tick is far beyond an accelerometer's range.
        """
        self._physics.kick(velocity_in_world)

    def add_foot_velocity(self, leg: int, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to a foot's, at once, by the joints of its `leg` (0 to 3) alone.

        dq = J^+ R^T v; where the leg is nearly stretched, the part that no joint gives is left out.
        """
        motion = self._physics.motion()
        if not math.isfinite(motion.q.sum()):
            return
        rotation = rotation_from_quaternion(motion.q[3:7])
        jacobian = foot_jacobians_in_base(np.array(motion.q[7:]))[leg]
        v = motion.v.copy()
        v[:3] = self._physics.base_velocity() @ rotation  # a kick may not be in the motion yet
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

    def _mujoco(self) -> MujocoPhysics:
        if not isinstance(self._physics, MujocoPhysics):
            raise AttributeError("only physics by MuJoCo in this process has its model and data")
        return self._physics

    def _due_commands(self) -> list[Array]:
        """What each physics step of this tick obeys: the delay line, resolved."""
        commands = []
        for _ in range(self.options.steps_per_tick):
            due = self._delay.at(self._step)
            if due is not None:
                self._command = due
            commands.append(self._command)
            self._step += 1
        return commands

    def _observe(self, velocity_before: Array) -> None:
        """Read truth and sensors once a tick, so that who asks and how often changes nothing."""
        motion = self._motion = self._physics.motion()
        force, height = _specific_force(motion.q, motion.base_velocity, velocity_before)
        self._sensed = self._sensors.sense(
            self.time, self._start.to_world(motion.q), motion.v, force, motion.torque,
            motion.normal_force,
        )  # fmt: skip
        upright = height >= math.cos(FALLEN_TILT)  # false for NaN: a diverged robot fell
        if not upright:
            most = FALLEN_TILT + self.tilt_allowance(self.time + self.time_lost)
            upright = height >= math.cos(min(math.pi, most))
        down = motion.trunk_contact or not upright
        self.fell = self.fell or (down if self.judge_falls else math.isnan(height))


@njit(cache=True)
def _specific_force(q: Array, velocity: Array, velocity_before: Array) -> tuple[Array, float]:
    """Return the mean specific force (3) [m/s^2] over a tick, and e_z of the base along e_z.

    The mean is what an accelerometer that integrates between samples gives. Velocities (3) are the
    trunk's in the world.
    """
    rotation = rotation_from_quaternion(q[3:7])
    acceleration = (velocity - velocity_before) / TICK
    acceleration[2] += GRAVITY
    return acceleration @ rotation, rotation[2, 2]


@njit(cache=True)
def _slip_speed(q: Array, v: Array, normal_force: Array) -> float:
    """Return the sum of the speeds of the feet in contact over the ground [m/s]."""
    speeds, total = slip_speeds(q, v), 0.0
    for foot in range(4):
        if normal_force[foot] > CONTACT_FORCE:
            total += speeds[foot]
    return total
