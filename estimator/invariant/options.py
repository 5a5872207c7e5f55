"""The numbers of the invariant filter, with their units and where they come from."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field, fields
from typing import Any

from estimator.options import LegOdometryOptions
from estimator.options import parameters as leg_parameters


def _legs() -> LegOdometryOptions:
    return LegOdometryOptions(touchdown_ramp=0.05, foot_velocity_noise=0.03, huber=1.0)


@dataclass(frozen=True)
class InvariantOptions:
    """Noises and switches of `InvariantFilter`; every number is positive.

    Noises per sqrt(s) do not depend on the rate of the readings. Raises ValueError on a number
    that is not positive.
    """

    gyroscope_noise: float = 1.6e-4
    """[rad per sqrt(s)]: 0.005 rad/s at 1 kHz, as `sim_bridge.sensors` assumes of the A1."""
    accelerometer_noise: float = 1.6e-3
    """[m/s per sqrt(s)]: 0.05 m/s2 at 1 kHz, likewise."""
    acceleration_relative_noise: float = 0.0002
    """More of it per m/s2 of measured acceleration, which impacts distort [sqrt(s)]."""
    gyroscope_bias: float = 0.002
    """The gyroscope's bias at the start [rad/s]."""
    accelerometer_bias: float = 0.03
    """The accelerometer's bias at the start [m/s2]."""
    gyroscope_walk: float = 1e-5
    """Random walk of the gyroscope's bias [rad/s per sqrt(s)]."""
    accelerometer_walk: float = 1e-3
    """Random walk of the accelerometer's bias [m/s2 per sqrt(s)]."""
    contact_noise: float = 0.001
    """Random walk of a standing contact [m per sqrt(s)]."""
    light_contact_noise: float = 1.0
    """The same of a contact that is hardly trusted, or slips [m per sqrt(s)]."""
    encoder_noise: float = 0.0002
    """A joint's angle [rad]."""
    kinematics_noise: float = 0.0002
    """Relative foot position beyond the encoders': links and hips [m]."""
    use_orientation: bool = True
    """Whether the IMU's own orientation is measured; the paper does not."""
    orientation_noise: float = 0.0005
    """The orientation, white [rad]."""
    orientation_bias: float = 0.003
    """The orientation's constant error, a state of the filter [rad]."""
    orientation_walk: float = 1e-5
    """Random walk of that error [rad per sqrt(s)]."""
    use_height: bool = True
    """Whether standing feet are on the plane z = 0; the paper does not say so."""
    height_noise: float = 0.004
    """Height of a standing foot above flat ground [m]."""
    use_foot_velocity: bool = True
    """Whether the joints' velocities measure the base's; the paper does not."""
    joint_velocity_noise: float = 0.03
    """A joint's velocity [rad/s]."""
    foot_velocity_noise: float = 0.08
    """Velocity of a standing foot beyond that [m/s]: it slips and settles."""
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

    def __post_init__(self) -> None:
        """Refuse what is not a positive number."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, float | int) and not isinstance(value, bool):
                if not 0.0 < value < float("inf"):
                    raise ValueError(f"{item.name} must be a positive number, not {value!r}")


Parameters = namedtuple("Parameters", [item.name for item in fields(InvariantOptions)])


def parameters(options: InvariantOptions) -> Parameters:
    """The options as the named tuple that the compiled update takes; `legs` is one of its own."""
    return Parameters(*(_compiled(getattr(options, name)) for name in Parameters._fields))


def _compiled(value: Any) -> Any:
    if isinstance(value, LegOdometryOptions):
        return leg_parameters(value)
    return value if isinstance(value, bool) else float(value)
