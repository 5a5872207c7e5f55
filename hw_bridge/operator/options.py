"""Everything that can be chosen about the operator's means."""

from typing import Annotated

from hw_bridge.driver.options import INPUT
from hw_bridge.wire.remote import BUTTONS
from runtime.options import Options, Range


class GamepadButtons(Options, frozen=True):
    """Numbers of a gamepad's buttons, from 0; `jstest DEVICE` shows them.

    The numbers set here are those of Linux's xpad driver (Documentation/input/gamepad.rst): 0 A,
    1 B, 2 X, 3 Y, 4 and 5 the shoulders, 6 back, 7 start.

    Attributes:
        stand_up: the button that stands the robot up.
        run: the button that has it run.
        sit_down: the button that sits it down.
        stop: any of these stops the robot.
    """

    stand_up: Annotated[int, INPUT] = 7
    run: Annotated[int, INPUT] = 0
    sit_down: Annotated[int, INPUT] = 2
    stop: Annotated[tuple[int, ...], INPUT] = (1, 4, 5)

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        numbers = (self.stand_up, self.run, self.sit_down, *self.stop)
        if not self.stop:
            raise ValueError("stop is []; give one button or more")
        if len(set(numbers)) != len(numbers):
            raise ValueError("give each use a button of its own")


class OperatorOptions(Options, frozen=True):
    """Who may say what the robot does.

    Attributes:
        keyboard: keys on standard input: u stand up, r run, d sit down, space, x and Esc stop.
        gamepad: path of a Linux joystick device, such as /dev/input/js0; None: no gamepad.
        gamepad_buttons: what its buttons mean.
        remote_stop: buttons of the A1's own remote that stop, each a set held together; R2 is the
            stop of unitree_ros_real, L2 and B the damping of the robot's own controller.
        silence_s: how long, while the robot is up, a terminal may leave queries of its status
            without an answer, and a gamepad may send nothing; after that the robot sits down.
        script: stand up and run without being told.
    """

    keyboard: bool = True
    gamepad: str | None = None
    gamepad_buttons: GamepadButtons = GamepadButtons()
    remote_stop: tuple[tuple[str, ...], ...] = (("R2",), ("L2", "B"))
    silence_s: Annotated[float, Range("s", 0.5, 10.0)] = 1.0
    script: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        for together in self.remote_stop:
            if not together or not set(together) <= set(BUTTONS):
                raise ValueError(
                    f"remote_stop is {[list(each) for each in self.remote_stop]}; give sets of "
                    f"{', '.join(BUTTONS)}"
                )
