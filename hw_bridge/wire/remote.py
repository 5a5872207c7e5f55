"""The robot's own remote control, as LowState carries it.

Bytes 2 and 3 are the buttons, then five sticks follow (observed layout of xRockerBtnDataStruct,
unitree_legged_sdk v3.3.1 joystick.h). What the two head bytes hold is not published; nothing here
reads them.
"""

import math
import struct
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from hw_bridge.wire.layout import REMOTE_BYTES

BUTTONS: Final = (
    "R1", "L1", "start", "select", "R2", "L2", "F1", "F2",
    "A", "B", "X", "Y", "up", "right", "down", "left",
)  # fmt: skip
"""Names of the buttons, from bit 0 on."""

STICKS: Final = ("lx", "rx", "ry", "l2", "ly")
"""Names of the sticks, in their order."""

BUTTONS_AT: Final = 2
"""Where the word of its buttons stands in its bytes."""

_LAYOUT = struct.Struct("<2xH5f16x")


class Remote(NamedTuple):
    """Buttons held down, of BUTTONS, and sticks in [-1, 1]."""

    buttons: frozenset[str] = frozenset()
    lx: float = 0.0
    rx: float = 0.0
    ry: float = 0.0
    l2: float = 0.0
    ly: float = 0.0


def decode_remote(data: bytes) -> Remote:
    """Read the 40 bytes. Never raises.

    Not 40 bytes: nothing is held. A stick that is not a number is at rest.
    """
    if len(data) != REMOTE_BYTES:
        return Remote()
    bits, *sticks = _LAYOUT.unpack(data)
    held = frozenset(name for bit, name in enumerate(BUTTONS) if bits >> bit & 1)
    return Remote(held, *(stick if math.isfinite(stick) else 0.0 for stick in sticks))


def encode_remote(buttons: Iterable[str], sticks: Mapping[str, float] | None = None) -> bytes:
    """The 40 bytes of a remote with some buttons held; sticks that are not named are at rest.

    Raises:
        ValueError: a name that is not one of BUTTONS or STICKS, or a stick beyond [-1, 1].
    """
    sticks = sticks or {}
    for name, value in sticks.items():
        if name not in STICKS or not -1.0 <= value <= 1.0:
            raise ValueError(f"no stick {name!r} at {value}: {', '.join(STICKS)} go from -1 to 1")
    bits = 0
    for name in buttons:
        if name not in BUTTONS:
            raise ValueError(f"no button {name!r} on the remote; it has {', '.join(BUTTONS)}")
        bits |= 1 << BUTTONS.index(name)
    return _LAYOUT.pack(bits, *(sticks.get(name, 0.0) for name in STICKS))
