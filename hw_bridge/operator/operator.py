"""All that may ask something of the robot, behind one poll."""

import logging
from collections.abc import Callable

from hw_bridge.operator.gamepad import Gamepad
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.operator.options import OperatorOptions
from hw_bridge.operator.remote_stop import RemoteStop
from hw_bridge.operator.script import OperatorScript
from hw_bridge.states import Request, RequestWithCause, RobotState
from hw_bridge.wire.remote import Remote

LOG = logging.getLogger(__name__)
STANDARD_INPUT = 0


class Operator:
    """Keyboard, gamepad, the robot's remote and the script, as configured."""

    def __init__(
        self, options: OperatorOptions, keyboard_fd: int = STANDARD_INPUT,
        other_keys: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """Open the devices; keys come from `keyboard_fd`, and `other_keys` takes the rest.

        Raises:
            ValueError: the gamepad cannot be opened.
        """
        self._keyboard = Keyboard(keyboard_fd, other_keys) if options.keyboard else None
        self._gamepad = (
            None if options.gamepad is None else Gamepad(options.gamepad, options.gamepad_buttons)
        )
        self._remote_stop = RemoteStop(options.remote_stop)
        self._script = OperatorScript() if options.script else None

    def poll(self, state: RobotState, remote: Remote | None) -> list[RequestWithCause]:
        """Return what is asked for now, stops first, each with its cause. Never raises.

        Args:
            state: of the robot.
            remote: the robot's newest word of its remote; None before the first.
        """
        asked = self._remote_stop.poll(remote)
        if self._gamepad is not None:
            asked += self._gamepad.poll()
        if self._keyboard is not None:
            asked += self._keyboard.poll()
        if self._script is not None:
            asked += self._script.poll(state)
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)

    def close(self) -> None:
        """Let go of the gamepad; safe to call twice."""
        if self._gamepad is not None:
            self._gamepad.close()
