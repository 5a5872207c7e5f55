"""Who drives the robot from the process that has the robot: the operator's keys, or the remote."""

from __future__ import annotations

from hw_bridge.driver.keys import KeyDriver
from hw_bridge.driver.pacer import Pacer, Publish
from hw_bridge.driver.remote import RemoteDriver
from hw_bridge.wire.remote import Remote


class Steering:
    """Publishes commands while the stack has the robot, and only then.

    Attributes:
        pacer: counts them.
    """

    def __init__(self, driver: KeyDriver | RemoteDriver, publish: Publish) -> None:
        """Silent until the robot runs."""
        self.pacer = Pacer(driver, publish)
        self._driver, self._runs = driver, False

    def press(self, keys: str) -> None:
        """Take keys that are none of the operator's; what is typed before the run is dropped."""
        if self._runs and isinstance(self._driver, KeyDriver):
            self._driver.press(keys)

    def tick(self, now: float, runs: bool, remote: Remote) -> None:
        """Publish what is due at `now` [s].

        Args:
            now: monotonic [s].
            runs: whether the stack has the robot.
            remote: its newest state.
        """
        if runs is not self._runs:
            self._begin_or_end(runs)
        if not runs:
            return
        if isinstance(self._driver, RemoteDriver):
            self._driver.take(remote)
        self.pacer.tick(now)

    def _begin_or_end(self, runs: bool) -> None:
        """A run begins with a stand, whatever was held in the one before."""
        self._runs = runs
        if isinstance(self._driver, KeyDriver):
            self._driver.stand()
