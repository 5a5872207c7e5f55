"""The sticks of the A1's own remote as commands."""

from __future__ import annotations

from typing import Final

from hw_bridge.driver.options import Gait
from hw_bridge.driver.sticks import StickDriver, Sticks
from hw_bridge.wire.remote import Remote

# None of them stops the robot, alone or with another one (`OperatorOptions.remote_stop`).
GAIT_BUTTONS: Final[dict[str, Gait]] = {
    "right": "walk", "up": "trot", "left": "bound", "down": "auto",
}  # fmt: skip


class RemoteDriver(StickDriver):
    """Left stick forward and sideways, right stick turns, the cross chooses the gait.

    Sticks are taken to grow to the right and upwards; nobody publishes it (docs/hardware.md).
    """

    _remote = Remote()

    def take(self, remote: Remote) -> None:
        """Take the newest state of the remote."""
        if remote is self._remote:
            return
        self.has_changed |= remote != self._remote
        self._remote = remote
        for button, gait in GAIT_BUTTONS.items():
            if button in remote.buttons:
                self.gait = gait

    @property
    def sticks(self) -> Sticks:
        """Where the sticks are."""
        remote = self._remote
        return Sticks(forward=remote.ly, left=-remote.lx, turn=-remote.rx)
