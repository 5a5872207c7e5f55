"""Scripts that drive: what is asked for at every time."""

from controller.driving.commands import CommandScript, Goal, ScriptStep
from controller.options import DriveOptions


def test_what_a_step_does_not_name_stays_as_it_was():
    script = CommandScript(
        [
            ScriptStep(0.5, velocity_x=0.4, gait="trot"),
            ScriptStep(2.0, velocity_y=-0.1, yaw_rate=0.7),
            ScriptStep(3.0, velocity_x=0.0, height=0.25, gait="walk"),
        ],
        DriveOptions(),
        "stand",
    )
    assert script.goal(0.0) == script.goal(0.499) == Goal()
    assert script.goal(0.5) == script.goal(1.999) == Goal(0.4, gait="trot")
    assert script.goal(2.0) == Goal(0.4, -0.1, 0.7, None, "trot")
    assert script.goal(3.0) == script.goal(1e9) == Goal(0.0, -0.1, 0.7, 0.25, "walk")
    assert script.newest.sequence == 3
    assert script.counts == {"accepted": 3, "clipped": 0}


def test_a_script_that_has_ended_asks_for_nothing_more():
    steps = ScriptStep(0.0, velocity_x=0.4), ScriptStep(2.0, velocity_y=0.1)
    script = CommandScript(steps, DriveOptions(), "trot")
    assert script.goal(1.0).forward == 0.4
    script.end()
    assert script.goal(1.1) == script.goal(2.1) == Goal()
