"""How warm the motors get, and when the firmware shuts one down."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.emulator.thermal_options import ThermalOptions

Array = NDArray[np.float64]


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
