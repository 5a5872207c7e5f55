"""All sources of the operator's requests behind one poll.

Needs the standard library alone, for the watchdog reads keyboard and gamepad too (`Inputs`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from hw_bridge.operator.gamepad import Gamepad
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.states import UP, Request, RequestWithCause, RobotState

if TYPE_CHECKING:
    from hw_bridge.options import OperatorOptions
    from hw_bridge.wire.remote import Remote


class RemoteStop:
    """A stop when a set of buttons comes to be held together; held from the start counts too."""

    def __init__(self, sets: Iterable[Iterable[str]]) -> None:
        """Watch for any of the `sets` of button names."""
        self._sets = tuple(frozenset(buttons) for buttons in sets)
        self._held: tuple[frozenset[str], ...] = ()

    def poll(self, remote: Remote | None) -> list[RequestWithCause]:
        """Return a stop for each set that is held now and was not in the last call.

        Args:
            remote: the newest state of the remote; None before the first.
        """
        if remote is None:
            return []
        before = self._held
        self._held = tuple(buttons for buttons in self._sets if buttons <= remote.buttons)
        return [
            (Request.STOP, stop_cause(buttons)) for buttons in self._held if buttons not in before
        ]


def stop_cause(buttons: Iterable[str]) -> str:
    """What is said of a stop by these buttons."""
    return f"stopped by the robot's remote ({'+'.join(sorted(buttons))})"


_NEXT = {RobotState.OFF: Request.STAND_UP, RobotState.READY: Request.RUN}


class OperatorScript:
    """Asks for each step once, when the robot is ready for it."""

    def __init__(self) -> None:
        """Nothing has been asked."""
        self._asked: set[Request] = set()

    def poll(self, state: RobotState) -> list[RequestWithCause]:
        """Return the next step if the robot, in `state`, is ready for it."""
        request = _NEXT.get(state)
        if request is None or request in self._asked:
            return []
        self._asked.add(request)
        return [(request, "")]


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
        buttons: Any = SimpleNamespace(**options["gamepad_buttons"])
        self._gamepad = None if path is None else Gamepad(path, buttons, silence_s)
        self._keyboard = (
            Keyboard(keyboard_fd, other_keys, silence_s) if options["keyboard"] else None
        )
        self._stops: list[RequestWithCause] = []  # asked for before the robot was there

    @property
    def sources(self) -> list[int]:
        """File descriptors from which something may come."""
        means = (self._gamepad, self._keyboard)
        return [each.fileno() for each in means if each is not None and each.open]

    def begin(self, now: float) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From `now` on [s] a terminal that freezes is noticed. Never blocks, never raises.
        """
        if self._gamepad is not None:
            self._stops += self._gamepad.begin()
        if self._keyboard is not None:
            self._stops += self._keyboard.begin(now)

    def poll(self, now: float, up: bool) -> list[RequestWithCause]:
        """Return what has been asked for since the last call. Never blocks, never raises.

        Args:
            now: [s], of the clock of `begin`.
            up: whether the robot is off the ground, or on its way there.
        """
        asked, self._stops = self._stops, []
        if self._gamepad is not None:
            asked += self._gamepad.poll(now, up)
        if self._keyboard is not None:
            asked += self._keyboard.poll(now, up)
        return asked

    def close(self) -> None:
        """Let go of the devices; safe to call twice."""
        for each in (self._gamepad, self._keyboard):
            if each is not None:
                each.close()


LOG = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads keys and gamepad, here (`Inputs`) or in the watchdog (`WatchdogLink`)."""

    def begin(self, now: float) -> None:
        """See `Inputs`."""
        ...

    def poll(self, now: float, up: bool) -> list[RequestWithCause]:
        """See `Inputs`."""
        ...


class Operator:
    """Keyboard and gamepad, the robot's remote and the script, as configured."""

    def __init__(
        self, options: OperatorOptions, inputs: Reader | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`inputs` reads keys and gamepad, if there are any; `clock` measures their silence [s]."""
        self._clock, self._inputs = clock, inputs
        self._remote_stop = RemoteStop(options.remote_stop)
        self._script = OperatorScript() if options.script else None
        self._seen: Remote | None = None

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
        if remote is not self._seen:
            self._seen = remote
            asked += self._remote_stop.poll(remote)
        if self._inputs is not None:
            asked += self._inputs.poll(self._clock(), state in UP)
        if self._script is not None:
            asked += self._script.poll(state)
        if not asked:
            return asked
        for request, cause in asked:
            LOG.info("operator: %s%s", request, f" ({cause})" if cause else "")
        return sorted(asked, key=lambda one: one[0] is not Request.STOP)
