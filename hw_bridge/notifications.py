"""Publishes the status of the bridge, and every command as it went over the wire."""

import logging
from collections.abc import Callable

from hw_bridge.intake import Intake
from hw_bridge.state_machine import StateMachine
from hw_bridge.states import RobotState
from hw_bridge.status import robot_status
from runtime.messages import MotorCommand, RobotStatus

LOG = logging.getLogger(__name__)
STATUS_EVERY = 20  # ticks


class Notifications:
    """Publishes, and raises nothing where it cannot.

    Attributes:
        failures: ticks of which status or command could not be published.
    """

    def __init__(
        self,
        publish: Callable[[RobotStatus], None] | None,
        sent: Callable[[MotorCommand], None] | None,
    ) -> None:
        """`publish` takes the status, `sent` every command; None: nobody wants to know."""
        self.failures = 0
        self._publish, self._sent = publish, sent
        self._published: RobotState | None = None  # the state that was published last

    def send(
        self, command: MotorCommand | None, machine: StateMachine, intake: Intake, now: float,
        tick: int,
    ) -> None:  # fmt: skip
        """Publish the `tick`-th command as it was sent at `now` [s]."""
        try:
            if self._sent is not None and command is not None:
                self._sent(command)
            due = machine.state is not self._published or tick % STATUS_EVERY == 0
            if self._publish is not None and due:
                self._published = machine.state
                self._publish(robot_status(machine, intake, now, tick))
        except Exception as error:
            self.failures += 1
            if self.failures == 1:
                LOG.error("bridge: its status cannot be published: %s", error)
