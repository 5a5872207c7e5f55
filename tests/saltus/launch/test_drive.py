"""Driven by a script: what launches accept, and a robot that goes where it is told to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from controller.centroidal.planner import CentroidalPlanner
from saltus.configuration.launch import load_launch
from saltus.launch.assembly import gait_clock
from saltus.launch.lock_step import LockStep
from tests.tables import table


@pytest.mark.parametrize("arguments, words", table("""
    'command={velocity_x: 0.1}' --set drive.source=client => for mode realtime
    reference_from=convex_mpc => reference_from kinematic
    'command=[{at: 0.0, speed: 1.0}]' => command[0].speed
    command.speed=1.0 => command.speed
    planner=convex_mpc --set convex_mpc.period=0.03 => 0.03
    'command=[{at: 0.0, velocity_x: .nan}]' => nan
    'command=[{at: -0.1}]' => command[0].at is -0.1
    'command=[{at: .nan}]' => command[0].at is nan
    'command=[{at: 1.0}, {at: 1.0}]' => a step at 1 s follows one at 1 s
    'command=[{at: 0.0, gait: gallop}]' => command[0].gait is 'gallop'
    mode=realtime --set 'perturbations=[{kind: base_velocity, value: [0, 1, 0], \
        at: {foot: FR, phase: swing, cycle: 1}}]' => `at` in seconds
"""))  # fmt: skip
def test_a_script_that_cannot_be_followed_is_refused(arguments, words, refuses):
    refuses("launch drive --set " + arguments, words)


@pytest.mark.parametrize(
    "planner",
    ["hilqr", "convex_mpc", "instant_qp", pytest.param("ilqr_fd", marks=pytest.mark.slow)],
)
def test_the_robot_goes_where_the_script_says(planner):
    """It starts, goes sideways and turns at once, and comes to a stand."""
    script = (
        "command=[{at: 0.1, gait: trot, velocity_x: 0.4, velocity_y: 0.2, yaw_rate: 0.8},"
        " {at: 1.3, gait: stand}]"
    )
    config = load_launch("drive", [script, f"planner={planner}"], duration=2.8)
    rows = []
    metrics = LockStep(config).run(lambda tick: rows.append(tick.truth))
    assert not metrics.fell
    moving = np.mean([truth.v[[0, 1, 5]] for truth in rows[800:1200]], axis=0)
    assert_allclose(moving, [0.4, 0.2, 0.8], atol=0.06)
    still = np.abs([truth.v for truth in rows[2500:]]).max(axis=0)
    assert still[:6].max() < 0.1
    found = metrics.summary()
    assert 0.0 < found["velocity_rmse_m_s"] < 0.05 and 0.0 < found["yaw_rate_rmse_rad_s"] < 0.05
    assert 0.2 < found["cost_of_transport"] < 2.0 and 0.0 < found["foot_slip_m"] < 1.0
    # At 0.45 m/s for 1.2 s, with a way to speed and back to rest at 2 m/s^2.
    assert found["distance_m"] == approx(0.447 * 1.2, abs=0.1)


@pytest.mark.parametrize(
    "planner, timing",
    [("convex_mpc", "{solve: 0.013, estimate: 0.003}"), ("instant_qp", "{solve: 0.0}")],
)
def test_feet_swing_when_perturbations_expect_them_to(planner, timing):
    script = (
        "command=[{at: 0.1, velocity_x: 0.3, gait: walk}, {at: 0.5, gait: trot},"
        " {at: 1.4, gait: walk}]"
    )  # no stand: pushed, it steps all the same
    config = load_launch("drive", [script, f"planner={planner}", f"timing={timing}"], duration=2.0)
    clock, stack, contacts = gait_clock(config), LockStep(config), []
    assert isinstance(stack.planner, CentroidalPlanner)
    schedule = stack.planner.path.schedule
    while stack.simulation.tick < config.ticks:
        plan = stack.step().plan
        if plan is not None:
            planned = [schedule.swing(foot, plan.time) is None for foot in range(4)]
            assert_array_equal(planned, clock.contacts(plan.time))
            contacts.append(planned)
    assert not np.all(contacts, axis=0).any()  # every foot has swung
