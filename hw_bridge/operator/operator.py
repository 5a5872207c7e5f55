"""All that may ask something of the robot, behind one poll."""

import logging
import time
from collections.abc import Callable

from hw_bridge.operator.options import OperatorOptions
from hw_bridge.operator.remote_stop import RemoteStop
from hw_bridge.operator.script import OperatorScript
from hw_bridge.states import UP, Request, RequestWithCause, RobotState
from hw_bridge.wire.remote import Remote

LOG = logging.getLogger(__name__)


class Operator:
    """Keyboard and gamepad, the robot's remote and the script, as configured."""

    def __init__(
        self, options: OperatorOptions, keyboard_fd: int = STANDARD_INPUT,
        other_keys: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """Open the devices; keys come from `keyboard_fd`, and `other_keys` takes the rest.

        Silence is measured by `clock` [s].

        Raises:
            ValueError: the gamepad cannot be opened.
        """
        self._clock, silence_s = clock, options.silence_s
        self._keyboard = Keyboard(keyboard_fd, other_keys, silence_s) if options.keyboard else None
        self._gamepad = (
            None if options.gamepad is None
            else Gamepad(options.gamepad, options.gamepad_buttons, silence_s)
        )  # fmt: skip
        self._remote_stop = RemoteStop(options.remote_stop)
        self._script = OperatorScript() if options.script else None
        self._stops: list[RequestWithCause] = []  # asked for before the robot was there

    def begin(self) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From now on a terminal that freezes is noticed. Never blocks, never raises.
        """
        if self._gamepad is not None:
            self._stops += self._gamepad.begin()
        if self._keyboard is not None:
            self._stops += self._keyboard.begin(self._clock())

    def poll(self, state: RobotState, remote: Remote | None) -> list[RequestWithCause]:
        """Return what is asked for now, stops first, each with its cause. Never raises.

        Args:
            state: of the robot.
            remote: the robot's newest word of its remote; None before the first.
        """
        now, up = self._clock(), state in UP
        asked, self._stops = self._stops + self._remote_stop.poll(remote), []
        if self._gamepad is not None:
            asked += self._gamepad.poll(now, up)
        if self._keyboard is not None:
            asked += self._keyboard.poll(now, up)
        if self._script is not None:
            asked += self._script.poll(state)
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)

    def close(self) -> None:
        """Let go of the devices; safe to call twice."""
        if self._keyboard is not None:
            self._keyboard.close()
        if self._gamepad is not None:
            self._gamepad.close()
