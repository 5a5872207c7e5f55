"""Everything that can be chosen about the bridge to an A1."""

from typing import Annotated, Literal

from hw_bridge.black_box.options import BlackBoxOptions
from hw_bridge.link_options import LinkOptions
from hw_bridge.motion_options import MotionOptions
from hw_bridge.operator.options import OperatorOptions
from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.sensing_options import SensingOptions
from runtime.options import Options, Range, positive

# full: the robot moves; dry_run: all runs, the wire carries no torque; read_only: nothing but reads
Mode = Literal["full", "dry_run", "read_only"]
LimitProfile = Literal["first_run", "full"]


class HardwareOptions(Options, frozen=True):
    """The bridge to a real or emulated A1.

    Attributes:
        mode: ``full`` moves the robot; ``dry_run`` runs the whole stack and sends no torque;
            ``read_only`` reads and prints.
        link: addresses.
        tick_unit_s: length of the robot's tick. The vendor's header says microseconds, drivers
            that work read milliseconds: `saltus doctor a1` measures it.
        motions: whether a real A1 may do motions that are no gait, such as a flip, and tilt as far
            as they do (docs/hardware.md); an emulated one always may.
        limits: profile of limits: ``first_run`` lowers those of torque, slew, speed, power and
            commands; ``full`` leaves them as they are configured. Motions that are no gait need
            ``full``. None: first_run on a real A1, full on an emulated one.
        without_doctor: a real A1 moves without a pass of `saltus doctor`. Only who types that in
            the terminal of `saltus launch` sets it.
        send_every: ticks of 1 ms from one command on the wire to the next.
        connect_timeout_s: how long to wait for the first good frame.
        stand_down_patience_s: how long the tracker may stand without a plan before the robot sits
            down and ends.
        sensing: calibration of the foot sensors.
        safety: limits, last before the wire.
        motion: standing up and sitting down.
        operator: who may say what the robot does.
        black_box: where frames and logs are kept.
    """

    mode: Mode = "full"
    link: LinkOptions = LinkOptions()
    tick_unit_s: Annotated[float, Range("s", 1e-7, 1.0)] = 1e-3
    motions: bool = False
    limits: LimitProfile | None = None
    without_doctor: bool = False
    send_every: Annotated[int, Range("ticks", 1, 10)] = 1
    connect_timeout_s: Annotated[float, positive("s", 86_400.0)] = 5.0
    stand_down_patience_s: Annotated[float, Range("s", 0.0, 86_400.0)] = 1.0
    sensing: SensingOptions = SensingOptions()
    safety: HardwareSafetyOptions = HardwareSafetyOptions()
    motion: MotionOptions = MotionOptions()
    operator: OperatorOptions = OperatorOptions()
    black_box: BlackBoxOptions = BlackBoxOptions()
