"""How warm the motors get, and when the firmware shuts one down."""

import msgspec
import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


class Thermal:
    """Temperatures of the twelve motors.

    Attributes:
        temperature: (12) [deg C].
        shut_down: (12) whether the firmware has shut the motor down.
    """

    def __init__(self, options: ThermalOptions) -> None:
        """Compile what is compiled; begin at the temperature of the air."""
        self._options = options
        self.temperature = np.full(12, options.ambient)
        self.shut_down = np.zeros(12, np.bool_)
        self.step(np.zeros(12), 0.0)

    def step(self, torque: Array, period: float) -> None:
        """Live through `period` [s] with torques (12) [N m]."""
        o = self._options
        _warm(
            self.temperature, self.shut_down, torque, period / o.time_constant, o.ambient, o.rise,
            o.stop, o.restart,
        )  # fmt: skip

    def heat(self, motor: int, temperature: float) -> None:
        """Set one motor's temperature [deg C]."""
        self.temperature[motor] = temperature


@njit(cache=True)
def _warm(
    temperature: Array, shut_down: NDArray[np.bool_], torque: Array, share: float, ambient: float,
    rise: float, stop: float, restart: float,
) -> None:  # fmt: skip
    """One explicit Euler step of `share` of the time constant."""
    for i in range(12):
        final = ambient + rise * torque[i] * torque[i]
        if np.isfinite(final):
            temperature[i] += share * (final - temperature[i])
        if temperature[i] >= stop:
            shut_down[i] = True
        elif temperature[i] < restart:
            shut_down[i] = False
