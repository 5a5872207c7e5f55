"""The emergency stop of the A1's own remote control, as LowState carries it."""

from collections.abc import Iterable

from hw_bridge.states import Request, RequestWithCause
from hw_bridge.wire.remote import Remote


class RemoteStop:
    """A stop when a set of buttons comes to be held together; held from the start counts too."""

    def __init__(self, sets: Iterable[Iterable[str]]) -> None:
        """Watch for any of the `sets` of button names."""
        self._sets = tuple(frozenset(buttons) for buttons in sets)
        self._held: tuple[frozenset[str], ...] = ()
        self._remote: Remote | None = None

    def poll(self, remote: Remote | None) -> list[RequestWithCause]:
        """Return a stop for each set that is held now and was not in the last call.

        Args:
            remote: the newest state of the remote; None before the first.
        """
        if remote is self._remote or remote is None:
            return []
        self._remote, before = remote, self._held
        self._held = tuple(buttons for buttons in self._sets if buttons <= remote.buttons)
        return [
            (Request.STOP, stop_cause(buttons)) for buttons in self._held if buttons not in before
        ]


def stop_cause(buttons: Iterable[str]) -> str:
    """What is said of a stop by these buttons."""
    return f"stopped by the robot's remote ({'+'.join(sorted(buttons))})"
