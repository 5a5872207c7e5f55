"""The twelve motor drivers of the emulated robot: encoders, setpoints, heat, jammed joints."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.wire.layout import BRAKE, JOINTS, POS_STOP, SERVO, VEL_STOP
from hw_bridge.wire.low_command import LowCommand, no_torque
from robots.motor_law import motor_torque
from runtime.messages import MotorCommand

Array = NDArray[np.float64]


class Encoders:
    """Angles, speeds and accelerations of the twelve joints.

    Attributes:
        q, dq, ddq: (12) [rad], [rad/s], [rad/s^2]; of a stuck one the last angle, 0 and 0.
        stuck: (12) which are stuck.
    """

    def __init__(self, q: Array, dq: Array) -> None:
        """Begin with a first measurement (12)."""
        self.q, self.dq, self.ddq = q.copy(), dq.copy(), np.zeros(12)
        self.stuck = np.zeros(12, np.bool_)
        self._told_speed = np.full(12, np.nan)
        self._any = False

    def stick(self, stuck: NDArray[np.bool_], told_speed: Array) -> None:
        """Set which are stuck (12), and the speeds reported (12) [rad/s], NaN: the true one."""
        self.stuck, self._told_speed = stuck, told_speed
        self._any = bool(stuck.any()) or not np.isnan(told_speed).all()

    def read(self, q: Array, dq: Array, period: float) -> None:
        """Take a measurement (12), `period` [s] after the last one."""
        if self._any:
            q, dq = np.where(self.stuck, self.q, q), np.where(self.stuck, 0.0, dq)
            dq = np.where(np.isnan(self._told_speed), dq, self._told_speed)
        self.ddq = (dq - self.dq) / period
        self.q, self.dq = q, dq


Flags = NDArray[np.bool_]
NONE = np.zeros(JOINTS, np.bool_)
BRAKE_KD = 3.0  # [N m s/rad] of a motor that brakes; an assumption


@njit(cache=True)
def motor_rows(
    mode: NDArray[np.int64], q: Array, dq: Array, kp: Array, kd: Array, tau: Array,
    shut_down: Flags, stuck: Flags, stuck_at: Array, brake_all: bool, out: Array,
) -> int:  # fmt: skip
    """Write the rows q, dq, kp, kd, tau (5, 12) of the law that the motors now follow.

    A motor that is shut down gives no torque. One in any mode but servo brakes; so does one with a
    number that is not finite, because what the robot makes of that is not published. PosStopF
    switches off the position loop, VelStopF the velocity loop. A motor's own loop reads its own
    encoder: where that is stuck, its feedback has become a constant.

    Args:
        mode: (12) or more, of the motors.
        q, dq, kp, kd, tau: (12) setpoints from the wire.
        shut_down, stuck: (12) of the motors.
        stuck_at: (12) the angle that a stuck encoder shows [rad].
        brake_all: whether the robot brakes all motors, whatever was commanded.
        out: (5, 12), overwritten.

    Returns:
        How many motors had a number that is not finite.
    """
    not_finite = 0
    for i in range(12):
        out[:, i] = 0.0
        finite = math.isfinite(q[i] + dq[i] + kp[i] + kd[i] + tau[i])
        not_finite += not finite
        if shut_down[i]:
            continue
        if brake_all or mode[i] != SERVO or not finite:
            out[3, i] = BRAKE_KD
            continue
        out[4, i] = tau[i]
        if q[i] != POS_STOP:
            out[0, i], out[2, i] = q[i], kp[i]
        if dq[i] != VEL_STOP:
            out[1, i], out[3, i] = dq[i], kd[i]
        if stuck[i]:
            out[4, i] += out[2, i] * (out[0, i] - stuck_at[i]) + out[3, i] * out[1, i]
            out[2, i] = out[3, i] = 0.0
    return not_finite


@njit(cache=True)
def asks_for_motion(rows: Array) -> bool:
    """Whether rows (5, 12) ask any motor for a position or a torque; damping does not."""
    for i in range(12):
        if rows[2, i] != 0.0 or rows[4, i] != 0.0:
            return True
        if rows[3, i] != 0.0 and rows[1, i] != 0.0:
            return True
    return False


@njit(cache=True)
def largest_torque(rows: Array, q: Array, dq: Array) -> float:
    """The largest torque [N m] that rows (5, 12) ask of a motor at joints q, dq (12).

    Motors that are only damped do not count: their own drivers bound what takes energy out.
    """
    largest = 0.0
    for i in range(12):
        if rows[2, i] == 0.0 and rows[4, i] == 0.0 and rows[1, i] == 0.0:
            continue
        torque = motor_torque(
            rows[0, i], rows[1, i], rows[2, i], rows[3, i], rows[4, i], q[i], dq[i]
        )
        largest = max(largest, abs(torque))
    return largest


class MotorDrivers:
    """Turns wire setpoints into a plant's commands.

    Attributes:
        mode: (12) that the motors are in; one that is shut down stays in its own.
        rows: (5, 12) the law followed now: q, dq, kp, kd, tau.
    """

    def __init__(self) -> None:
        """Compile what is compiled; brake until commanded otherwise."""
        self.mode = self._brakes = np.full(JOINTS, BRAKE)
        self.rows = np.zeros((5, JOINTS))
        self._wanted = self.mode
        self._setpoints = no_torque()[:5]
        self._given = b""
        self._follow(NONE, NONE, np.zeros(JOINTS), True)
        largest_torque(self.rows, self.rows[0], self.rows[1])
        asks_for_motion(self.rows)

    def take(self, command: LowCommand) -> int:
        """Keep a command's setpoints; return how many motors have a number that is not finite."""
        self._wanted, self._setpoints = command.mode[:JOINTS], command.setpoints[:5]
        return self._follow(NONE, NONE, self._setpoints[0], False)

    def follow(self, shut_down: Flags, encoders: Encoders, brake_all: bool) -> None:
        """Set the rows for what the robot is like now."""
        self.mode = self._brakes if brake_all else self._wanted
        self._follow(shut_down, encoders.stuck, encoders.q, brake_all)

    def command(self, tick: int, time: float) -> MotorCommand | None:
        """The rows as a command, None if they are those of the last one."""
        given = self.rows.tobytes()
        if given == self._given:
            return None
        self._given = given
        q, dq, kp, kd, tau = self.rows.copy()
        return MotorCommand(
            tick=tick, time=time, q=q, dq=dq, kp=kp, kd=kd, tau=tau, plan_id=-1, status="ok"
        )

    def _follow(self, shut_down: Flags, stuck: Flags, stuck_at: Array, brake_all: bool) -> int:
        return motor_rows(
            self._wanted, *self._setpoints, shut_down, stuck, stuck_at, brake_all, self.rows
        )  # fmt: skip


# Of a motor's one thermal mass, warmed by torque squared: assumptions, as Unitree publishes none of
# it. A motor that holds 10 N m for good ends 35 K above the air, and one that stalls at 33.5 N m
# warms by 0.65 K/s. The firmware is known to shut one down at 60 deg C (walk_in_the_park) and more.
AIR, RISE, TIME_CONSTANT = 25.0, 0.35, 600.0  # [deg C], [K/(N m)^2], [s]
STOP, RESTART = 65.0, 55.0  # [deg C] at which a motor is shut down, and works again


class Thermal:
    """Temperatures of the twelve motors.

    Attributes:
        temperature: (12) [deg C]; may be written to.
        shut_down: (12) whether the firmware has shut the motor down.
    """

    def __init__(self) -> None:
        """Compile what is compiled; begin at the temperature of the air."""
        self.temperature = np.full(12, AIR)
        self.shut_down = np.zeros(12, np.bool_)
        self.step(np.zeros(12), 0.0)

    def step(self, torque: Array, period: float) -> None:
        """Step `period` [s] under torques (12) [N m]."""
        _warm(self.temperature, self.shut_down, torque, period / TIME_CONSTANT)


@njit(cache=True)
def _warm(temperature: Array, shut_down: Flags, torque: Array, share: float) -> None:
    """One explicit Euler step of `share` of the time constant."""
    for i in range(12):
        final = AIR + RISE * torque[i] * torque[i]
        if np.isfinite(final):
            temperature[i] += share * (final - temperature[i])
        if temperature[i] >= STOP:
            shut_down[i] = True
        elif temperature[i] < RESTART:
            shut_down[i] = False


STIFFNESS = 2000.0  # [N m/rad]: a motor's full torque turns the joint by 0.02 rad
DAMPING = 6.0  # [N m s/rad]: with a lower leg's 0.013 kg m^2 stable at 1 kHz


class Jams:
    """The jammed joints of one robot."""

    def __init__(self) -> None:
        """No joint is jammed."""
        self._jammed = np.zeros(12, np.bool_)
        self._at = np.zeros(12)

    def __bool__(self) -> bool:
        """Whether a joint is jammed."""
        return bool(self._jammed.any())

    def jam(self, jammed: NDArray[np.bool_], q: Array) -> None:
        """From now on these joints (12) are jammed; those that were not, at q (12) [rad]."""
        self._at = np.where(jammed & ~self._jammed, q, self._at)
        self._jammed = jammed

    def torque(self, q: Array, dq: Array) -> Array:
        """The torque (12) [N m] on the joints at q, dq (12) [rad], [rad/s]."""
        return self._jammed * (STIFFNESS * (self._at - q) - DAMPING * dq)
