"""How motors warm, and what they bear."""

from typing import Annotated

from runtime.options import Options, Range


class ThermalOptions(Options, frozen=True):
    """One motor's heat, the same for all twelve: one thermal mass, warmed by torque squared.

    Unitree publishes none of this; the numbers are assumptions. With them a motor that holds
    10 N m for good ends 35 K above the air, and one that stalls at 33.5 N m warms by 0.65 K/s.

    Attributes:
        ambient: temperature of the air, and of the motors at the start.
        rise: final warming per torque squared.
        time_constant: time constant of warming and cooling.
        stop: temperature at which the firmware shuts a motor down; drivers know of 60 deg C
            (walk_in_the_park) and more.
        restart: temperature below which it works again.
    """

    ambient: Annotated[float, Range("deg C", -40.0, 127.0)] = 25.0
    rise: Annotated[float, Range("K/(N m)^2", 0.0, 1000.0)] = 0.35
    time_constant: Annotated[float, Range("s", 0.001, 1e9)] = 600.0
    stop: Annotated[float, Range("deg C", -40.0, 127.0)] = 65.0
    restart: Annotated[float, Range("deg C", -40.0, 127.0)] = 55.0

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        if not self.ambient < self.restart < self.stop:
            raise ValueError(
                f"restart is {self.restart:g}; give more than ambient, {self.ambient:g}, and less "
                f"than stop, {self.stop:g} deg C"
            )
