"""Velocity commands of keys, sticks or the remote: drivers, their devices, and the pace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from hw_bridge.operator.gamepad import AXIS, BUTTON, Joystick, JoystickEvent
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.options import Gait, GamepadOptions, KeyOptions, SourceOptions, StickOptions
from hw_bridge.states import Request
from hw_bridge.wire.remote import Remote
from runtime.messages import Command

PERIOD_S: Final = 0.02
# After a command [s]: sticks that tremble must not fill every tick of a tracker.
LEAST_S: Final = 0.005

Publish = Callable[[Command], None]


class Velocity(NamedTuple):
    """A commanded velocity, or the deflection of sticks, each in [-1, 1]."""

    forward: float = 0.0
    left: float = 0.0
    yaw_rate: float = 0.0  # to the left


class Driver:
    """Makes commands, with numbers that increase; one that asks for nothing.

    Attributes:
        has_changed: since the last `command`.
        gait: of the commands.
        height: of the trunk [m]; None: that of the gait.
    """

    has_changed, _sequence = False, 0
    height: float | None = None

    def __init__(self, gait: Gait) -> None:
        """Stand until something comes."""
        self.gait = gait

    @property
    def velocity(self) -> Velocity:
        """The velocity that is asked for [m/s], [m/s], [rad/s]."""
        return Velocity()

    def command(self, now: float) -> Command:
        """The command at `now` [s]."""
        self.has_changed, self._sequence = False, self._sequence + 1
        return Command(
            sequence=self._sequence, time=now, gait=self.gait, height=self.height,
            **self.velocity._asdict(),
        )  # fmt: skip


class Pacer:
    """Publishes the commands of a driver; raises nothing.

    Attributes:
        last: the command that was published last.
        commands: number of commands.
        failures: of these, those that could not be published.
    """

    def __init__(self, driver: Driver, publish: Publish) -> None:
        """The first command is due at once."""
        self.last: Command | None = None
        self.commands = self.failures = 0
        self._driver, self._publish = driver, publish
        self._due = self._soonest = 0.0

    def wait(self, now: float) -> float:
        """Time until the next command, unless something changes meanwhile [s]."""
        return max(0.0, (self._soonest if self._driver.has_changed else self._due) - now)

    def tick(self, now: float) -> None:
        """Publish if it is time, at `now` [s]."""
        if now < self._due and (now < self._soonest or not self._driver.has_changed):
            return
        self._due, self._soonest = now + PERIOD_S, now + LEAST_S
        self._send(self._driver.command(now))

    def end(self, now: float) -> None:
        """Ask for a stand, where there was a command: a robot need not wait for the silence."""
        if self.last is not None:
            self._send(msgspec.structs.replace(
                self.last, sequence=self.last.sequence + 1, time=now, forward=0.0, left=0.0,
                yaw_rate=0.0,
            ))  # fmt: skip

    def _send(self, command: Command) -> None:
        self.last, self.commands = command, self.commands + 1
        try:
            self._publish(command)
        except Exception:
            self.failures += 1


QUIT = "q"


class KeyDevice:
    """Keys of a terminal or of a pipe; those that stop a robot ask for a stand.

    Attributes:
        driver: what the keys drive.
        quit: q was pressed.
        loss: why nothing can come any more; empty while something can.
    """

    loss, quit = "", False

    def __init__(self, fd: int, options: KeyOptions, bounds: CommandBounds) -> None:
        """Read keys from the open file `fd`."""
        self.driver, self._keyboard = KeyDriver(options, bounds), Keyboard(fd, self._press)
        self.fileno = self._keyboard.fileno

    def poll(self) -> None:
        """Read pending events and pass them to the driver. Never blocks, never raises."""
        if any(request is Request.STOP for request, _ in self._keyboard.poll()):
            self.driver.stand()
        if not self._keyboard.open:
            self.loss = "the keyboard has gone"

    def _press(self, keys: str) -> None:
        self.quit |= QUIT in keys
        self.driver.press(keys)


class GamepadDevice:
    """A gamepad.

    Attributes:
        driver: what it drives.
        quit: never: a gamepad has no such key.
        loss: why nothing can come any more; empty while something can.
    """

    loss, quit = "", False

    def __init__(self, options: SourceOptions, device: str) -> None:
        """Open a `device` such as /dev/input/js0.

        Raises:
            ValueError: it cannot be opened.
        """
        self._joystick = Joystick(device, "--gamepad")
        self.driver = GamepadDriver(options.gamepad, options.sticks)
        self.fileno = self._joystick.fileno

    def poll(self) -> None:
        """Read pending events and pass them to the driver. Never blocks, never raises."""
        self.driver.take(self._joystick.events())
        if not self._joystick.open:
            self.loss = "the gamepad has gone"


Device = KeyDevice | GamepadDevice


class Steering:
    """Publishes commands while the stack has the robot, and only then.

    Attributes:
        pacer: counts them.
    """

    def __init__(self, driver: KeyDriver | RemoteDriver, publish: Publish) -> None:
        """Silent until the robot runs."""
        self.pacer = Pacer(driver, publish)
        self._driver, self._runs = driver, False

    def press(self, keys: str) -> None:
        """Take keys that are none of the operator's; what is typed before the run is dropped."""
        if self._runs and isinstance(self._driver, KeyDriver):
            self._driver.press(keys)

    def tick(self, now: float, runs: bool, remote: Remote) -> None:
        """Publish what is due at `now` [s].

        Args:
            now: monotonic [s].
            runs: whether the stack has the robot.
            remote: its newest state.
        """
        driver = self._driver
        if runs is not self._runs:
            self._runs = runs
            if isinstance(driver, KeyDriver):
                driver.stand()  # a run begins with a stand, whatever was held in the one before
        if not runs:
            return
        if isinstance(driver, RemoteDriver):
            driver.take(remote)
        self.pacer.tick(now)


class StickDriver(Driver):
    """The command that sticks ask for."""

    def __init__(self, options: StickOptions) -> None:
        """All sticks in the middle."""
        self._options = options
        super().__init__(options.gait)

    @property
    def sticks(self) -> Velocity:
        """Deflection of the sticks; 0 where they do not count."""
        return Velocity()

    @property
    def velocity(self) -> Velocity:
        """See `Driver`."""
        full = self._options
        forward, left, yaw_rate = map(self._beyond_middle, self.sticks)
        return Velocity(full.forward * forward, full.left * left, full.yaw_rate * yaw_rate)

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
    """Left stick forward and sideways, right stick turns; without the dead man a stand."""

    def __init__(self, options: GamepadOptions, sticks: StickOptions) -> None:
        """Stand until the first events."""
        super().__init__(sticks)
        self._numbers = options
        self._state: dict[tuple[int, int | None], int] = {}  # of axes and buttons

    def take(self, events: Iterable[JoystickEvent]) -> None:
        """Take events in their order."""
        before = self.sticks
        for event in events:
            self._state[event.kind, event.number] = event.value
        self.has_changed |= self.sticks != before

    @property
    def sticks(self) -> Velocity:
        """Deflection of the sticks; 0 where the dead man is not held."""
        numbers, state = self._numbers, self._state
        pulled = state.get((AXIS, numbers.dead_man_axis), 0) > HELD
        if not (pulled or state.get((BUTTON, numbers.dead_man_button))):
            return Velocity()
        axes = numbers.forward, numbers.left, numbers.turn
        return Velocity(*(-state.get((AXIS, axis), 0) / FULL for axis in axes))


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
    def sticks(self) -> Velocity:
        """Deflection of the sticks."""
        remote = self._remote
        return Velocity(remote.ly, -remote.lx, -remote.rx)


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
_ALL: Final = {*_MOVES, *_GAITS, *_HEIGHTS}


class CommandBounds(NamedTuple):
    """Bounds of what presses add up to; the planner clips to the gait's limits."""

    forward: float  # either way [m/s]
    left: float  # either way [m/s]
    yaw_rate: float  # either way [rad/s]
    height: tuple[float, float]  # least and most [m]
    stand_height: float  # [m]


class KeyDriver(Driver):
    """The command that was typed.

    Velocities are whole numbers of steps: as many back as forth are zero exactly, which is a stand.
    """

    def __init__(self, options: KeyOptions, bounds: CommandBounds) -> None:
        """Stand until the first key."""
        super().__init__("auto")
        self._options, self._bounds = options, bounds
        self.stand()
        self.has_changed = False

    def press(self, keys: str) -> None:
        """Take keys in their order; others than those of `HELP` mean nothing."""
        for key in keys:
            if key in _STAND:
                self.stand()
            if key in _MOVES:
                self._move(*_MOVES[key])
            elif key in _GAITS:
                self.gait = _GAITS[key]
            elif key in _HEIGHTS:  # before the first one it is that of the stand
                low, high = self._bounds.height
                height = self._bounds.stand_height if self.height is None else self.height
                height += _HEIGHTS[key] * self._options.height
                self.height = min(high, max(low, height))
            self.has_changed |= key in _ALL

    def stand(self) -> None:
        """Ask for no velocity from now on."""
        self._steps = dict.fromkeys(Velocity._fields, 0)
        self.has_changed = True

    @property
    def velocity(self) -> Velocity:
        """See `Driver`."""
        steps = self._steps.items()
        return Velocity(*(count * getattr(self._options, name) for name, count in steps))

    def _move(self, name: str, sign: int) -> None:
        """One step of a velocity, as far as it may go."""
        limit = int(getattr(self._bounds, name) / getattr(self._options, name) + 1e-9)
        self._steps[name] = min(limit, max(-limit, self._steps[name] + sign))
