"""What the foot sensors show, in newtons."""

from typing import Annotated

from runtime.options import Options, Range, positive


class SensingOptions(Options, frozen=True):
    """Calibration of the foot sensors: force = foot_force_scale (counts - foot_force_offset).

    The vendor publishes neither number. Robots that hang in the air show offsets of tens of counts,
    different at each foot.

    Attributes:
        foot_force_scale: force that one count stands for.
        foot_force_offset: what each foot shows without load, FR, FL, RR, RL.
    """

    foot_force_scale: Annotated[float, positive("N/count", 1000.0)] = 1.0
    foot_force_offset: Annotated[
        tuple[float, float, float, float], Range("counts", -(2**15), 2**15 - 1)
    ] = (0.0, 0.0, 0.0, 0.0)
