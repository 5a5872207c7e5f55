"""Everything that can be chosen about who drives: keys, a gamepad, the A1's own remote."""

from __future__ import annotations

from typing import Literal

import msgspec

Gait = Literal["stand", "walk", "trot", "bound", "auto"]


class KeyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one press of a key adds or takes away.

    Attributes:
        forward, left: [m/s].
        yaw_rate: [rad/s].
        height: of the trunk [m].
    """

    forward: float = 0.1
    left: float = 0.05
    yaw_rate: float = 0.2
    height: float = 0.01

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not all(step > 0.0 for step in (self.forward, self.left, self.yaw_rate, self.height)):
            raise ValueError("sources.keys: expected steps above 0")


class StickOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the sticks of a gamepad or of the remote ask for.

    Attributes:
        forward, left: of a stick at its end, either way [m/s].
        yaw_rate: the same [rad/s].
        dead_zone: share of a stick's way, from its middle, that asks for nothing.
        gait: one of stand, walk, trot, bound, or auto: chosen by speed.
    """

    forward: float = 1.0
    left: float = 0.3
    yaw_rate: float = 1.0
    dead_zone: float = 0.1
    gait: Gait = "auto"

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        if not 0.0 <= self.dead_zone < 1.0:
            raise ValueError("sources.sticks: dead_zone must be in [0, 1)")
        if not min(self.forward, self.left, self.yaw_rate) >= 0.0:
            raise ValueError("sources.sticks: expected forward, left and yaw_rate of 0 or more")


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
