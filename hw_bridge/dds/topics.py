"""Topics of a Go2 as raw CDR bytes. Standard library and cyclonedds alone: the watchdog reads it.

Typed messages of Python cost a millisecond, raw bytes 20 us. And a participant of cyclonedds 11
that announces the types as Python makes them ends every peer of version 0.10.2, the robot's: that
asks for a type whose hash it does not know, and cannot read the answer. So topics announce what
`idlc` 0.10.2 makes of ``unitree_go.idl`` (``types.json``), which the robot knows. The record behind
a topic here is a stand-in; its bytes are never encoded or decoded by cyclonedds.

The frames of `hw_bridge.wire` are the vendor's C structs, over which its checksum goes. CDR has the
same numbers with other padding, after 4 bytes that say how they are encoded.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import new_class
from typing import Any, Final, NamedTuple

VERSION: Final = "11.0.1"  # whose private calls are used here
GO, API = "unitree_go.msg.dds_", "unitree_api.msg.dds_"
ENCAPSULATION: Final = bytes((0, 1, 0, 0))  # XCDR1, little endian
_NEW: Final = 127  # any sample, view and instance state

# One host without multicast, several participants of any version.
_LOOPBACK: Final = """<Domain Id="any"><General><AllowMulticast>false</AllowMulticast><Interfaces>
<NetworkInterface name="lo"/></Interfaces></General><Discovery><ParticipantIndex>auto
</ParticipantIndex><MaxAutoParticipantIndex>20</MaxAutoParticipantIndex><Peers><Peer
address="127.0.0.1"/></Peers></Discovery></Domain>"""
_NETWORK: Final = """<Domain Id="any"><General><Interfaces><NetworkInterface address="{}"/>
</Interfaces></General></Domain>"""


class Place(NamedTuple):
    """Address of a participant.

    Attributes:
        domain: of DDS, 0 on the robot.
        address: of this machine's interface to the robot; 127.0.0.1 stays on this machine.
    """

    domain: int
    address: str


def require_cyclonedds() -> None:
    """Raise ValueError where cyclonedds is missing, or another version than was tried."""
    try:
        found = version("cyclonedds")
    except PackageNotFoundError:
        raise ValueError("a Go2 speaks DDS: pip install 'saltus[go2]'") from None
    if found != VERSION:
        raise ValueError(
            f"cyclonedds {found} is installed, and only {VERSION} was tried: others may end the "
            "robot's own programs; pip install 'saltus[go2]'"
        )


class Participant:
    """A participant with raw topics. Errors while it is made are ValueErrors of one line."""

    def __init__(self, place: Place) -> None:
        """Join the domain.

        Raises:
            ValueError: cyclonedds is missing or another version, or the interface is.
        """
        require_cyclonedds()
        from cyclonedds.core import DDSException
        from cyclonedds.domain import Domain, DomainParticipant

        template = _LOOPBACK if place.address.startswith("127.") else _NETWORK
        try:
            self._domain = _domain(Domain, place.domain, template.format(place.address))
            self._participant: Any = DomainParticipant(place.domain)
        except DDSException as error:
            raise ValueError(
                f"DDS: no participant on {place.address} in domain {place.domain}: {error.msg}"
            ) from None
        self._kept: list[Any] = []

    def writer(self, topic: str, type_name: str) -> Writer:
        """A writer of raw bytes that never waits for a slow reader."""
        from cyclonedds.core import Policy, Qos
        from cyclonedds.pub import DataWriter

        qos = Qos(Policy.Reliability.Reliable(0), Policy.History.KeepLast(1))
        return Writer(DataWriter(self._participant, self._topic(topic, type_name), qos))

    def reader(self, topic: str, type_name: str, depth: int = 16) -> Reader:
        """A reader of raw bytes that keeps the newest `depth` samples."""
        from cyclonedds.core import Policy, Qos
        from cyclonedds.sub import DataReader

        qos = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(depth))
        return Reader(DataReader(self._participant, self._topic(topic, type_name), qos))

    def _topic(self, topic: str, type_name: str) -> Any:
        from cyclonedds.topic import Topic

        made = Topic(self._participant, topic, _record(type_name))
        self._kept.append(made)
        return made

    def close(self) -> None:
        """Leave the domain; safe to call twice."""
        self._kept.clear()
        self._participant = None


class Writer:
    """Sends bytes."""

    def __init__(self, writer: Any) -> None:
        """Send by a writer of cyclonedds."""
        from cyclonedds import _clayer

        self._writer, self._write = writer, _clayer.ddspy_write

    def send(self, cdr: bytes) -> bool:
        """Send one sample; False where the network did not take it."""
        return self._write(self._writer._ref, cdr) == 0


class Reader:
    """Takes bytes."""

    def __init__(self, reader: Any) -> None:
        """Take from a reader of cyclonedds."""
        from cyclonedds import _clayer
        from cyclonedds.core import ReadCondition, WaitSet

        self._reader, self._take = reader, _clayer.ddspy_take
        self._waits = WaitSet(reader.participant)
        self._condition = ReadCondition(reader, _NEW)
        self._waits.attach(self._condition)

    def take(self, most: int = 16) -> list[bytes]:
        """The samples that wait, the oldest first."""
        taken = self._take(self._reader._ref, _NEW, most)
        if isinstance(taken, int):
            return []
        return [data for data, info in taken if info.valid_data]

    def wait(self, timeout_s: float) -> bool:
        """Wait until a sample is there, at most for `timeout_s` [s]; whether there is one."""
        try:
            return self._waits.wait(round(1e9 * max(0.0, timeout_s))) > 0
        except Exception:  # it is closed
            return False


@cache
def _domain(kind: Any, number: int, configuration: str) -> Any:
    """The domain of this process, which can be configured once."""
    return kind(number, f"<CycloneDDS>{configuration}</CycloneDDS>")


def _record(type_name: str) -> Any:
    """A stand-in for a type, which announces what the vendor's compiler generates."""
    from cyclonedds.idl import IdlStruct
    from cyclonedds.idl.annotations import autoid, final
    from cyclonedds.idl.types import uint8

    blobs = json.loads((Path(__file__).parent / "types.json").read_text())[type_name]
    made = new_class(
        type_name.rpartition(".")[2], (IdlStruct,), {"typename": type_name},
        lambda body: body.update(__annotations__={"data": uint8}),
    )  # fmt: skip
    record: Any = autoid("sequential")(final(dataclass(made)))
    record.__idl__.populate()
    record.__idl__.fill_type_data()
    record.__idl__._xt_bytedata = tuple(base64.b64decode(blob) for blob in blobs)
    return record


def command_to_cdr(frame: bytes) -> bytes:
    """LowCmd of the wire (812 bytes) as CDR (812 bytes)."""
    return ENCAPSULATION + frame[:22] + frame[24:25] + bytes(1) + frame[28:]


def command_of_cdr(cdr: bytes) -> bytes:
    """The frame of a LowCmd sample."""
    numbers = cdr[4:]
    return numbers[:22] + bytes(2) + numbers[22:23] + bytes(3) + numbers[24:]


def state_to_cdr(frame: bytes) -> bytes:
    """LowState of the wire (1180 bytes) as CDR (1180 bytes)."""
    return ENCAPSULATION + frame[:77] + frame[80:81] + bytes(2) + frame[84:]


def state_of_cdr(cdr: bytes) -> bytes:
    """The frame of a LowState sample."""
    numbers = cdr[4:]
    return (
        numbers[:22] + bytes(2) + numbers[24:77] + bytes(3) + numbers[77:78] + bytes(3)
        + numbers[80:]
    )  # fmt: skip
