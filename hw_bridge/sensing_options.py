"""What the foot sensors count."""

import math

import msgspec


class SensingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Calibration of the foot sensors: force = foot_force_scale (counts - foot_force_offset).

    The vendor publishes neither number. Robots that hang in the air show offsets of tens of counts,
    different at each foot.

    Attributes:
        foot_force_scale: [N/count], more than 0.
        foot_force_offset: what each foot shows without load, FR, FL, RR, RL [counts].
    """

    foot_force_scale: float = 1.0
    foot_force_offset: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not 0.0 < self.foot_force_scale < math.inf:
            raise ValueError(
                f"sensing: foot_force_scale must be positive [N/count], not {self.foot_force_scale}"
            )
        if len(self.foot_force_offset) != 4 or not all(map(math.isfinite, self.foot_force_offset)):
            raise ValueError(
                "sensing: foot_force_offset must be four finite numbers [counts], FR, FL, RR, RL, "
                f"not {self.foot_force_offset}"
            )
