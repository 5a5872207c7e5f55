"""Everything that can be chosen about the operator's means."""

import msgspec

from hw_bridge.wire.remote import BUTTONS


class GamepadButtons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers of a gamepad's buttons, from 0; `jstest DEVICE` shows them.

    The numbers set here are those of Linux's xpad driver (Documentation/input/gamepad.rst): 0 A,
    1 B, 2 X, 3 Y, 4 and 5 the shoulders, 6 back, 7 start.

    Attributes:
        stand_up, run, sit_down: one button each.
        stop: any of these stops the robot.
    """

    stand_up: int = 7
    run: int = 0
    sit_down: int = 2
    stop: tuple[int, ...] = (1, 4, 5)

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        numbers = (self.stand_up, self.run, self.sit_down, *self.stop)
        if not self.stop or any(not 0 <= number <= 255 for number in numbers):
            raise ValueError(
                "operator.gamepad_buttons: expected numbers 0 to 255, one or more stop"
            )
        if len(set(numbers)) != len(numbers):
            raise ValueError("operator.gamepad_buttons: expected a button of its own for each use")


class OperatorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who may say what the robot does.

    Attributes:
        keyboard: keys on standard input: u stand up, r run, d sit down, space, x and Esc stop.
        gamepad: path of a Linux joystick device, such as /dev/input/js0; None: no gamepad.
        gamepad_buttons: what its buttons mean.
        remote_stop: buttons of the A1's own remote that stop, each a set held together; R2 is the
            stop of unitree_ros_real, L2 and B the damping of the robot's own controller.
        script: stand up and run without being told.
    """

    keyboard: bool = True
    gamepad: str | None = None
    gamepad_buttons: GamepadButtons = GamepadButtons()
    remote_stop: tuple[tuple[str, ...], ...] = (("R2",), ("L2", "B"))
    script: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        for together in self.remote_stop:
            if not together or not set(together) <= set(BUTTONS):
                raise ValueError(
                    f"operator.remote_stop: expected sets of {', '.join(BUTTONS)}, "
                    f"got {list(together)}"
                )
