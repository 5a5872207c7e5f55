"""Everything that can be chosen about who drives: keys, a gamepad, the A1's own remote."""

from __future__ import annotations

from typing import Annotated, Literal

from runtime.options import Options, Range, positive

Gait = Literal["stand", "walk", "trot", "bound", "auto"]
INPUT = Range("-", 0, 255)  # number of a gamepad's axis or button


class KeyOptions(Options, frozen=True):
    """What one press of a key adds or takes away.

    Attributes:
        forward: step of the speed forward, for each key press.
        left: step of the speed to the left.
        yaw_rate: step of the rate of turn.
        height: step of the trunk's height.
    """

    forward: Annotated[float, positive("m/s", 5.0)] = 0.1
    left: Annotated[float, positive("m/s", 5.0)] = 0.05
    yaw_rate: Annotated[float, positive("rad/s", 10.0)] = 0.2
    height: Annotated[float, positive("m", 1.0)] = 0.01


class StickOptions(Options, frozen=True):
    """What the sticks of a gamepad or of the remote ask for.

    Attributes:
        forward: speed forward and back of a stick at its end.
        left: speed to either side of a stick at its end.
        yaw_rate: rate of turn of a stick at its end.
        dead_zone: share of a stick's way, from its middle, that asks for nothing.
        gait: one of stand, walk, trot, bound, or auto: chosen by speed.
    """

    forward: Annotated[float, Range("m/s", 0.0, 5.0)] = 1.0
    left: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.3
    yaw_rate: Annotated[float, Range("rad/s", 0.0, 10.0)] = 1.0
    dead_zone: Annotated[float, Range("-", 0.0, 0.99)] = 0.1
    gait: Gait = "auto"


class GamepadOptions(Options, frozen=True):
    """A gamepad's device and the numbers of its axes, from 0; `jstest DEVICE` shows them.

    The numbers set here are those of Linux's xpad driver: 0 and 1 the left stick, 2 the left
    trigger, 3 and 4 the right stick. Axes grow to the right and downwards.

    Attributes:
        device: a Linux joystick device.
        forward: axis that asks for a speed forward.
        left: axis that asks for a speed to the left.
        turn: axis that asks for a rate of turn.
        dead_man_axis: a trigger; the robot moves only while it is pulled by more than half.
        dead_man_button: a button that allows it as well, for a gamepad without such an axis; not
            one that stops (`hardware.operator.gamepad_buttons`).
    """

    device: str = "/dev/input/js0"
    forward: Annotated[int, INPUT] = 1
    left: Annotated[int, INPUT] = 0
    turn: Annotated[int, INPUT] = 3
    dead_man_axis: Annotated[int, INPUT] | None = 2
    dead_man_button: Annotated[int, INPUT] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        axes = [self.forward, self.left, self.turn]
        axes += [] if self.dead_man_axis is None else [self.dead_man_axis]
        if len(set(axes)) != len(axes):
            raise ValueError("give each use an axis of its own")
        if self.dead_man_axis is None and self.dead_man_button is None:
            raise ValueError("give dead_man_axis, dead_man_button, or both")


class SourceOptions(Options, frozen=True):
    """The devices that can drive; `drive.source` says which one does.

    Attributes:
        keys: of a keyboard.
        sticks: of the gamepad and of the A1's own remote.
        gamepad: its device and axes.
    """

    keys: KeyOptions = KeyOptions()
    sticks: StickOptions = StickOptions()
    gamepad: GamepadOptions = GamepadOptions()
