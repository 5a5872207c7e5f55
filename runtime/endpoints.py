"""Addresses of topics: socket files, or TCP ports of this host."""

import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.rows import AVAILABLE
from runtime.server_address import check_address
from runtime.topics import TOPICS, Topic

LONGEST_IPC_PATH = 107  # bytes: sun_path in unix(7) is 108 with its closing zero
ROW_RATE_HZ = 1000.0  # from which a topic is in shared memory


class EndpointInUse(RuntimeError):
    """Another process publishes at this address."""

    def __init__(self, address: str, why: str = "a running process listens on it") -> None:
        super().__init__(f"{address} is occupied: {why}; stop it or choose another run folder")
        self.address = address


@dataclass(frozen=True)
class Endpoints:
    """The address of each topic; make one with `Endpoints.ipc` or `Endpoints.tcp`."""

    folder: Path | None = None
    host: str = ""
    base_port: int = 0
    has_rows: bool = False

    @classmethod
    def ipc(cls, folder: Path, rows: bool = AVAILABLE) -> "Endpoints":
        """Socket files in `folder`, and topics of 1 kHz in shared memory if `rows`.

        Raises ValueError where the paths would be too long.
        """
        endpoints = cls(folder=Path(folder).absolute(), has_rows=rows)
        for topic in TOPICS:
            endpoints.address(topic)
        return endpoints

    @classmethod
    def tcp(cls, host: str, base_port: int) -> "Endpoints":
        """Ports from `base_port` on, in the order of the topic table.

        Raises ValueError for an address other than loopback: nothing is encrypted.
        """
        host = "127.0.0.1" if host == "localhost" else f"[{host}]" if ":" in host else host
        check_address(f"tcp://{host}:{base_port}", False, "a host on it")
        return cls(host=host, base_port=base_port)

    def link(self, topic: Topic[Any]) -> Path | None:
        """Path that names the shared memory of `topic`; None where it has none."""
        if self.folder is None or not self.has_rows or topic.rate_hz < ROW_RATE_HZ:
            return None
        return self.folder / f"{topic.name}.rows"

    def address(self, topic: Topic[Any]) -> str:
        """The ZeroMQ address of `topic`. Raises ValueError for a path longer than sockets allow."""
        if self.folder is None:
            return f"tcp://{self.host}:{self.base_port + TOPICS.index(topic)}"
        path = self.folder / f"{topic.name}.ipc"
        length = len(os.fsencode(path))
        if length > LONGEST_IPC_PATH:
            raise ValueError(
                f"{path}: {length} bytes, and a socket path may have {LONGEST_IPC_PATH}; "
                "choose a shorter run folder"
            )
        return f"ipc://{path}"


def socket_file(address: str) -> Path | None:
    """The file of an ipc address, None for other transports."""
    return Path(address.removeprefix("ipc://")) if address.startswith("ipc://") else None


def make_room(address: str) -> None:
    """Make the folder of an ipc address and remove the socket file of a process that died.

    Raises EndpointInUse where a living process listens, or a file that is no socket stands. Other
    transports are left to the operating system's own check.
    """
    path = socket_file(address)
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise EndpointInUse(address, "a file that is not a socket stands there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except BlockingIOError:
            pass  # a full queue of connections still has a listener behind it
    raise EndpointInUse(address)
