"""Addresses of a launch's topics, and its announcement to other terminals.

The file lies in the launch's temporary folder and is locked while the launch lives: the kernel
gives the lock back, however the launch ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
from msgspec.structs import replace

from runtime.bus import Bus
from runtime.endpoints import EndpointInUse, Endpoints
from runtime.rows import AVAILABLE
from runtime.topics import Topic
from saltus.common.console import say
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import replacing
from saltus.configuration.launch import BusOptions, LaunchConfig, make_config, write_config
from saltus.configuration.options import read_mapping


def endpoints_of(options: BusOptions, folder: Path) -> Endpoints:
    """Addresses of the topics: the options' own, or sockets in ``folder``.

    Raises:
        BadRequest: the path is too long for sockets, or the address is another host's.
    """
    with refusing("bus", ValueError):
        if options.transport == "tcp":
            return Endpoints.tcp(options.host, options.base_port)
        folder = Path(options.folder) if options.folder else folder
        return Endpoints.ipc(folder, rows=AVAILABLE and options.transport == "ipc")


def check_free(endpoints: Endpoints, topics: Iterable[Topic[Any]]) -> None:
    """Bind each of the `topics` once and let go.

    Raises:
        BadRequest: another process publishes there, or the address cannot be bound.
    """
    with refusing("bus", EndpointInUse, ValueError, OSError):
        with Bus(endpoints) as bus:
            for topic in topics:
                bus.publisher(topic)


PREFIX = "saltus-"  # of the temporary folders of launches
FILE = "launch.json"
NEXT = "next.yaml"  # the launch that a viewer asks for in its place
POLL_S = 0.2  # between two looks for a launch
REMEDY = "start one in another terminal: saltus launch sim --drive client"


class Announcement(msgspec.Struct, frozen=True):
    """Content of the file.

    Attributes:
        pid: of the launch.
        configuration: path of its launch file, every default written out.
        sockets: folder of the topics, where the launch file names none.
        is_moving: the robot moves, so all its processes listen to each other.
        fell: the robot fell; the launch waits for a viewer to begin it again.
    """

    pid: int
    configuration: str
    sockets: str
    is_moving: bool = False
    fell: bool = False


class Announcer:
    """Announces this launch until it is closed; a context manager."""

    def __init__(self, folder: Path, configuration: Path, sockets: Path) -> None:
        """Write the file into `folder`; raises OSError where there is no room."""
        self._announcement = Announcement(os.getpid(), str(configuration.absolute()), str(sockets))
        self._next = folder / NEXT
        self._file = (folder / FILE).open("wb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._size = self._file.write(msgspec.json.encode(self._announcement))

    def update(self, **changes: bool) -> None:
        """Set fields of the announcement that become true; again, nothing."""
        announcement = replace(self._announcement, **changes)
        if announcement != self._announcement:
            self._announcement = announcement
            data = msgspec.json.encode(announcement)
            os.pwrite(self._file.fileno(), data.ljust(self._size), 0)  # as long as the first

    def next(self) -> LaunchConfig | None:
        """The launch that a viewer asks for in place of this one; a bad file counts as none."""
        if not self._next.exists():
            return None
        try:
            return make_config(read_mapping(self._next), str(self._next))
        except BadRequest as error:
            say(f"the launch is not begun again: {error}")
            self._next.unlink(missing_ok=True)
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class RunningLaunch(NamedTuple):
    """A launch that announces itself."""

    file: Path
    pid: int
    config: LaunchConfig
    endpoints: Endpoints

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return _read(self.file) is not None

    @property
    def is_moving(self) -> bool:
        """Whether the robot moves."""
        return bool(getattr(_read(self.file), "is_moving", False))

    @property
    def fell(self) -> bool:
        """Whether the robot fell and the launch waits for `begin_again`."""
        return bool(getattr(_read(self.file), "fell", False))

    def begin_again(self, config: LaunchConfig) -> None:
        """Ask the launch to end and to begin again as `config`.

        Raises:
            OSError: it has ended.
        """
        with replacing(self.file.with_name(NEXT)) as part:
            write_config(config, part)


def launch_to_drive() -> RunningLaunch:
    """The newest launch of this user that clients drive.

    Raises:
        BadRequest: there is none; the message says how to start one.
    """
    launches = running_launches()
    if not launches:
        raise BadRequest(f"no launch is running; {REMEDY}")
    for launch in launches:
        if launch.config.drive.source == "client":
            return launch
    newest = launches[0]
    source = newest.config.drive.source
    by = "its own command" if source == "none" else f"its {source}"
    raise BadRequest(f"the launch of process {newest.pid} is driven by {by}; {REMEDY}")


def launch_of(process: int, stop: Callable[[], bool]) -> RunningLaunch | None:
    """The launch of a process once it announces itself; None where that ends, or at `stop()`."""
    while not stop() and Path(f"/proc/{process}").exists():
        for launch in running_launches():
            if launch.pid == process:
                return launch
        time.sleep(POLL_S)  # it compiles what it needs before it announces itself
    return None


def running_launches(folder: Path | None = None) -> list[RunningLaunch]:
    """The launches of this user that live, the newest first; `folder` is of temporary files."""
    files = (folder or Path(tempfile.gettempdir())).glob(f"{PREFIX}*/{FILE}")
    launches = [(_begin(file), launch) for file in files if (launch := _look(file)) is not None]
    return [launch for _, launch in sorted(launches, key=lambda pair: -pair[0])]


def _begin(file: Path) -> float:
    """Time at which the folder of a launch was made, or last had a file more."""
    try:
        return file.parent.stat().st_mtime
    except OSError:
        return 0.0


def _look(file: Path) -> RunningLaunch | None:
    """The launch of a file; None where it does not live, or is not ours."""
    announcement = _read(file)
    if announcement is None:
        return None
    try:
        path = Path(announcement.configuration)
        config = make_config(read_mapping(path), str(path))
        endpoints = endpoints_of(config.bus, Path(announcement.sockets))
    except (BadRequest, ValueError):  # a path that cannot be one
        return None
    return RunningLaunch(file, announcement.pid, config, endpoints)


def _read(file: Path) -> Announcement | None:
    """Announcement of a launch that still holds its lock."""
    try:
        with file.open("rb") as opened:
            if os.fstat(opened.fileno()).st_uid != os.getuid() or not _is_locked(opened.fileno()):
                return None
            return msgspec.json.decode(opened.read(), type=Announcement)
    except (OSError, ValueError):  # of JSON, of a type, of UTF-8
        return None


def _is_locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
