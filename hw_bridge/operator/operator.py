"""All sources of the operator's requests behind one poll.

Needs the standard library alone, for the watchdog reads keyboard and gamepad too (`Inputs`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hw_bridge.operator.gamepad import Gamepad
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.states import UP, Request, RequestWithCause, RobotState

if TYPE_CHECKING:
    from hw_bridge.options import OperatorOptions
    from hw_bridge.watchdog.link import WatchdogLink
    from hw_bridge.wire.remote import Remote


def stop_cause(buttons: Iterable[str]) -> str:
    """Words for a stop by these buttons."""
    return f"stopped by the robot's remote ({'+'.join(sorted(buttons))})"


class Inputs:
    """Reads the operator's keyboard and gamepad; one that falls silent ends the run."""

    def __init__(
        self, options: Mapping[str, Any], keyboard_fd: int,
        other_keys: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """Open what `options` name; keys come from `keyboard_fd`, and `other_keys` takes the rest.

        Args:
            options: those of `OperatorOptions` as plain data.
            keyboard_fd: an open file.
            other_keys: takes the keys that are no requests.

        Raises:
            ValueError: the gamepad cannot be opened.
        """
        silence_s, path = options["silence_s"], options["gamepad"]
        self._means: list[Gamepad | Keyboard] = []
        if path is not None:
            self._means.append(Gamepad(path, options["gamepad_buttons"], silence_s))
        if options["keyboard"]:
            self._means.append(Keyboard(keyboard_fd, other_keys, silence_s))
        self._stops: list[RequestWithCause] = []  # asked for before the robot was there

    @property
    def sources(self) -> list[int]:
        """File descriptors from which something may come."""
        return [each.fileno() for each in self._means if each.open]

    def begin(self, now: float) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From `now` on [s] a terminal that freezes is noticed. Never blocks, never raises.
        """
        for each in self._means:
            self._stops += each.begin(now)

    def poll(self, now: float, up: bool) -> list[RequestWithCause]:
        """Return the requests since the last call. Never blocks, never raises.

        Args:
            now: [s], of the clock of `begin`.
            up: whether the robot is off the ground, or on its way there.
        """
        asked, self._stops = self._stops, []
        for each in self._means:
            asked += each.poll(now, up)
        return asked

    def close(self) -> None:
        """Let go of the devices; safe to call twice."""
        for each in self._means:
            each.close()


LOG = logging.getLogger(__name__)


class Operator:
    """Keyboard and gamepad, the robot's remote and the script, as configured.

    Of the remote a set of buttons stops when it comes to be held together, or is from the start.
    """

    def __init__(
        self, options: OperatorOptions, inputs: Inputs | WatchdogLink | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`inputs` reads keys and gamepad, here or in the watchdog, by the time of `clock` [s]."""
        self._clock, self._inputs = clock, inputs
        self._stops = tuple(frozenset(buttons) for buttons in options.remote_stop)
        self._held: tuple[frozenset[str], ...] = ()  # of the sets that stop
        self._seen: Remote | None = None
        steps = {RobotState.OFF: Request.STAND_UP, RobotState.READY: Request.RUN}
        self._script = steps if options.script else {}  # asked for once each

    def begin(self) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From now on a terminal that freezes is noticed. Never blocks, never raises.
        """
        if self._inputs is not None:
            self._inputs.begin(self._clock())

    def poll(self, state: RobotState, remote: Remote | None) -> list[RequestWithCause]:
        """Return what is asked for now, stops first, each with its cause. Never raises.

        Args:
            state: of the robot.
            remote: the newest state of the robot's remote; None before the first.
        """
        asked: list[RequestWithCause] = []
        if remote is not None and remote is not self._seen:
            self._seen, before = remote, self._held
            self._held = tuple(buttons for buttons in self._stops if buttons <= remote.buttons)
            asked += [(Request.STOP, stop_cause(each)) for each in self._held if each not in before]
        if self._inputs is not None:
            asked += self._inputs.poll(self._clock(), state in UP)
        if state in self._script:
            asked.append((self._script.pop(state), ""))
        if not asked:
            return asked
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)
