"""Commands of a velocity from keys, a gamepad's sticks or the robot's own remote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from hw_bridge.operator.gamepad import AXIS, BUTTON, JoystickEvent
from hw_bridge.options import Gait, GamepadOptions, KeyOptions, StickOptions
from hw_bridge.wire.remote import Remote
from runtime.messages import Command


class Sticks(NamedTuple):
    """How far sticks are pushed, each in [-1, 1]."""

    forward: float = 0.0
    left: float = 0.0
    turn: float = 0.0  # to the left


class StickDriver:
    """The command that sticks ask for.

    Attributes:
        has_changed: since the last `command`.
        gait: of the commands.
    """

    def __init__(self, options: StickOptions | None = None) -> None:
        """All sticks in the middle."""
        self.has_changed = False
        self._options = options or StickOptions()
        self.gait: Gait = self._options.gait
        self._sequence = 0

    @property
    def sticks(self) -> Sticks:
        """Where the sticks are; in the middle where they do not count."""
        return Sticks()

    def command(self, now: float) -> Command | None:
        """The command at `now` [s]."""
        self.has_changed, self._sequence = False, self._sequence + 1
        full, sticks = self._options, self.sticks
        return Command(
            sequence=self._sequence, time=now, gait=self.gait,
            forward=full.forward * self._beyond_middle(sticks.forward),
            left=full.left * self._beyond_middle(sticks.left),
            yaw_rate=full.yaw_rate * self._beyond_middle(sticks.turn),
        )  # fmt: skip

    def _beyond_middle(self, way: float) -> float:
        """A stick's way in [-1, 1] without its dead zone: 0 there, and 1 at the end."""
        dead = self._options.dead_zone
        way = min(1.0, max(-1.0, way))
        if abs(way) <= dead:
            return 0.0
        return (way - dead if way > 0.0 else way + dead) / (1.0 - dead)


FULL: Final = 32767  # an axis at its end (Linux, joystick-api.rst)
# Some drivers report 0, the middle, of a trigger that was not touched yet.
HELD: Final = FULL // 2


class GamepadDriver(StickDriver):
    """Left stick forward and sideways, right stick turns; without the dead man a stand.

    Attributes:
        is_gone: the gamepad has gone; from then on there are no commands.
    """

    def __init__(
        self, options: GamepadOptions | None = None, sticks: StickOptions | None = None
    ) -> None:
        """Stand until the first events."""
        super().__init__(sticks)
        self.is_gone = False
        self._numbers = options or GamepadOptions()
        self._axes: dict[int, int] = {}
        self._buttons: dict[int, int] = {}

    def take(self, events: Iterable[JoystickEvent]) -> None:
        """Take events in their order."""
        before = self.sticks
        for event in events:
            if event.kind in (AXIS, BUTTON):
                state = self._axes if event.kind == AXIS else self._buttons
                state[event.number] = event.value
        self.has_changed |= self.sticks != before

    @property
    def sticks(self) -> Sticks:
        """Where the sticks are; in the middle where the dead man is not held."""
        if not self._held:
            return Sticks()
        numbers = self._numbers
        return Sticks(*(
            -self._axes.get(axis, 0) / FULL
            for axis in (numbers.forward, numbers.left, numbers.turn)
        ))  # fmt: skip

    def command(self, now: float) -> Command | None:
        """The command at `now` [s]; None once the gamepad has gone."""
        return None if self.is_gone else super().command(now)

    @property
    def _held(self) -> bool:
        axis, button = self._numbers.dead_man_axis, self._numbers.dead_man_button
        pulled = axis is not None and self._axes.get(axis, 0) > HELD
        return pulled or (button is not None and self._buttons.get(button, 0) != 0)


# None of them stops the robot, alone or with another one (`OperatorOptions.remote_stop`).
GAIT_BUTTONS: Final[dict[str, Gait]] = {
    "right": "walk", "up": "trot", "left": "bound", "down": "auto",
}  # fmt: skip


class RemoteDriver(StickDriver):
    """Left stick forward and sideways, right stick turns, the cross chooses the gait.

    Sticks are taken to grow to the right and upwards, which is not published (docs/hardware.md).
    """

    _remote = Remote()

    def take(self, remote: Remote) -> None:
        """Take the newest state of the remote."""
        if remote is self._remote:
            return
        self.has_changed |= remote != self._remote
        self._remote = remote
        for button, gait in GAIT_BUTTONS.items():
            if button in remote.buttons:
                self.gait = gait

    @property
    def sticks(self) -> Sticks:
        """Where the sticks are."""
        remote = self._remote
        return Sticks(forward=remote.ly, left=-remote.lx, turn=-remote.rx)


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
