"""``saltus doctor``: which rollout backends are here, and what the others lack."""

from saltus.doctor import checks
from saltus.launch import planners
from saltus.launch.planners import Availability


def test_names_the_backends_here_and_what_the_others_lack(monkeypatch):
    found = [
        Availability("mujoco", True, "cpu"),
        Availability("warp", True, "GPU X"),
        Availability("remote", False, "nobody answers: start one"),
    ]
    monkeypatch.setattr(planners, "availability", lambda config: found)
    expected = "mujoco (cpu), warp (GPU X); remote is missing: nobody answers: start one"
    row = checks.guarded("rollouts", False, checks._rollouts)
    assert row == checks.Check("rollouts", True, False, expected)
