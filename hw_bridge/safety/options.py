"""Every limit between the stack and the robot's motors."""

import math

import msgspec

from robots.a1.constants import TORQUE_LIMIT, VELOCITY_LIMIT

_OPEN = math.inf


class SafetyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is sent at most, and what is measured at most before the robot is stopped.

    The defaults leave a walking robot alone. Three simulated runs of 6 s at 1 kHz, commands of the
    tracker against the joints as measured: walks at 0.2 m/s pushed sideways by 1.5 m/s (left in one
    run, right in the other) and a trot at 0.4 m/s. The limits changed the torques of 39, 18 and
    none of the 6001 commands, by the slew or near the end of a joint's range; no measured sample
    was found fault with. With the limiter in the loop none fell.

    Of a command:

    Attributes:
        torque_limit: per motor [N m]; the motor's own is 33.5 (unitree_ros const.xacro).
        torque_slew: how fast a motor's torque may change from what the command before would give
            now [N m/s]. Limits that keep the robot whole may take torque away faster.
        velocity_limit: speed at which no torque drives a joint faster [rad/s], and the fastest
            target; the motor's no-load speed is 21 (unitree_ros const.xacro).
        position_margin: distance to the end of a joint's range from which no torque drives it
            further out [rad]. Targets lie within the range.
        stop_stiffness: by which the torque outwards falls on the way to the margin, and springs
            back from beyond the range [N m/rad].
        stop_damping: brakes a joint on its way out to the margin and beyond [N m s/rad]. With both
            as they are, a light leg (0.03 kg m^2) driven out by the full torque from the stand ends
            at the margin, even if commands act 10 ms late.
        motor_power: mechanical power that one motor may put out [W]; the largest along a torque
            curve that is flat up to half the no-load speed is 352.
        total_power: of all driven motors, sum of |torque x speed| [W]. What damping alone takes out
            of the robot is not limited.
        kp_max: [N m/rad].
        kd_max: [N m s/rad].
        damping_kd: of the damping that replaces what cannot be sent [N m s/rad].
        command_age_max_s: age from which a command is not acted upon [s], and the gap between two
            commands after which torque starts from nothing again. Users of the A1 report that its
            firmware brakes the motors after gaps of about 30 ms (yxyang/locomotion_simulation
            thread 5).

    Of the measured state:

    Attributes:
        state_age_hold_s: age from which a state counts as late: a warning [s].
        state_age_max_s: age at which the robot is damped [s].
        tilt_max: of the trunk's z axis to the vertical [rad].
        excursion_max: of a joint beyond its range [rad]. A motor whose joint reads further out is
            only damped from that very sample on.
        velocity_stop: of a joint [rad/s].
        power_stop: sum of |estimated torque x speed| [W]; the vendor's PowerProtect at its highest
            level stops at 1000.
        power_samples: how many samples more above than below `power_stop` stop the robot; the
            vendor's count is 6, in a loop of 2 ms.
        temperature_warn: of a motor [deg C].
        temperature_stop: of a motor, the robot sits down; 5 deg C more and it is damped. The
            firmware is said to stop a motor at 60 deg C (ikostrikov/walk_in_the_park).
        confirm_s: how long a tilt, an excursion, a speed, a temperature or a broken attitude must
            last to be believed [s].
        mode_lost_s: how long a motor may be out of servo mode while it is to serve [s].
        mode_start_s: how long it may take to enter it [s].
        encoder_stuck_s: how long a position may not change in a single bit while the motor's speed
            or torque says that it must [s].
    """

    torque_limit: float = TORQUE_LIMIT
    torque_slew: float = 20_000.0
    velocity_limit: float = VELOCITY_LIMIT
    position_margin: float = 0.05
    stop_stiffness: float = 120.0
    stop_damping: float = 4.0
    motor_power: float = 400.0
    total_power: float = 800.0
    kp_max: float = 300.0
    kd_max: float = 10.0
    damping_kd: float = 3.0
    command_age_max_s: float = 0.03
    state_age_hold_s: float = 0.02
    state_age_max_s: float = 0.1
    tilt_max: float = math.radians(60.0)
    excursion_max: float = 0.1
    velocity_stop: float = 30.0
    power_stop: float = 1000.0
    power_samples: int = 12
    temperature_warn: float = 50.0
    temperature_stop: float = 60.0
    confirm_s: float = 0.01
    mode_lost_s: float = 0.02
    mode_start_s: float = 0.25
    encoder_stuck_s: float = 0.05

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        for name, most in _MOST.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and 0.0 < value <= most):
                range_ = "> 0" if most == _OPEN else f"> 0 and <= {most:.6g}"
                raise ValueError(f"safety.{name}: expected a finite number {range_}, got {value}")
        for less, more in _ORDERED:
            if getattr(self, less) >= getattr(self, more):
                raise ValueError(
                    f"safety.{less}: expected less than {more} ({getattr(self, more):.6g}), "
                    f"got {getattr(self, less)}"
                )


# Upper bounds: beyond them an option would no longer protect, or not fit the wire, whose torque
# field ends at 128 N m: a command's tau can reach three torque limits.
_MOST = {
    "torque_limit": TORQUE_LIMIT, "torque_slew": _OPEN, "velocity_limit": VELOCITY_LIMIT,
    "position_margin": 0.2, "stop_stiffness": 1000.0, "stop_damping": 10.0, "motor_power": 1000.0,
    "total_power": 1000.0, "kp_max": 1000.0, "kd_max": 100.0, "damping_kd": 10.0,
    "command_age_max_s": 1.0, "state_age_hold_s": 1.0, "state_age_max_s": 1.0, "tilt_max": math.pi,
    "excursion_max": 0.5, "velocity_stop": 100.0, "power_stop": 2000.0, "power_samples": 100,
    "temperature_warn": 80.0, "temperature_stop": 80.0, "confirm_s": 0.5, "mode_lost_s": 1.0,
    "mode_start_s": 5.0, "encoder_stuck_s": 1.0,
}  # fmt: skip
_ORDERED = (
    ("state_age_hold_s", "state_age_max_s"),
    ("temperature_warn", "temperature_stop"),
    ("velocity_limit", "velocity_stop"),
)
