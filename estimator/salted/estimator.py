"""The A1's state by a salted Kalman filter (thesis, chapter 4) on its full contact dynamics.

State: base pose and velocity, joints and their velocities, and constant errors of the IMU. Between
events the contact dynamics of the standing feet under the measured torques carry it (4.8); a foot
that touches down is reset by its impact, the covariance by that impact's saltation matrix (4.14).
Which feet stand is a belief of its own, `contact_modes`. What is measured: attitude, angular
velocity and acceleration, joints, and the feet that stand.

The state is on the manifold R^3 x SO(3) x R^12; errors are the tangent vectors of `robots.state`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from estimator.health.health import Health
from estimator.health.layout import ROW, sensor_row
from estimator.health.monitor import SensorMonitor
from estimator.salted.advance import TICK, advance
from estimator.salted.ground_below import is_level, look_below, stand_on
from estimator.salted.layout import STATES, VELOCITY
from estimator.salted.memory import PROBABILITY, Memory, new_memory
from estimator.salted.options import SaltedOptions, on_uneven_ground, parameters
from estimator.salted.update import start
from robots.a1.constants import STAND_JOINTS
from robots.a1.mujoco_model import load_mujoco
from robots.stance_dynamics import robot_of
from robots.terrain import Ground, make_ground
from runtime.messages import SensorReading, StateEstimate

Array = NDArray[np.float64]
Status = Literal["ok", "degraded", "diverged", "starting"]


class SaltedEstimator:
    """The salted Kalman filter behind the `Estimator` protocol.

    The first reading with sound IMU and encoders places the base at `position` (x, y [m], the
    origin by default), on its lowest foot.
    """

    def __init__(
        self, options: SaltedOptions | None = None, position: Array | None = None,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Load the model and compile (or load) the update: the first reading is as fast as any.

        Args:
            options: noises and thresholds.
            position: see the class.
            ground: what is known of it, a level floor z = 0 where None; see `unknown_ground`.
        """
        self.options = options or SaltedOptions()
        self._ground = make_ground() if ground is None else ground
        level = is_level(self._ground)
        self._parameters = parameters(self.options if level else on_uneven_ground(self.options))
        self._robot = robot_of(load_mujoco())
        self._monitor = SensorMonitor()
        self.divergences = 0
        self._warm_up()
        self.divergences = 0
        self.reset(position)

    def reset(self, position: Array | None = None) -> None:
        """Forget the state, not the counts; start anew at `position` (x, y first) [m]."""
        self._place = np.zeros(2) if position is None else np.array(position[:2], dtype=np.float64)
        self._memory: Memory = new_memory()
        self._monitor.reset()
        self._time: float | None = None  # of the last reading that was used; None while there is
        self._without: Status = "starting"  # no state, which is why
        self._seen = 0.0  # time of the last reading that said anything of the pose

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at its tick and time.

        Never raises. A sensor that is at fault is left out, and the status is then "degraded", as
        it is for the first reading after a time without any. With neither attitude nor encoders
        for `largest_gap`, after a gap beyond it, a step back in time, or when the numbers diverge,
        the status is "diverged", and the filter starts from its sensors where it last was. A
        second reading of the same time changes nothing.
        """
        row = sensor_row(reading)
        status = self._take(row, self._monitor.judge(row, reading.time), reading.time)
        m = self._memory
        return StateEstimate(
            tick=reading.tick,
            time=reading.time,
            q=m.q.copy(),
            v=m.v.copy(),
            contact=m.contact[PROBABILITY].copy(),
            status=status,
        )

    @property
    def covariance(self) -> Array:
        """Covariance (45, 45) of the errors, in the order of `layout`, SI units."""
        return self._memory.P[:STATES, :STATES].copy()

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the linear velocity, base axes [m2/s2]."""
        return self._memory.P[VELOCITY : VELOCITY + 3, VELOCITY : VELOCITY + 3].copy()

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the last reading, in words."""
        return self._monitor.faults

    def _take(self, row: Array, health: Health, time: float) -> Status:
        if not np.isfinite(time):
            self.divergences += 1
            return self._without if self._time is None else "diverged"
        if self._time is None:
            return self._begin(row, health, time)
        dt = time - self._time
        if _says_pose(health):
            self._seen = time
        if (
            not 0.0 <= dt <= self.options.largest_gap
            or time - self._seen > self.options.largest_gap
        ):
            return self._lose(row, health, time)
        if dt > 0.0 and not self._advance(row, health, dt):
            return self._lose(row, health, time)
        self._time = time
        return "degraded" if health.any_fault or dt > self.options.longest_step else "ok"

    def _lose(self, row: Array, health: Health, time: float) -> Status:
        """Give the state up, and start again where it was last sound if the sensors allow that."""
        self.divergences += 1
        if np.isfinite(self._memory.q).all():
            self._place = self._memory.q[:2].copy()
        else:
            self._memory = new_memory()
            self._memory.q[:2] = self._place
        self._time, self._without = None, "diverged"
        self._begin(row, health, time)
        return "diverged"

    def _begin(self, row: Array, health: Health, time: float) -> Status:
        """Start from a reading's sensors, if they are sound."""
        sound = health.orientation and health.gyroscope and _encoders_sound(health)
        if not sound:
            self.divergences += 1
            return self._without
        start(self._memory, row, health, self._place, self._parameters)
        stand_on(self._memory, self._ground, self.options.foot_radius)
        self._time = self._seen = time
        return "degraded" if health.any_fault else "ok"

    def _advance(self, row: Array, health: Health, dt: float) -> bool:
        """Predict over `dt` [s] and take a reading's row in; False when the filter diverged."""
        look_below(self._memory, self._ground, self.options.foot_radius)
        return advance(self._memory, self._robot, row, health, dt, self._parameters)

    def _warm_up(self) -> None:
        """Go through every compiled function once."""
        row = np.zeros(ROW)
        row[3], row[9], row[10:22] = 1.0, self.options.gravity, STAND_JOINTS
        row[46:] = 100.0
        self.reset()
        for time in (0.0, TICK, 0.5 * self.options.largest_gap):
            self._take(row, self._monitor.judge(row, time), time)


def _says_pose(health: Health) -> bool:
    """Whether attitude or encoders say anything."""
    return health.orientation or bool(health.joint_position.any())


def _encoders_sound(health: Health) -> bool:
    return bool(health.joint_position.all() and health.joint_velocity.all())
