"""All that may ask something of the robot, behind one poll."""

import logging
import time
from collections.abc import Callable
from typing import Protocol

from hw_bridge.operator.options import OperatorOptions
from hw_bridge.operator.remote_stop import RemoteStop
from hw_bridge.operator.script import OperatorScript
from hw_bridge.states import UP, Request, RequestWithCause, RobotState
from hw_bridge.wire.remote import Remote

LOG = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads keys and gamepad, here (`Hands`) or in the watchdog (`WatchdogLink`)."""

    def begin(self, now: float) -> None:
        """See `Hands`."""
        ...

    def poll(self, now: float, up: bool) -> list[RequestWithCause]:
        """See `Hands`."""
        ...


class Operator:
    """Keyboard and gamepad, the robot's remote and the script, as configured."""

    def __init__(
        self, options: OperatorOptions, hands: Reader | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`hands` read keys and gamepad, if there are any; `clock` measures their silence [s]."""
        self._clock, self._hands = clock, hands
        self._remote_stop = RemoteStop(options.remote_stop)
        self._script = OperatorScript() if options.script else None

    def begin(self) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From now on a terminal that freezes is noticed. Never blocks, never raises.
        """
        if self._hands is not None:
            self._hands.begin(self._clock())

    def poll(self, state: RobotState, remote: Remote | None) -> list[RequestWithCause]:
        """Return what is asked for now, stops first, each with its cause. Never raises.

        Args:
            state: of the robot.
            remote: the robot's newest word of its remote; None before the first.
        """
        asked = self._remote_stop.poll(remote)
        if self._hands is not None:
            asked += self._hands.poll(self._clock(), state in UP)
        if self._script is not None:
            asked += self._script.poll(state)
        if not asked:
            return asked
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)
