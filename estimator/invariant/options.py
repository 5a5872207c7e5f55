"""The numbers of the invariant filter, with their units and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from estimator.options import LegOdometryOptions
from runtime.options import check_ranges, positive


def _legs() -> LegOdometryOptions:
    return LegOdometryOptions(touchdown_ramp=0.05, foot_velocity_noise=0.03, huber=1.0)


@dataclass(frozen=True)
class InvariantOptions:
    """Noises and switches of `InvariantFilter`; every number is positive.

    Noises per sqrt(s) do not depend on the rate of the readings. Raises ValueError on a number
    out of its range.
    """

    gyroscope_noise: Annotated[float, positive("rad/sqrt(s)", 1e6)] = 1.6e-4
    """Random walk of the angle: 0.005 rad/s at 1 kHz, as the simulated sensors have it."""
    accelerometer_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 1.6e-3
    """Random walk of the velocity: 0.05 m/s^2 at 1 kHz, as the simulated sensors have it."""
    acceleration_relative_noise: Annotated[float, positive("sqrt(s)", 1e6)] = 0.0002
    """More of `accelerometer_noise` per measured acceleration, which impacts distort."""
    gyroscope_bias: Annotated[float, positive("rad/s", 1e6)] = 0.002
    """The gyroscope's bias at the start."""
    accelerometer_bias: Annotated[float, positive("m/s^2", 1e6)] = 0.03
    """The accelerometer's bias at the start."""
    gyroscope_walk: Annotated[float, positive("rad/s/sqrt(s)", 1e6)] = 1e-5
    """Random walk of the gyroscope's bias."""
    accelerometer_walk: Annotated[float, positive("m/s^2/sqrt(s)", 1e6)] = 1e-3
    """Random walk of the accelerometer's bias."""
    contact_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 0.001
    """Random walk of a standing contact."""
    light_contact_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 1.0
    """Random walk of a contact that is hardly trusted, or slips."""
    encoder_noise: Annotated[float, positive("rad", 1e6)] = 0.0002
    """Noise of a joint's angle."""
    kinematics_noise: Annotated[float, positive("m", 1e6)] = 0.0002
    """Relative foot position beyond the encoders': links and hips."""
    use_orientation: bool = True
    """Whether the IMU's own orientation is measured; the paper does not."""
    orientation_noise: Annotated[float, positive("rad", 1e6)] = 0.0005
    """White noise of the IMU's orientation."""
    orientation_bias: Annotated[float, positive("rad", 1e6)] = 0.003
    """The constant error of the IMU's orientation, a state of the filter."""
    orientation_walk: Annotated[float, positive("rad/sqrt(s)", 1e6)] = 1e-5
    """Random walk of the IMU's orientation error."""
    use_height: bool = True
    """Whether standing feet are on the plane z = 0; the paper does not say so."""
    height_noise: Annotated[float, positive("m", 1e6)] = 0.004
    """Height of a standing foot above flat ground."""
    use_foot_velocity: bool = True
    """Whether the joints' velocities measure the base's; the paper does not."""
    joint_velocity_noise: Annotated[float, positive("rad/s", 1e6)] = 0.03
    """Noise of a joint's velocity."""
    foot_velocity_noise: Annotated[float, positive("m/s", 1e6)] = 0.08
    """Velocity of a standing foot beyond that noise: it slips and settles."""
    use_rolling: bool = True
    """Whether contacts move as the foot's sphere rolls; the paper's stand, which costs a walk at
    0.2 m/s a bias of 12 mm/s in the velocity (1.7 mm/s RMS against 12.9)."""
    use_huber: bool = True
    """Whether a foot that contradicts the filter alone counts less; the paper's do not."""
    use_jump: bool = True
    """Whether the stance feet together open the filter for a push; the paper has no such thing."""
    legs: LegOdometryOptions = field(default_factory=_legs)
    """Contact from foot force, thresholds of slip and push, radius, gravity, gaps, as of the leg
    odometry. It trusts the accelerometer enough to wait longer for a new contact, and to see a
    smaller slip (`touchdown_ramp`, `foot_velocity_noise`, `huber`); the rest is its rival's."""

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

    __post_init__ = check_ranges
