"""All that may ask something of the robot, behind one poll."""

import logging
from collections.abc import Callable

from hw_bridge.operator.options import OperatorOptions
from hw_bridge.operator.remote_stop import RemoteStop
from hw_bridge.operator.script import OperatorScript
from hw_bridge.states import Request, RequestWithCause, RobotState
from hw_bridge.wire.remote import Remote

LOG = logging.getLogger(__name__)


class Operator:
    """Keyboard and gamepad, the robot's remote and the script, as configured."""

    def __init__(
        self, options: OperatorOptions,
        hands: Callable[[], list[RequestWithCause]] = lambda: [],
    ) -> None:  # fmt: skip
        """`hands` returns what keys and gamepad have asked for since its last call."""
        self._hands = hands
        self._remote_stop = RemoteStop(options.remote_stop)
        self._script = OperatorScript() if options.script else None

    def poll(self, state: RobotState, remote: Remote | None) -> list[RequestWithCause]:
        """Return what is asked for now, stops first, each with its cause. Never raises.

        Args:
            state: of the robot.
            remote: the robot's newest word of its remote; None before the first.
        """
        asked = self._remote_stop.poll(remote) + self._hands()
        if self._script is not None:
            asked += self._script.poll(state)
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)
