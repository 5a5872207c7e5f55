"""Keys as a command that holds until another key changes it."""

from __future__ import annotations

from typing import Final, NamedTuple

from hw_bridge.driver.options import Gait, KeyOptions
from runtime.messages import Command

HELP: Final = (
    "i k faster, slower; j l turn; , . sideways; 0 stand; 1 2 3 4 5 stand, walk, trot, bound, "
    "auto; + - higher, lower"
)
_MOVES: Final = {
    "i": ("forward", 1), "k": ("forward", -1), "j": ("yaw_rate", 1), "l": ("yaw_rate", -1),
    ",": ("left", 1), ".": ("left", -1),
}  # fmt: skip
_GAITS: Final[dict[str, Gait]] = {
    "1": "stand", "2": "walk", "3": "trot", "4": "bound", "5": "auto",
}  # fmt: skip
_HEIGHTS: Final = {"+": 1, "=": 1, "-": -1}  # on many keyboards = is + without shift
_STAND: Final = ("0", "1")


class CommandBounds(NamedTuple):
    """Where further presses change nothing; the planner clips what a gait cannot do."""

    forward: float  # either way [m/s]
    left: float  # either way [m/s]
    yaw_rate: float  # either way [rad/s]
    height: tuple[float, float]  # least and most [m]
    stand_height: float  # [m]


class KeyDriver:
    """The command that was typed.

    Velocities are whole numbers of steps: as many back as forth are zero exactly, which is a stand.

    Attributes:
        has_changed: since the last `command`.
    """

    def __init__(self, options: KeyOptions, bounds: CommandBounds) -> None:
        """Stand until the first key."""
        self.has_changed = False
        self._options, self._bounds = options, bounds
        self._steps = {"forward": 0, "left": 0, "yaw_rate": 0}
        self._height: float | None = None
        self._gait: Gait = "auto"
        self._sequence = 0

    def press(self, keys: str) -> None:
        """Take keys in their order; others than those of `HELP` mean nothing."""
        for key in keys:
            if key in _STAND:
                self.stand()
            if key in _MOVES:
                self._move(*_MOVES[key])
            elif key in _GAITS:
                self._gait, self.has_changed = _GAITS[key], True
            elif key in _HEIGHTS:
                self._raise(_HEIGHTS[key])

    def stand(self) -> None:
        """Ask for no velocity from now on."""
        self._steps = dict.fromkeys(self._steps, 0)
        self.has_changed = True

    def command(self, now: float) -> Command:
        """The command at `now` [s]."""
        self.has_changed, self._sequence = False, self._sequence + 1
        return Command(
            sequence=self._sequence, time=now, height=self._height, gait=self._gait,
            **{name: count * getattr(self._options, name) for name, count in self._steps.items()},
        )  # fmt: skip

    def _move(self, name: str, sign: int) -> None:
        """One step of a velocity, as far as it may go."""
        limit = int(getattr(self._bounds, name) / getattr(self._options, name) + 1e-9)
        self._steps[name] = min(limit, max(-limit, self._steps[name] + sign))
        self.has_changed = True

    def _raise(self, sign: int) -> None:
        """One step of the height; before the first it is that of the stand."""
        low, high = self._bounds.height
        height = self._bounds.stand_height if self._height is None else self._height
        self._height = min(high, max(low, height + sign * self._options.height))
        self.has_changed = True
