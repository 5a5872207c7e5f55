"""What is said where Warp or its device is missing, and what Warp may say by itself."""

import os
import sys

import pytest

from sim_bridge.rollouts.unavailable import Unavailable
from sim_bridge.rollouts.warp_device import _without_driver_line, open_device
from tests.refusals import refusal


@pytest.mark.parametrize("package", ["warp", "mujoco_warp"])
def test_a_missing_package_names_its_remedy(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert "saltus[gpu]" in refusal(Unavailable, open_device, "auto")


def test_a_missing_device_names_those_that_are_here():
    assert "cuda:99" in refusal(Unavailable, open_device, "cuda:99")


def test_only_the_line_about_the_driver_is_kept_back(capfd):
    with _without_driver_line():
        os.write(2, b"Warp CUDA warning: Could not find or load the NVIDIA CUDA driver. So.\n")
        os.write(2, b"Warp CUDA warning: of another kind\n")
    assert capfd.readouterr().err == "Warp CUDA warning: of another kind\n"
