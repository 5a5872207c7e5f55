"""Options of the filters."""

from __future__ import annotations

from typing import Annotated

from msgspec import field
from msgspec.structs import replace

from robots.conventions import GRAVITY
from runtime.options import Options, positive


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
        offset_clearance: A foot this far above the lowest one shows its sensor's zero.
        offset_time: Time constant with which the zero of a foot's sensor is followed.
        largest_offset: A force beyond this is no zero offset of a foot's sensor.
        touchdown_ramp: Time over which a new contact becomes trusted: it hides the touchdown
            transient.
        huber: Standard deviations beyond which one foot's velocity counts less (Huber's weight).
        jump_gate: Standard deviations of the mean stance-foot velocity that tell a jump.
        jump_speed: Smallest jump of the base velocity looked for.
        jump_scatter: Largest scatter among the stance feet, relative to their mean, in a jump.
        jump_persistence: Time that the evidence of a jump must last.
        jump_window: Time after a jump in which feet may slip and the velocity may change.
        jump_noise: Random walk of the velocity within `jump_window`.
        largest_gap: Readings further apart than this restart the filter.
        largest_speed: An estimated speed above this is a divergence.
        foot_radius: Radius of the foot sphere, whose centre is the foot point; null: the robot's
            own.
        gravity: Acceleration of free fall.
    """

    acceleration_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 0.03
    acceleration_relative_noise: Annotated[float, positive("sqrt(s)", 1e6)] = 0.0005
    position_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 0.001
    stance_foot_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 0.003
    swing_foot_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 1.0
    kinematics_noise: Annotated[float, positive("m", 1e6)] = 0.002
    foot_velocity_noise: Annotated[float, positive("m/s", 1e6)] = 0.08
    height_noise: Annotated[float, positive("m", 1e6)] = 0.004
    force_off: Annotated[float, positive("N", 1000.0)] = 8.0
    force_on: Annotated[float, positive("N", 1000.0)] = 15.0
    force_full: Annotated[float, positive("N", 1000.0)] = 28.0
    offset_clearance: Annotated[float, positive("m", 1.0)] = 0.02
    offset_time: Annotated[float, positive("s", 100.0)] = 0.03
    largest_offset: Annotated[float, positive("N", 1e6)] = 20.0
    touchdown_ramp: Annotated[float, positive("s", 10.0)] = 0.015
    huber: Annotated[float, positive("-", 1e6)] = 1.5
    jump_gate: Annotated[float, positive("-", 1e6)] = 2.5
    jump_speed: Annotated[float, positive("m/s", 1e6)] = 0.15
    jump_scatter: Annotated[float, positive("-", 1e6)] = 0.5
    jump_persistence: Annotated[float, positive("s", 10.0)] = 0.002
    jump_window: Annotated[float, positive("s", 10.0)] = 0.030
    jump_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 5.0
    largest_gap: Annotated[float, positive("s", 1e6)] = 0.1
    largest_speed: Annotated[float, positive("m/s", 1e6)] = 20.0
    foot_radius: Annotated[float, positive("m", 0.2)] | None = None
    gravity: Annotated[float, positive("m/s^2", 100.0)] = GRAVITY


def _legs() -> LegOdometryOptions:
    return LegOdometryOptions(touchdown_ramp=0.05, foot_velocity_noise=0.03, huber=1.0)


class InvariantOptions(Options, frozen=True):
    """Noises and switches of `InvariantFilter`; every number is positive.

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
        use_orientation: Whether the IMU's own orientation is measured; the paper does not.
        orientation_noise: White noise of the IMU's orientation.
        orientation_bias: The constant error of the IMU's orientation, a state of the filter.
        orientation_walk: Random walk of the IMU's orientation error.
        use_height: Whether standing feet are on the plane z = 0; not in the paper.
        height_noise: Height of a standing foot above flat ground.
        use_foot_velocity: Whether the joints' velocities measure the base's; the paper does not.
        joint_velocity_noise: Noise of a joint's velocity.
        foot_velocity_noise: Velocity of a standing foot beyond that noise: it slips and settles.
        use_rolling: Whether contacts roll on the foot's sphere; the paper's stand, which costs a
            walk at 0.2 m/s a bias of 12 mm/s (12.9 mm/s RMS against 1.7).
        use_huber: Whether a foot that contradicts the filter alone counts less; not in the paper.
        use_jump: Whether the stance feet together open the filter for a push; not in the paper.
        legs: Contact from foot force, thresholds of slip and push, radius, gravity, gaps, as of the
            leg odometry. It trusts the accelerometer enough to wait longer for a new contact, and
            to see a smaller slip (`touchdown_ramp`, `foot_velocity_noise`, `huber`); the rest is
            its rival's.
    """

    gyroscope_noise: Annotated[float, positive("rad/sqrt(s)", 1e6)] = 1.6e-4
    accelerometer_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 1.6e-3
    acceleration_relative_noise: Annotated[float, positive("sqrt(s)", 1e6)] = 0.0002
    gyroscope_bias: Annotated[float, positive("rad/s", 1e6)] = 0.002
    accelerometer_bias: Annotated[float, positive("m/s^2", 1e6)] = 0.03
    gyroscope_walk: Annotated[float, positive("rad/s/sqrt(s)", 1e6)] = 1e-5
    accelerometer_walk: Annotated[float, positive("m/s^2/sqrt(s)", 1e6)] = 1e-3
    contact_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 0.001
    light_contact_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 1.0
    encoder_noise: Annotated[float, positive("rad", 1e6)] = 0.0002
    kinematics_noise: Annotated[float, positive("m", 1e6)] = 0.0002
    use_orientation: bool = True
    orientation_noise: Annotated[float, positive("rad", 1e6)] = 0.0005
    orientation_bias: Annotated[float, positive("rad", 1e6)] = 0.003
    orientation_walk: Annotated[float, positive("rad/sqrt(s)", 1e6)] = 1e-5
    use_height: bool = True
    height_noise: Annotated[float, positive("m", 1e6)] = 0.004
    use_foot_velocity: bool = True
    joint_velocity_noise: Annotated[float, positive("rad/s", 1e6)] = 0.03
    foot_velocity_noise: Annotated[float, positive("m/s", 1e6)] = 0.08
    use_rolling: bool = True
    use_huber: bool = True
    use_jump: bool = True
    legs: LegOdometryOptions = field(default_factory=_legs)

    @classmethod
    def published(cls) -> InvariantOptions:
        """The filter as the paper has it: inertial unit, kinematics and contacts, nothing else."""
        return cls(
            use_orientation=False,
            use_height=False,
            use_foot_velocity=False,
            use_rolling=False,
            use_huber=False,
            use_jump=False,
        )


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
        touchdown_acceleration_noise: Random walk of a leg's joint velocities at touchdown, fading
            with `touchdown_time`.
        impact_noise: Standard deviation of an impact's jump, relative to the jump.
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
        touchdown_noise: Slip and bounce at touchdown, which fade with `touchdown_time`.
        touchdown_time: Time constant with which a touchdown's noise fades.
        heavy_load: A foot under more than this sinks in: its vertical noise grows by
            `touchdown_noise` for every other such load. A standing A1 has 33 N on each foot, a
            trotting one 70.
        height_noise: Height of a standing foot above flat ground.
        foot_stiffness: Stiffness of foot and ground; with `foot_depth` it fits the simulated
            ground. To be measured on a real robot.
        foot_depth: How far a heavy load presses a foot in at most.
        huber: Standard deviations beyond which a foot's row counts less (Huber's weight); few, as
            slip has a long tail.
        terrain_noise: Noise of the ground's height at touchdown: width of the guard.
        touchdown_delay: How late or early a force sensor tells a touchdown.
        slowest_impact: A foot that comes down more slowly makes no impact.
        load_noise: Noise of the predicted normal force at liftoff: width of liftoff's guard.
        force_noise: Noise of a foot's force sensor, its drifting zero included.
        largest_force: A standing foot's force is as likely to be anything up to this.
        surprise_rate: Touchdowns and liftoffs that no guard announces.
        force_off: From this force on a standing foot starts to hold.
        force_full: Force from which a standing foot holds for certain; a standing A1 has 33 N on
            each foot.
        offset_clearance: A foot this far above the lowest one shows its sensor's zero.
        offset_time: Time constant with which the zero of a foot's sensor is followed.
        largest_offset: A force beyond this is no zero offset of a foot's sensor.
        settling_time: After holding firmly for so long a foot counts in the search for jumps.
        firm_time: One foot at least must have held firmly for so long.
        jump_gate: Standard deviations of the mean stance-foot velocity that tell a jump.
        jump_speed: Smallest jump of the base velocity looked for.
        jump_scatter: Largest scatter among the stance feet, relative to their mean, in a jump.
        jump_persistence: Time that the evidence of a jump must last.
        jump_window: Time after a jump in which feet may slip and the velocity may change.
        jump_noise: Random walk of the horizontal velocity within `jump_window`.
        jump_sideways: Share of `jump_noise` across the jump's direction.
        jump_selection: A foot that lags this far behind the best one is slipping.
        longest_step: After a longer time without a reading the estimate is "degraded": one lost
            reading, and half a tick.
        longest_bridge: For so long without a reading the dynamics go on under the last torques;
            after that the velocities stay.
        largest_gap: Readings further apart, or this long without IMU and encoders, restart the
            filter.
        largest_speed: An estimated speed above this is a divergence.
        foot_radius: Radius of the foot sphere, whose centre is the foot point; null: the robot's
            own.
        gravity: Acceleration of free fall.
    """

    # What the dynamics do not know: forces, slip, flexible feet.
    acceleration_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 0.1
    angular_acceleration_noise: Annotated[float, positive("rad/s/sqrt(s)", 1e6)] = 1.0
    joint_acceleration_noise: Annotated[float, positive("rad/s/sqrt(s)", 1e6)] = 3.0
    touchdown_acceleration_noise: Annotated[float, positive("rad/s/sqrt(s)", 1e6)] = 30.0
    impact_noise: Annotated[float, positive("-", 1e6)] = 1.0
    gyro_bias_walk: Annotated[float, positive("rad/s/sqrt(s)", 1e6)] = 1e-5
    accelerometer_bias_walk: Annotated[float, positive("m/s^2/sqrt(s)", 1e6)] = 3e-5
    misalignment_walk: Annotated[float, positive("rad/sqrt(s)", 1e6)] = 3e-6
    # Sensors: as `sim_bridge.sensors` has them; a margin here makes the filter cautious.
    orientation_noise: Annotated[float, positive("rad", 1e6)] = 0.0005
    gyro_noise: Annotated[float, positive("rad/s", 1e6)] = 0.005
    accelerometer_noise: Annotated[float, positive("m/s^2", 1e6)] = 0.05
    accelerometer_relative_noise: Annotated[float, positive("-", 1e6)] = 0.0005
    joint_position_noise: Annotated[float, positive("rad", 1e6)] = 0.0002
    joint_velocity_noise: Annotated[float, positive("rad/s", 1e6)] = 0.03
    # At the start.
    gyro_bias: Annotated[float, positive("rad/s", 1e6)] = 0.003
    accelerometer_bias: Annotated[float, positive("m/s^2", 1e6)] = 0.03
    misalignment: Annotated[float, positive("rad", 1e6)] = 0.004
    # Feet that stand. Their noises are chosen on a walk and a trot that no benchmark uses.
    foot_velocity_noise: Annotated[float, positive("m/s", 1e6)] = 0.0015
    foot_vertical_noise: Annotated[float, positive("m/s", 1e6)] = 0.013
    touchdown_noise: Annotated[float, positive("m/s", 1e6)] = 1.0
    touchdown_time: Annotated[float, positive("s", 10.0)] = 0.01
    heavy_load: Annotated[float, positive("N", 1e6)] = 100.0
    height_noise: Annotated[float, positive("m", 1e6)] = 0.0013
    foot_stiffness: Annotated[float, positive("N/m", 1e9)] = 3e4
    foot_depth: Annotated[float, positive("m", 0.1)] = 0.0022
    huber: Annotated[float, positive("-", 1e6)] = 0.5
    # Modes.
    terrain_noise: Annotated[float, positive("m", 1e6)] = 0.005
    touchdown_delay: Annotated[float, positive("s", 10.0)] = 0.0015
    slowest_impact: Annotated[float, positive("m/s", 1e6)] = 0.05
    load_noise: Annotated[float, positive("N", 1e6)] = 15.0
    force_noise: Annotated[float, positive("N", 1e6)] = 4.0
    largest_force: Annotated[float, positive("N", 1e6)] = 200.0
    surprise_rate: Annotated[float, positive("1/s", 1e6)] = 2.0
    force_off: Annotated[float, positive("N", 1000.0)] = 8.0
    force_full: Annotated[float, positive("N", 1000.0)] = 28.0
    offset_clearance: Annotated[float, positive("m", 1.0)] = 0.02
    offset_time: Annotated[float, positive("s", 100.0)] = 0.03
    largest_offset: Annotated[float, positive("N", 1e6)] = 20.0
    # A push that changes the velocity between two samples of the accelerometer.
    settling_time: Annotated[float, positive("s", 10.0)] = 0.008
    firm_time: Annotated[float, positive("s", 10.0)] = 0.03
    jump_gate: Annotated[float, positive("-", 1e6)] = 2.5
    jump_speed: Annotated[float, positive("m/s", 1e6)] = 0.15
    jump_scatter: Annotated[float, positive("-", 1e6)] = 0.3
    jump_persistence: Annotated[float, positive("s", 10.0)] = 0.001
    jump_window: Annotated[float, positive("s", 10.0)] = 0.030
    jump_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 10.0
    jump_sideways: Annotated[float, positive("-", 1000.0)] = 0.2
    jump_selection: Annotated[float, positive("m/s", 1e6)] = 0.3
    # Limits.
    longest_step: Annotated[float, positive("s", 10.0)] = 0.0025
    longest_bridge: Annotated[float, positive("s", 1.0)] = 0.02
    largest_gap: Annotated[float, positive("s", 1e6)] = 0.2
    largest_speed: Annotated[float, positive("m/s", 1e6)] = 20.0
    foot_radius: Annotated[float, positive("m", 0.2)] | None = None
    gravity: Annotated[float, positive("m/s^2", 100.0)] = GRAVITY


def on_uneven_ground(options: SaltedOptions) -> SaltedOptions:
    """The options with the noises of standing feet on ground that is no level floor."""
    return replace(
        options,
        foot_velocity_noise=UNEVEN_GROUND * options.foot_velocity_noise,
        foot_vertical_noise=UNEVEN_GROUND * options.foot_vertical_noise,
        height_noise=UNEVEN_GROUND * options.height_noise,
    )
