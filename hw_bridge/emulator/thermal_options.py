"""How motors warm, and what they bear."""

import msgspec


class ThermalOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One motor's heat, the same for all twelve: one thermal mass, warmed by torque squared.

    Unitree publishes none of this; the numbers are assumptions. With them a motor that holds
    10 N m for good ends 35 K above the air, and one that stalls at 33.5 N m warms by 0.65 K/s.

    Attributes:
        ambient: temperature of the air, and of the motors at the start [deg C].
        rise: final warming per torque squared [K/(N m)^2].
        time_constant: of warming and cooling [s].
        stop: temperature at which the firmware shuts a motor down [deg C]; drivers know of 60
            (walk_in_the_park) and more.
        restart: it works again below this [deg C].
    """

    ambient: float = 25.0
    rise: float = 0.35
    time_constant: float = 600.0
    stop: float = 65.0
    restart: float = 55.0

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not (-40.0 <= self.ambient < self.restart < self.stop <= 127.0):
            raise ValueError("thermal: need -40 <= ambient < restart < stop <= 127 deg C")
        if not (0.0 <= self.rise < 1e3 and 0.001 <= self.time_constant < 1e9):
            raise ValueError("thermal: need rise in [0, 1e3) and time_constant in [0.001, 1e9) s")
