"""What is said where a device of Warp's is missing."""

from sim_bridge.rollouts.unavailable import Unavailable
from sim_bridge.rollouts.warp_device import open_device
from tests.refusals import refusal


def test_a_missing_device_names_those_that_are_here():
    assert "cuda:99" in refusal(Unavailable, open_device, "cuda:99")
