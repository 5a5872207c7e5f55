"""Where the topics of a launch are bound, and whether these addresses are free."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runtime.bus import Bus
from runtime.endpoints import EndpointInUse, Endpoints
from runtime.rows import AVAILABLE
from runtime.topics import Topic
from saltus.common.errors import BadRequest
from saltus.configuration.launch import BusOptions


def endpoints_of(options: BusOptions, folder: Path) -> Endpoints:
    """Addresses of the topics: the options' own, or sockets in ``folder``.

    Raises:
        BadRequest: the path is too long for sockets, or the address needs keys.
    """
    try:
        if options.transport == "tcp":
            return Endpoints.tcp(options.host, options.base_port)
        folder = Path(options.folder) if options.folder else folder
        return Endpoints.ipc(folder, rows=AVAILABLE and options.transport == "ipc")
    except ValueError as error:
        raise BadRequest(f"bus: {error}") from error


def check_free(endpoints: Endpoints, topics: Iterable[Topic[Any]]) -> None:
    """Bind each of the `topics` once and let go.

    Raises:
        BadRequest: another process publishes there, or the address cannot be bound.
    """
    try:
        with Bus(endpoints) as bus:
            for topic in topics:
                bus.publisher(topic)
    except (EndpointInUse, ValueError, OSError) as error:
        raise BadRequest(f"bus: {error}") from error
