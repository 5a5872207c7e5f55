"""Every limit between the stack and the robot's motors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from robots.conventions import FALLEN_TILT
from runtime.options import Options, Range, positive

if TYPE_CHECKING:
    from robots.robot import Robot

LARGEST_TORQUE = 42.0  # [N m] of a limit: three of it fit the wire's torque field


class HardwareSafetyOptions(Options, frozen=True):
    """What is sent at most, and what is measured at most before the robot is stopped.

    Beyond the upper ends of their ranges limits would no longer protect, or not fit the wire, whose
    torque field ends at 128 N m: a command's tau can reach three torque limits.

    The defaults leave a walking robot alone. Three simulated runs of 6 s at 1 kHz, commands of the
    tracker against the joints as measured: walks at 0.2 m/s pushed sideways by 1.5 m/s (left in one
    run, right in the other) and a trot at 0.4 m/s. The limits changed the torques of 39, 18 and
    none of the 6001 commands, by the slew or near the end of a joint's range; no measured sample
    was found fault with. With the limiter in the loop none fell.

    Of a command:

    Attributes:
        torque_limit: largest torque of a motor, the robot's own where it is left out, and no more
            than that.
        torque_slew: how fast a motor's torque may change from what the command before would give
            now. Limits that keep the robot whole may take torque away faster.
        velocity_limit: speed at which no torque drives a joint faster, and the fastest target; the
            motors' own no-load speed where it is left out, and no more than that.
        position_margin: distance to the end of a joint's range from which no torque drives it
            further out. Targets lie within the range.
        stop_stiffness: stiffness by which the torque outwards falls on the way to the margin, and
            springs back from beyond the range.
        stop_damping: brakes a joint on its way out to the margin and beyond. With both as they are,
            a light leg (0.03 kg m^2) driven out by the full torque from the stand ends at the
            margin, even if commands act 10 ms late.
        motor_power: mechanical power that one motor may put out; the largest along a torque curve
            that is flat up to half the no-load speed is 352 W.
        total_power: power of all driven motors, sum of |torque x speed|. What damping alone takes
            out of the robot is not limited.
        kp_max: largest joint stiffness.
        kd_max: largest joint damping.
        damping_kd: joint damping that replaces what cannot be sent.
        command_age_max_s: age from which a command is not acted upon, and the gap between two
            commands after which the robot is damped and torque starts from nothing again. Users of
            the A1 report that its firmware brakes the motors after gaps of about 30 ms
            (yxyang/locomotion_simulation thread 5).

    Of the measured state:

    Attributes:
        state_age_hold_s: age from which the joints count as unknown, with a warning: the motors are
            damped until a newer state comes.
        state_age_max_s: age at which the robot is damped.
        tilt_max: largest angle of the trunk's z axis to the vertical.
        excursion_max: how far a joint may be beyond its range. A motor whose joint reads further
            out is only damped from that very sample on.
        velocity_stop: largest speed of a joint.
        power_stop: sum of |estimated torque x speed|; the vendor's PowerProtect at its highest
            level stops at 1000 W.
        power_samples: how many samples more above than below `power_stop` stop the robot; the
            vendor's count is 6, in a loop of 2 ms.
        temperature_warn: temperature of a motor from which a warning is given.
        temperature_stop: temperature of a motor at which the robot sits down; 5 deg C more and it
            is damped. The firmware is said to stop a motor at 60 deg C
            (ikostrikov/walk_in_the_park).
        confirm_s: how long a tilt, an excursion, a speed, a temperature or a broken attitude must
            last to be believed.
        mode_lost_s: how long a motor may be out of servo mode while it is to serve.
        mode_start_s: how long a motor may take to enter servo mode.
        encoder_stuck_s: how long a position may not change in a single bit while the motor's speed
            or torque says that it must.
        velocity_stuck_s: how long a speed may not change in a single bit while the position goes
            elsewhere.
        jam_torque: torque from which a motor must move its joint, or the joint is jammed. A stand
            takes 12 N m; standing up pushes by up to 16 N m more where it waits for a joint.
        jam_way: how far a joint moves that is not jammed.
        jam_s: how long a motor may push so without moving its joint.
    """

    torque_limit: Annotated[float, positive("N m", LARGEST_TORQUE)] | None = None
    torque_slew: Annotated[float, positive("N m/s", 1e9)] = 20_000.0
    velocity_limit: Annotated[float, positive("rad/s", 100.0)] | None = None
    position_margin: Annotated[float, positive("rad", 0.2)] = 0.05
    stop_stiffness: Annotated[float, positive("N m/rad", 1000.0)] = 120.0
    stop_damping: Annotated[float, positive("N m s/rad", 10.0)] = 4.0
    motor_power: Annotated[float, positive("W", 1000.0)] = 400.0
    total_power: Annotated[float, positive("W", 1000.0)] = 800.0
    kp_max: Annotated[float, positive("N m/rad", 1000.0)] = 300.0
    kd_max: Annotated[float, positive("N m s/rad", 100.0)] = 10.0
    damping_kd: Annotated[float, positive("N m s/rad", 10.0)] = 3.0
    command_age_max_s: Annotated[float, positive("s", 1.0)] = 0.03
    state_age_hold_s: Annotated[float, positive("s", 1.0)] = 0.02
    state_age_max_s: Annotated[float, positive("s", 1.0)] = 0.1
    tilt_max: Annotated[float, positive("rad", math.pi)] = FALLEN_TILT
    excursion_max: Annotated[float, positive("rad", 0.5)] = 0.1
    velocity_stop: Annotated[float, positive("rad/s", 100.0)] = 30.0
    power_stop: Annotated[float, positive("W", 2000.0)] = 1000.0
    power_samples: Annotated[int, Range("-", 1, 100)] = 12
    temperature_warn: Annotated[float, positive("deg C", 80.0)] = 50.0
    temperature_stop: Annotated[float, positive("deg C", 80.0)] = 60.0
    confirm_s: Annotated[float, positive("s", 0.5)] = 0.01
    mode_lost_s: Annotated[float, positive("s", 1.0)] = 0.02
    mode_start_s: Annotated[float, positive("s", 5.0)] = 0.25
    encoder_stuck_s: Annotated[float, positive("s", 1.0)] = 0.05
    velocity_stuck_s: Annotated[float, positive("s", 1.0)] = 0.05
    jam_torque: Annotated[float, positive("N m", 100.0)] = 20.0
    jam_way: Annotated[float, positive("rad", 1.0)] = 0.02
    jam_s: Annotated[float, positive("s", 10.0)] = 0.3

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        for less, more in _ORDERED:
            if getattr(self, less) is not None and getattr(self, less) >= getattr(self, more):
                raise ValueError(
                    f"{less} is {getattr(self, less):g}; give less than {more}, "
                    f"{getattr(self, more):g}"
                )


_ORDERED = (
    ("state_age_hold_s", "state_age_max_s"),
    ("temperature_warn", "temperature_stop"),
    ("velocity_limit", "velocity_stop"),
)


def motor_limits(
    options: HardwareSafetyOptions, robot: Robot
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest torques (12) [N m] and speeds (12) [rad/s] of a robot's motors under these options.

    Raises:
        ValueError: an option allows more than the robot bears; the message names its key.
    """
    torque = _lower_of("torque_limit", options.torque_limit, robot.torque_limit, "N m")
    velocity = _lower_of("velocity_limit", options.velocity_limit, robot.velocity_limit, "rad/s")
    if velocity.max() >= options.velocity_stop:
        raise ValueError(
            f"velocity_stop is {options.velocity_stop:g}; give more than velocity_limit, "
            f"{velocity.max():g} rad/s"
        )
    return np.minimum(torque, LARGEST_TORQUE), velocity


def _lower_of(
    key: str, option: float | None, own: NDArray[np.float64], unit: str
) -> NDArray[np.float64]:
    """An option where it is lower than the motors' own limits (12); where it is None, those."""
    if option is None:
        return own
    if option > own.max():
        raise ValueError(f"{key} is {option:g}; give up to the robot's own, {own.max():g} {unit}")
    return np.minimum(option, own)
