"""The firmware's own protection against lost commands."""

from enum import StrEnum


class FirmwareState(StrEnum):
    """What the robot does with commands."""

    WAITING = "waiting"  # for the first one
    OBEYING = "obeying"
    PROTECTED = "protected"  # brakes all motors
    OFF = "off"  # without power


class CommandWatch:
    """Brakes after a gap in the commands, and lets go only when they have become harmless.

    Users report a gap of about 30 ms (yxyang/locomotion_simulation thread 5); motor mode 0x00 is
    called "electronic braking due to disconnection protection" in unitree_legged_sdk thread 54.
    That the robot does not go on by itself where it left off is an assumption, the cautious one:
    the law may be far from the pose by then.

    Attributes:
        state: what the robot does with commands.
        history: each change: tick since the first command, state, cause.
    """

    def __init__(self, timeout_ticks: int, release_ticks: int) -> None:
        """Wait for the first command."""
        self.state = FirmwareState.WAITING
        self.history: list[tuple[int, FirmwareState, str]] = []
        self._timeout, self._release = timeout_ticks, release_ticks
        self._last = 0  # tick of the last command
        self._harmless_since: int | None = None

    def command(self, tick: int, asks_for_motion: bool) -> None:
        """A command has come in `tick`."""
        gap, self._last = tick - self._last, tick
        if self.state is FirmwareState.WAITING:
            self._enter(tick, FirmwareState.OBEYING, "the first command")
        if self.state is not FirmwareState.PROTECTED:
            return
        if asks_for_motion:
            self._harmless_since = None
        elif self._harmless_since is None or gap > self._timeout:
            self._harmless_since = tick
        elif tick - self._harmless_since >= self._release:
            self._enter(tick, FirmwareState.OBEYING, "harmless commands for long enough")

    def pass_tick(self, tick: int) -> None:
        """Look at the time without a command, at the end of `tick`."""
        if self.state is FirmwareState.OBEYING and tick - self._last >= self._timeout:
            self._harmless_since = None
            self._enter(tick, FirmwareState.PROTECTED, "no command")

    def switch_off(self, tick: int) -> None:
        """The power is gone."""
        if self.state is not FirmwareState.OFF:
            self._enter(tick, FirmwareState.OFF, "no power")

    def _enter(self, tick: int, state: FirmwareState, cause: str) -> None:
        self.state = state
        self.history.append((tick, state, cause))
