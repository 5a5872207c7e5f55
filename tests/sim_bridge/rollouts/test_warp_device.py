"""What is said where Warp or its device is missing."""

import sys

import pytest

from sim_bridge.rollouts.unavailable import Unavailable
from sim_bridge.rollouts.warp_device import open_device
from tests.refusals import refusal


@pytest.mark.parametrize("package", ["warp", "mujoco_warp"])
def test_a_missing_package_names_its_remedy(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert "saltus[gpu]" in refusal(Unavailable, open_device, "auto")


def test_a_missing_device_names_those_that_are_here():
    assert "cuda:99" in refusal(Unavailable, open_device, "cuda:99")
