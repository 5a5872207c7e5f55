"""Everything that can be chosen about who drives: keys, a gamepad, the A1's own remote."""

from __future__ import annotations

from typing import Literal

import msgspec

Gait = Literal["stand", "walk", "trot", "bound", "auto"]


class Speeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Velocities in the base's heading frame, either way.

    Attributes:
        forward, left: [m/s].
        yaw_rate: [rad/s].
    """

    forward: float
    left: float
    yaw_rate: float

    def __post_init__(self) -> None:
        """Raise ValueError for a number that is not above zero."""
        if not (self.forward > 0.0 and self.left > 0.0 and self.yaw_rate > 0.0):
            raise ValueError("forward, left and yaw_rate must be above 0")


class KeyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What keys ask for.

    Attributes:
        step: one press of a key.
        most: where further presses change nothing; the planner clips what a gait cannot do.
        height_step: one press of + or - [m].
        height: least and most of the trunk's height [m].
    """

    step: Speeds = Speeds(forward=0.1, left=0.05, yaw_rate=0.2)
    most: Speeds = Speeds(forward=2.2, left=0.5, yaw_rate=1.6)
    height_step: float = 0.01
    height: tuple[float, float] = (0.2, 0.32)

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not (self.height_step > 0.0 and 0.0 < self.height[0] <= self.height[1]):
            raise ValueError("sources.keys: need height_step > 0, and height: least, then most [m]")


class StickOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the sticks of a gamepad or of the remote ask for.

    Attributes:
        full: a stick at its end.
        dead_zone: share of a stick's way, from its middle, that asks for nothing.
        gait: one of stand, walk, trot, bound, or auto: chosen by speed.
    """

    full: Speeds = Speeds(forward=1.0, left=0.3, yaw_rate=1.0)
    dead_zone: float = 0.1
    gait: Gait = "auto"

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not 0.0 <= self.dead_zone < 1.0:
            raise ValueError("sources.sticks: dead_zone must be in [0, 1)")


class GamepadOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A gamepad's device and the numbers of its axes, from 0; `jstest DEVICE` shows them.

    The numbers set here are those of Linux's xpad driver: 0 and 1 the left stick, 2 the left
    trigger, 3 and 4 the right stick. Axes grow to the right and downwards.

    Attributes:
        device: a Linux joystick device.
        forward, left, turn: axes.
        dead_man_axis: a trigger; the robot moves only while it is pulled by more than half.
        dead_man_button: a button that allows it as well, for a gamepad without such an axis; not
            one that stops (`hardware.operator.gamepad_buttons`).
    """

    device: str = "/dev/input/js0"
    forward: int = 1
    left: int = 0
    turn: int = 3
    dead_man_axis: int | None = 2
    dead_man_button: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        axes = [self.forward, self.left, self.turn]
        axes += [] if self.dead_man_axis is None else [self.dead_man_axis]
        if len(set(axes)) != len(axes):
            raise ValueError("sources.gamepad: expected an axis of its own for each use")
        if self.dead_man_axis is None and self.dead_man_button is None:
            raise ValueError("sources.gamepad: give dead_man_axis, dead_man_button, or both")
        if any(not 0 <= number <= 255 for number in (*axes, self.dead_man_button or 0)):
            raise ValueError("sources.gamepad: axes and buttons have numbers 0 to 255")


class SourceOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The devices that can drive; `drive.source` says which one does.

    Attributes:
        keys: of a keyboard.
        sticks: of the gamepad and of the A1's own remote.
        gamepad: its device and axes.
    """

    keys: KeyOptions = KeyOptions()
    sticks: StickOptions = StickOptions()
    gamepad: GamepadOptions = GamepadOptions()
