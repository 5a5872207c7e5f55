"""Where the topics of a launch are bound, and whether these addresses are free."""

from pathlib import Path

from runtime.bus import Bus, Subscriber
from runtime.endpoints import EndpointInUse, Endpoints
from runtime.topics import TOPICS, Topic
from runtime.wire import MessageT
from saltus.configuration import BusOptions
from saltus.errors import BadRequest


class LockStepBus(Bus):
    """The bus of a paused process: it keeps every message until it is asked for.

    ZeroMQ's CONFLATE can miss the wake-up for a message that arrives while the reader looks
    (see ypipe_conflate.hpp): real time gets the next one a tick later, lock step waits for ever.
    """

    def subscriber(self, topic: Topic[MessageT], conflate: bool = True) -> Subscriber[MessageT]:
        """Connect to `topic`, keeping all messages, whatever `conflate` says."""
        return super().subscriber(topic, conflate=False)


def endpoints_of(options: BusOptions, folder: Path) -> Endpoints:
    """Addresses of the topics: the options' own, or sockets in ``folder``.

    Raises:
        BadRequest: the path is too long for sockets, or the address needs keys.
    """
    try:
        if options.transport == "tcp":
            return Endpoints.tcp(options.host, options.base_port)
        return Endpoints.ipc(Path(options.folder) if options.folder else folder)
    except ValueError as error:
        raise BadRequest(f"bus: {error}") from error


def check_free(endpoints: Endpoints) -> None:
    """Bind every topic once and let go.

    Raises:
        BadRequest: another process publishes there, or the address cannot be bound.
    """
    try:
        with Bus(endpoints) as bus:
            for topic in TOPICS:
                bus.publisher(topic)
    except (EndpointInUse, ValueError, OSError) as error:
        raise BadRequest(f"bus: {error}") from error
