"""How long the robot's tick is, measured against our clock: its unit is not published."""

from typing import Final

from hw_bridge.intake import ticks_between

LEAST_SPAN_S: Final = 0.2  # [s] of frames before their ticks say anything
UNITS_S: Final = (1e-3, 1e-6)  # [s] drivers read milliseconds, the vendor's header microseconds
LIKENESS: Final = 0.05  # by which a measurement may miss its unit
PATIENCE: Final = 50  # frames whose ticks do not go on, after which the measurement begins anew


class TickMeter:
    """Measures the tick's length: time passed over ticks passed, from the first frame on."""

    def __init__(self) -> None:
        """Nothing seen."""
        self._first: float | None = None  # arrival of the first frame [s]
        self._tick = self._ticks = self._behind = 0
        self._last = 0.0

    def take(self, tick: int, arrival: float) -> None:
        """See a frame's `tick` (u32) that arrived at `arrival` [s]."""
        ahead = ticks_between(self._tick, tick)
        if self._first is not None and ahead > 0:
            self._tick, self._last, self._behind = tick, arrival, 0
            self._ticks += ahead
            return
        self._behind += 1
        if self._first is None or self._behind > PATIENCE:  # the robot's clock may begin anew
            self._first = self._last = arrival
            self._tick, self._ticks, self._behind = tick, 0, 0

    @property
    def unit_s(self) -> float | None:
        """Length of the tick [s]; None before enough was seen, or while the tick stands still."""
        if self._first is None or not self._ticks or self._last - self._first < LEAST_SPAN_S:
            return None
        return (self._last - self._first) / self._ticks


def likely_unit(measured_s: float) -> float:
    """The unit that a measured length stands for [s]: 1 ms, 1 us, or to three digits itself."""
    for unit in UNITS_S:
        if abs(measured_s / unit - 1.0) < LIKENESS:
            return unit
    return float(f"{measured_s:.3g}")


def judge_unit(measured_s: float | None, configured_s: float) -> tuple[bool, str]:
    """Whether `hardware.tick_unit_s` fits what was measured [s], and the line that says so."""
    if measured_s is None:
        return False, "the tick stands still, or too few frames came to measure it"
    unit = likely_unit(measured_s)
    found = f"measured {1e6 * measured_s:.6g} us: {1e6 * unit:.6g} us"
    if abs(configured_s / unit - 1.0) < LIKENESS:
        return True, f"{found}, as hardware.tick_unit_s says"
    return False, (
        f"{found}, but hardware.tick_unit_s is {1e6 * configured_s:.6g} us, with which frames are "
        f"refused or dated wrongly: --set hardware.tick_unit_s={unit:g}"
    )
