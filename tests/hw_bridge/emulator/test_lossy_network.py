"""The bad network: what goes in comes out, but for the faults that were asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from hw_bridge.emulator.network import LossyNetwork, NetworkOptions

N, ME = 4000, ("127.0.0.1", 8080)
FRAMES = [n.to_bytes(2, "little") * 20 for n in range(N)]


def carry(options, frames=FRAMES):
    """What arrives when one frame a millisecond is sent."""
    network, out = LossyNetwork(options, "in"), []
    for k, frame in enumerate(frames):
        network.push(frame, ME, 0.001 * k)
        arrived = network.pop(0.001 * k)
        assert all(peer == ME for _, peer in arrived)
        out += [data for data, _ in arrived]
    out += [data for data, _ in network.pop(1e9)]
    counts = network.counts
    assert len(out) == counts["passed"] == len(frames) - counts["lost"] + counts["duplicated"]
    return out


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.1), st.integers(0, 2**31))
def test_without_corruption_only_sent_frames_arrive_at_most_twice(
    loss, duplicate, reorder, jitter, seed
):
    options = NetworkOptions(
        loss=loss, duplicate=duplicate, reorder=reorder, jitter_s=jitter, seed=seed
    )
    sent = FRAMES[:50]
    arrived = Counter(carry(options, sent))
    assert set(arrived) <= set(sent) and max(arrived.values(), default=0) <= 2
    if loss == 0.0:
        assert set(arrived) == set(sent)


@pytest.mark.parametrize(
    "options, expected", [(NetworkOptions(loss=0.05), 0.95), (NetworkOptions(duplicate=0.2), 1.2)]
)
def test_rates_are_those_asked_for(options, expected):
    assert len(carry(options)) / N == approx(expected, abs=0.015)


def test_corruption_flips_one_to_eight_bits_and_no_more():
    out = carry(NetworkOptions(corrupt=1.0))
    for sent, arrived in zip(FRAMES, out, strict=True):
        flipped = int.from_bytes(sent, "little") ^ int.from_bytes(arrived, "little")
        assert flipped.bit_count() <= 8  # the same bit twice is none
    assert sum(a != b for a, b in zip(FRAMES, out, strict=True)) > 0.95 * N


def test_a_cut_lets_nothing_in_and_what_is_under_way_arrives():
    network = LossyNetwork(NetworkOptions(jitter_s=0.01), "out")
    network.push(b"before", ME, 0.0)
    network.is_cut = True
    network.push(b"during", ME, 0.001)
    network.is_cut = False
    network.push(b"after", ME, 0.002)
    assert {frame for frame, _ in network.pop(1.0)} == {b"before", b"after"}
    assert network.counts["cut"] == 1
