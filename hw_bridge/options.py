"""Everything that can be chosen about the bridge to an A1."""

from typing import Literal

import msgspec

from hw_bridge.link_options import LinkOptions
from hw_bridge.motion_options import MotionOptions
from hw_bridge.operator.options import OperatorOptions
from hw_bridge.safety.options import SafetyOptions
from hw_bridge.sensing_options import SensingOptions

# full: the robot moves; dry_run: all runs, the wire carries no torque; read_only: nothing but reads
Mode = Literal["full", "dry_run", "read_only"]


class HardwareOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bridge to a real or emulated A1.

    Attributes:
        mode: ``full`` moves the robot; ``dry_run`` runs the whole stack and sends no torque;
            ``read_only`` reads and prints.
        link: addresses.
        tick_unit_s: length of the robot's tick [s]. The vendor's header says microseconds, drivers
            that work read milliseconds: `saltus doctor a1` measures it.
        send_every: ticks of 1 ms from one command on the wire to the next.
        connect_timeout_s: how long to wait for the first good frame [s].
        stand_down_patience_s: how long the tracker may stand without a plan before the robot sits
            down and ends [s].
        sensing: calibration of the foot sensors.
        safety: limits, last before the wire.
        motion: standing up and sitting down.
        operator: who may say what the robot does.
    """

    mode: Mode = "full"
    link: LinkOptions = LinkOptions()
    tick_unit_s: float = 1e-3
    send_every: int = 1
    connect_timeout_s: float = 5.0
    stand_down_patience_s: float = 1.0
    sensing: SensingOptions = SensingOptions()
    safety: SafetyOptions = SafetyOptions()
    motion: MotionOptions = MotionOptions()
    operator: OperatorOptions = OperatorOptions()

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not 1e-7 <= self.tick_unit_s <= 1.0:
            raise ValueError("hardware: tick_unit_s must be in [1e-7, 1] s")
        if not 1 <= self.send_every <= 10:
            raise ValueError("hardware: send_every must be 1 to 10 ticks")
        if not (self.connect_timeout_s > 0.0 and self.stand_down_patience_s >= 0.0):
            raise ValueError("hardware: need connect_timeout_s > 0 and stand_down_patience_s >= 0")
