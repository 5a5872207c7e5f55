"""Options of the filters."""

from __future__ import annotations

from typing import Annotated

from msgspec import field
from msgspec.structs import replace

from runtime.options import Options, positive

Walk = Annotated[float, positive("m/s/sqrt(s)", 1e6)]
TurnWalk = Annotated[float, positive("rad/s/sqrt(s)", 1e6)]
ForceWalk = Annotated[float, positive("m/s^2/sqrt(s)", 1e6)]
AngleWalk = Annotated[float, positive("rad/sqrt(s)", 1e6)]
PlaceWalk = Annotated[float, positive("m/sqrt(s)", 1e6)]
ByForce = Annotated[float, positive("sqrt(s)", 1e6)]
Length = Annotated[float, positive("m", 1e6)]
Speed = Annotated[float, positive("m/s", 1e6)]
Acceleration = Annotated[float, positive("m/s^2", 1e6)]
Angle = Annotated[float, positive("rad", 1e6)]
Rate = Annotated[float, positive("rad/s", 1e6)]
Share = Annotated[float, positive("-", 1e6)]
Force = Annotated[float, positive("N", 1000.0)]


class LegOdometryOptions(Options, frozen=True):
    """Noises and thresholds of `LegOdometryFilter`; every one is positive.

    A noise that grows with the square root of time is given per sqrt(s), so the filter does not
    depend on the rate of the readings. Raises ValueError on a number out of its range.

    Attributes:
        acceleration_noise: Random walk of the velocity, from the accelerometer.
        acceleration_relative_noise: More of `acceleration_noise` per measured acceleration, which
            impacts distort.
        position_noise: Random walk of the base position beyond the integrated velocity.
        stance_foot_noise: Random walk of a foot that stands.
        swing_foot_noise: Random walk of a foot in the air or slipping.
        kinematics_noise: Relative foot position from the encoders.
        foot_velocity_noise: Velocity of a standing foot from encoders and gyroscope.
        height_noise: Height of a standing foot above flat ground.
        force_off: A foot leaves the ground below this force.
        force_on: A foot touches the ground above this force.
        force_full: Force from which contact is certain; a standing A1 has 33 N on each foot.
        touchdown_ramp: Time over which a new contact becomes trusted: it hides the touchdown
            transient.
        huber: Standard deviations beyond which one foot's velocity counts less (Huber's weight).
    """

    acceleration_noise: Walk = 0.03
    acceleration_relative_noise: ByForce = 0.0005
    position_noise: PlaceWalk = 0.001
    stance_foot_noise: PlaceWalk = 0.003
    swing_foot_noise: PlaceWalk = 1.0
    kinematics_noise: Length = 0.002
    foot_velocity_noise: Speed = 0.08
    height_noise: Length = 0.004
    force_off: Force = 8.0
    force_on: Force = 15.0
    force_full: Force = 28.0
    touchdown_ramp: Annotated[float, positive("s", 10.0)] = 0.015
    huber: Share = 1.5


def _legs() -> LegOdometryOptions:
    return LegOdometryOptions(touchdown_ramp=0.05, foot_velocity_noise=0.03, huber=1.0)


class InvariantOptions(Options, frozen=True):
    """Noises of `InvariantFilter`; every number is positive.

    Noises per sqrt(s) do not depend on the rate of the readings. Raises ValueError on a number
    out of its range.

    Attributes:
        gyroscope_noise: Random walk of the angle: 0.005 rad/s at 1 kHz, as simulated.
        accelerometer_noise: Random walk of the velocity: 0.05 m/s^2 at 1 kHz, as simulated.
        acceleration_relative_noise: More of `accelerometer_noise` per measured acceleration, which
            impacts distort.
        gyroscope_bias: The gyroscope's bias at the start.
        accelerometer_bias: The accelerometer's bias at the start.
        gyroscope_walk: Random walk of the gyroscope's bias.
        accelerometer_walk: Random walk of the accelerometer's bias.
        contact_noise: Random walk of a standing contact.
        light_contact_noise: Random walk of a contact that is hardly trusted, or slips.
        encoder_noise: Noise of a joint's angle.
        kinematics_noise: Relative foot position beyond the encoders': links and hips.
        orientation_noise: White noise of the IMU's orientation.
        orientation_bias: The constant error of the IMU's orientation, a state of the filter.
        orientation_walk: Random walk of the IMU's orientation error.
        height_noise: Height of a standing foot above flat ground.
        joint_velocity_noise: Noise of a joint's velocity.
        foot_velocity_noise: Velocity of a standing foot beyond that noise: it slips and settles.
        published: The filter as the paper has it: inertial unit, kinematics and contacts, nothing
            else. Its contacts stand and do not roll, which costs a walk at 0.2 m/s a bias of 12
            mm/s (12.9 mm/s RMS against 1.7).
        legs: Contact from foot force, and noises of feet, as of the leg odometry. It trusts the
            accelerometer enough to wait longer for a new contact, and to see a smaller slip
            (`touchdown_ramp`, `foot_velocity_noise`, `huber`); the rest is its rival's.
    """

    gyroscope_noise: AngleWalk = 1.6e-4
    accelerometer_noise: Walk = 1.6e-3
    acceleration_relative_noise: ByForce = 0.0002
    gyroscope_bias: Rate = 0.002
    accelerometer_bias: Acceleration = 0.03
    gyroscope_walk: TurnWalk = 1e-5
    accelerometer_walk: ForceWalk = 1e-3
    contact_noise: PlaceWalk = 0.001
    light_contact_noise: PlaceWalk = 1.0
    encoder_noise: Angle = 0.0002
    kinematics_noise: Length = 0.0002
    orientation_noise: Angle = 0.0005
    orientation_bias: Angle = 0.003
    orientation_walk: AngleWalk = 1e-5
    height_noise: Length = 0.004
    joint_velocity_noise: Rate = 0.03
    foot_velocity_noise: Speed = 0.08
    published: bool = False
    legs: LegOdometryOptions = field(default_factory=_legs)


UNEVEN_GROUND = 4.0
"""Factor on the noises of standing feet where the ground is no level floor, or is not known: soft
feet creep down a slope, always the same way, by 1.2 mm/s on 10 degrees (0.4 mm/s on level ground).
"""


class SaltedOptions(Options, frozen=True):
    """Noises and thresholds of `SaltedEstimator`; every one is positive.

    A noise that grows with the square root of time is given per sqrt(s); a sensor's noise is that
    of one reading at 1 kHz; a huge one leaves it out. A noise sigma that lasts for tau is as much
    as one of sigma sqrt(2 tau / 1 ms) in each reading, because the filter averages over a longer
    time. Raises ValueError on a number out of its range.

    Attributes:
        acceleration_noise: Random walk of the base's velocity; the accelerometer takes most of it
            back.
        angular_acceleration_noise: Random walk of the base's angular velocity.
        joint_acceleration_noise: Random walk of a joint's velocity: torques err by 0.2 N m, soft
            feet give way.
        gyro_bias_walk: Random walk of the gyroscope's bias.
        accelerometer_bias_walk: Random walk of the accelerometer's bias.
        misalignment_walk: Random walk of the attitude's constant error.
        orientation_noise: Noise of the IMU's attitude.
        gyro_noise: Noise of one gyroscope reading.
        accelerometer_noise: Noise of one accelerometer reading.
        accelerometer_relative_noise: More of that noise, relative to the measured acceleration,
            which impacts distort.
        joint_position_noise: Noise of one joint's angle.
        joint_velocity_noise: Noise of one joint's velocity.
        gyro_bias: The gyroscope's bias at the start.
        accelerometer_bias: The accelerometer's bias at the start.
        misalignment: The attitude's constant error at the start.
        foot_velocity_noise: Slip of a standing foot: 0.3 mm/s, for 15 ms at a time.
        foot_vertical_noise: Sinking of foot and ground, by 10 mm/s to and fro.
        height_noise: Height of a standing foot above flat ground.
        foot_stiffness: Stiffness of foot and ground; with `foot_depth` it fits the simulated
            ground. To be measured on a real robot.
        foot_depth: How far a heavy load presses a foot in at most.
        huber: Standard deviations beyond which a foot's row counts less (Huber's weight); few, as
            slip has a long tail.
        terrain_noise: Noise of the ground's height at touchdown: width of the guard.
        touchdown_delay: How late or early a force sensor tells a touchdown.
        force_noise: Noise of a foot's force sensor, its drifting zero included.
        force_off: From this force on a standing foot starts to hold.
        force_full: Force from which a standing foot holds for certain; a standing A1 has 33 N on
            each foot.
    """

    # What the dynamics do not know: forces, slip, flexible feet.
    acceleration_noise: Walk = 0.1
    angular_acceleration_noise: TurnWalk = 1.0
    joint_acceleration_noise: TurnWalk = 3.0
    gyro_bias_walk: TurnWalk = 1e-5
    accelerometer_bias_walk: ForceWalk = 3e-5
    misalignment_walk: AngleWalk = 3e-6
    # Sensors: as `sim_bridge.sensors` has them; a margin here makes the filter cautious.
    orientation_noise: Angle = 0.0005
    gyro_noise: Rate = 0.005
    accelerometer_noise: Acceleration = 0.05
    accelerometer_relative_noise: Share = 0.0005
    joint_position_noise: Angle = 0.0002
    joint_velocity_noise: Rate = 0.03
    # At the start.
    gyro_bias: Rate = 0.003
    accelerometer_bias: Acceleration = 0.03
    misalignment: Angle = 0.004
    # Feet that stand. Their noises are chosen on a walk and a trot that no benchmark uses.
    foot_velocity_noise: Speed = 0.0015
    foot_vertical_noise: Speed = 0.013
    height_noise: Length = 0.0013
    foot_stiffness: Annotated[float, positive("N/m", 1e9)] = 3e4
    foot_depth: Annotated[float, positive("m", 0.1)] = 0.0022
    huber: Share = 0.5
    # Modes.
    terrain_noise: Length = 0.005
    touchdown_delay: Annotated[float, positive("s", 10.0)] = 0.0015
    force_noise: Annotated[float, positive("N", 1e6)] = 4.0
    force_off: Force = 8.0
    force_full: Force = 28.0


def on_uneven_ground(options: SaltedOptions) -> SaltedOptions:
    """The options with the noises of standing feet on ground that is no level floor."""
    return replace(
        options,
        foot_velocity_noise=UNEVEN_GROUND * options.foot_velocity_noise,
        foot_vertical_noise=UNEVEN_GROUND * options.foot_vertical_noise,
        height_noise=UNEVEN_GROUND * options.height_noise,
    )
