"""The simulated robot as the tracker sees it: a RobotBridge over the bus.

Fulfils the controller's RobotBridge protocol by its methods alone; the two folders do not know each
other.
"""

from collections.abc import Callable

from runtime.bus import Bus
from runtime.clock import Clock
from runtime.messages import MotorCommand, SensorReading
from runtime.topics import MOTOR_COMMAND, SIMULATED_READING


class SimulatedBridge:
    """Reads the simulation's sensors and sends it motor commands."""

    def __init__(
        self, bus: Bus, command_subscribers: int = 1, connect_timeout_s: float = 30.0
    ) -> None:
        """Open both topics; the bus stays the caller's to close.

        Args:
            bus: of the tracker's process.
            command_subscribers: how many will listen to commands (the simulation, and a recorder
                where there is one); lock step starts when all of them do.
            connect_timeout_s: how long lock step waits for them [s].
        """
        self._readings = bus.subscriber(SIMULATED_READING, lazy=True)
        self._commands = bus.publisher(MOTOR_COMMAND)
        self._awaited = command_subscribers
        self._connect_timeout_s = connect_timeout_s

    def read(self, clock: Clock, tick: int, stop: Callable[[], bool]) -> list[SensorReading]:
        """All readings since the last call (real time) or that of `tick` (paused, waiting for it).

        None of them when nothing new has come; in paused mode only when stopped.
        """
        if clock.paused and self._awaited:
            # A command sent before the simulation listens would be lost, and lock step with it.
            self._commands.wait_for_subscribers(self._awaited, self._connect_timeout_s, stop)
            self._awaited = 0
        if not clock.paused:
            return self._readings.all()
        reading = clock.collect(self._readings, tick, stop)
        return [] if reading is None else [reading]

    def write(self, command: MotorCommand) -> None:
        """Send a command to the simulated motors; never blocks."""
        self._commands.send(command)

    def close(self) -> None:
        """Nothing to hand back: the sockets close with their bus."""
