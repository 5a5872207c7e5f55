"""All that may ask something of the robot, behind one poll."""

import logging
import time
from collections.abc import Callable

import msgspec

from hw_bridge.operator.hands import Hands
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
        self._clock = clock
        self._hands = Hands(msgspec.to_builtins(options), keyboard_fd, other_keys)
        self._remote_stop = RemoteStop(options.remote_stop)
        self._script = OperatorScript() if options.script else None

    def begin(self) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From now on a terminal that freezes is noticed. Never blocks, never raises.
        """
        self._hands.begin(self._clock())

    def poll(self, state: RobotState, remote: Remote | None) -> list[RequestWithCause]:
        """Return what is asked for now, stops first, each with its cause. Never raises.

        Args:
            state: of the robot.
            remote: the robot's newest word of its remote; None before the first.
        """
        asked = self._remote_stop.poll(remote) + self._hands.poll(self._clock(), state in UP)
        if self._script is not None:
            asked += self._script.poll(state)
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)

    def close(self) -> None:
        """Let go of the devices; safe to call twice."""
        self._hands.close()
