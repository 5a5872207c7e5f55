"""The remote control's 40 bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.wire.remote import Remote, decode_remote


@given(st.binary(max_size=80))
def test_any_bytes_decode_to_finite_sticks(data):
    remote = decode_remote(data)
    assert all(abs(stick) < float("inf") for stick in remote[1:])
    if len(data) != 40:
        assert remote == Remote()


@pytest.mark.parametrize(
    "bits, buttons",
    [(0x0001, {"R1"}), (0x0010, {"R2"}), (0x0220, {"L2", "B"}), (0x8000, {"left"}), (0, set())],
)
def test_bits(bits, buttons):
    assert decode_remote(b"\xab\xcd" + bits.to_bytes(2, "little") + bytes(36)).buttons == buttons


def test_sticks_lie_in_the_vendors_order():
    data = bytes(4) + struct.pack("<5f", 0.5, -0.5, 0.25, 1.0, -1.0) + bytes(16)
    assert decode_remote(data) == Remote(frozenset(), lx=0.5, rx=-0.5, ry=0.25, l2=1.0, ly=-1.0)
