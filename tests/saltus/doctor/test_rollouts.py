"""``saltus doctor``: which rollout backends are here, and what the others lack."""

import builtins

import pytest

from saltus.doctor import checks
from saltus.launch import planners
from saltus.launch.planners import Availability


def row():
    return checks.guarded("rollouts", False, checks._rollouts)


def test_names_the_backends_here_and_what_the_others_lack(monkeypatch):
    found = [
        Availability("mujoco", True, "cpu"),
        Availability("warp", True, "GPU X"),
        Availability("remote", False, "nobody answers: start one"),
    ]
    monkeypatch.setattr(planners, "availability", lambda config: found)
    expected = "mujoco (cpu), warp (GPU X); remote is missing: nobody answers: start one"
    assert row() == checks.Check("rollouts", True, False, expected)


@pytest.mark.parametrize("package", ["warp", "mujoco_warp"])
def test_without_the_extra_it_says_how_to_install_it(monkeypatch, package):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == package:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    found = row()
    assert found.ok and "warp is missing: the package" in found.found
    assert "pip install 'saltus[gpu]'" in found.found
