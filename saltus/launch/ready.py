"""What the processes of a launch wait for before they begin."""

from collections.abc import Callable

from runtime.bus import Publisher

READY_S = 150.0  # patience with the others' start
RECORDER = 1  # the supervisor listens to every topic


class NotReady(RuntimeError):
    """Something that this process needs did not come."""


def await_listeners(publisher: Publisher, count: int, stop: Callable[[], bool]) -> None:
    """Wait until `count` listeners are there, or the run is stopped.

    Raises:
        NotReady: they did not come.
    """
    if not publisher.wait_for_subscribers(count, READY_S, stop) and not stop():
        raise NotReady(f"{publisher.subscribers()} of {count} subscribers came in {READY_S:g} s")
