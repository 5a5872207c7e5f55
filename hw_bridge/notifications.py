"""Publishes the status of the bridge, and every command as it went over the wire."""

import logging
from collections.abc import Callable

from hw_bridge.intake import Intake
from hw_bridge.sent_command import as_sent
from hw_bridge.setpoints import Setpoints
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
        self, command: MotorCommand, setpoints: Setpoints, machine: StateMachine, intake: Intake,
        now: float, tick: int,
    ) -> None:  # fmt: skip
        """Publish `setpoints`, sent at `now` [s] in place of `command`, the `tick`-th."""
        try:
            self._send_command(command, setpoints, machine.state, intake)
            due = machine.state is not self._published or tick % STATUS_EVERY == 0
            if self._publish is not None and due:
                self._published = machine.state
                self._publish(robot_status(machine, intake, now, tick))
        except Exception as error:
            self.failures += 1
            if self.failures == 1:
                LOG.error("bridge: its status cannot be published: %s", error)

    def _send_command(
        self, command: MotorCommand, setpoints: Setpoints, state: RobotState, intake: Intake
    ) -> None:
        if self._sent is not None and intake.last is not None:
            self._sent(as_sent(command, setpoints, state, intake.last.numbers))
