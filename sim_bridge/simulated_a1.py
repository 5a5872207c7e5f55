"""The simulated A1: physics, motors, sensors and perturbations behind one tick of 1 ms."""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.a1.constants import GRAVITY
from robots.rotations import rotation_from_quaternion
from robots.state import mujoco_from_pinocchio, pinocchio_from_mujoco
from runtime.messages import GroundTruth, MotorCommand, SensorReading
from sim_bridge.compiled_step import stop_stage_timers
from sim_bridge.contacts import ContactReader, FloorContacts
from sim_bridge.delay import DelayLine
from sim_bridge.domain import build_model
from sim_bridge.lying import lie
from sim_bridge.motors import motor_torques
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbation_script import TICK, PerturbationScript
from sim_bridge.sensors import Sensors
from sim_bridge.standing import stand

Array = NDArray[np.float64]

CONTACT_FORCE = 1.0  # [N], above which a foot counts as being in contact
FALLEN_COSINE = 0.5  # of the tilt of 60 degrees past which the robot has fallen


class SimulatedA1:
    """A robot that reads like the real one, obeys motor commands, and knows its own truth.

    Deterministic: equal options, script and commands give equal runs, bit for bit. Until the first
    command arrives the robot holds its standing start, or lies limp where `options.start` says
    so; a missing command repeats the last one.

    Attributes:
        options: what it was made with.
        tick: ticks of 1 ms since the start.
        fell: the trunk has touched the floor, the body has tilted past 60 degrees, or the physics
            has diverged; stays true.
        judge_falls: whether touching and tilting count as a fall; true for a robot that starts
            standing. One that starts lying touches the floor from the first, and is free to lie
            down again: whoever knows when it should be up may set it.
        blocked: the motors give no torque.
    """

    def __init__(
        self,
        options: SimulationOptions | None = None,
        script: PerturbationScript | None = None,
    ) -> None:
        """Build the world and stand (or lie) in it, at rest, at tick 0."""
        self.options = options or SimulationOptions()
        self.tick, self.fell, self.blocked = 0, False, False
        self._script = script or PerturbationScript()
        stop_stage_timers()
        self._model = build_model(self.options)
        self._data = mujoco.MjData(self._model)
        self._trunk = self._model.body("trunk").id
        self._contact_reader = ContactReader(self._model)
        self._sensors = Sensors(self.options.sensors, self.options.seed)
        self._delay = DelayLine[Array](self.options.input_delay, self.options.timestep)
        motors = self.options.motors
        self._limits = (motors.torque_limit, motors.corner_speed, motors.no_load_speed)
        self.judge_falls = self.options.start == "stand"
        self._command = self._start()
        self._views = (self._data.qpos[7:], self._data.qvel[6:], self._data.ctrl)
        self._step = 0
        self._observe(self._data.qvel[:3].copy())

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self.tick * TICK

    @property
    def model(self) -> mujoco.MjModel:
        """The MuJoCo model, for viewing."""
        return self._model

    @property
    def data(self) -> mujoco.MjData:
        """The MuJoCo state, for viewing."""
        return self._data

    def reading(self, stamp: float | None = None) -> SensorReading:
        """What the sensors say at this tick, stamped `stamp` [s] or the simulated time."""
        time = self.time if stamp is None else stamp
        return SensorReading(tick=self.tick, time=time, **self._sensed._asdict())

    def truth(self, stamp: float | None = None) -> GroundTruth:
        """The true state at this tick; contact forces are those of the last physics step."""
        return GroundTruth(
            tick=self.tick,
            time=self.time if stamp is None else stamp,
            q=self._q,
            v=self._v,
            foot_force=self._contacts.foot_force,
            contact=(self._contacts.normal_force > CONTACT_FORCE).astype(np.float64),
            trunk_contact=self._contacts.trunk,
        )

    def advance(self, command: MotorCommand | None) -> None:
        """Live through one tick, with a new command or (None) with the one there is.

        Never raises for what a command holds: a torque that is not finite counts as zero.
        """
        if command is not None:
            rows = (command.q, command.dq, command.kp, command.kd, command.tau)
            self._delay.push(self._step, np.array(rows))
        self._script.apply(self, self.tick)
        velocity_before = self._data.qvel[:3].copy()
        if math.isfinite(self._q.sum()):  # a diverged robot stays as it is
            for _ in range(self.options.steps_per_tick):
                self._physics_step()
        self.tick += 1
        self._observe(velocity_before)

    def place(self, q: Array, v: Array) -> None:
        """Put the robot into another state, q (19) and v (18); tick, command and script stay."""
        self._data.qpos[:], self._data.qvel[:] = mujoco_from_pinocchio(q, v)
        mujoco.mj_forward(self._model, self._data)
        self._observe(self._data.qvel[:3].copy())

    def add_base_velocity(self, velocity_in_world: Array) -> None:
        """Add a (3) velocity [m/s] to the trunk's, at once; the accelerometer does not see it.

        A real blow of that size within a tick is far beyond an accelerometer's range.
        """
        self._data.qvel[:3] += velocity_in_world

    def push_base(self, force_in_world: Array) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        self._data.xfrc_applied[self._trunk, :3] = force_in_world

    def block_motors(self, blocked: bool) -> None:
        """Take the motors' torque away, or give it back, from now on."""
        self.blocked = blocked

    def drive_joints(self, torque: Array) -> None:
        """Set a torque (12) [N m] on the joints from outside, from now on."""
        self._data.qfrc_applied[6:] = torque

    def _start(self) -> Array:
        """Take the start's pose; the command (5, 12) until the first one."""
        options = self.options
        if options.start == "stand":
            return stand(self._model, self._data, options.floor_slope)
        return lie(self._model, self._data, options.start, options.floor_slope)

    def _physics_step(self) -> None:
        due = self._delay.at(self._step)
        if due is not None:
            self._command = due
        q, dq, torque = self._views
        if self.blocked:
            torque[:] = 0.0
        else:
            motor_torques(self._command, q, dq, self._limits, torque)
        mujoco.mj_step(self._model, self._data)
        self._step += 1

    def _observe(self, velocity_before: Array) -> None:
        """Read truth and sensors once a tick, so that who asks and how often changes nothing."""
        data = self._data
        self._q, self._v = pinocchio_from_mujoco(data.qpos, data.qvel)
        self._contacts: FloorContacts = self._contact_reader.read(data)
        rotation = rotation_from_quaternion(self._q[3:7])
        # The mean over the tick: what an accelerometer that integrates between samples gives.
        acceleration = (data.qvel[:3] - velocity_before) / TICK
        acceleration[2] += GRAVITY
        self._sensed = self._sensors.sense(
            self.time, self._q, self._v, acceleration @ rotation, data.ctrl, self._contacts[1]
        )
        upright = rotation[2, 2] > FALLEN_COSINE  # false for NaN: a diverged robot has fallen
        down = self._contacts.trunk or not upright
        self.fell = self.fell or (down if self.judge_falls else math.isnan(rotation[2, 2]))
