"""Measures of a driven robot from states whose errors are known in closed form."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from pytest import approx

from controller.driving.commands import Goal
from robots.conventions import GRAVITY
from runtime.messages import Command
from saltus.configuration.launch import load_launch
from saltus.metrics.driving import DrivingMetrics, FollowingError, GoalWatch
from saltus.metrics.run import DRIVING_MEASURES, run_metrics
from tests.a1 import A1, ground_truth, robot_status


def config_of(*assignments):
    return load_launch("drive", list(assignments))


SCRIPT = "command=[{at: 0.0, gait: trot, velocity_x: 0.4, yaw_rate: 0.5}]"


def truth(
    time, velocity, turn, work = 0.0,
    pitch = 0.0,
):  # fmt: skip
    """A rigid robot that turns at `turn` [rad/s] and moves at `velocity` [m/s] in its heading."""
    yaw, (forward, left) = turn * time, velocity
    arc = np.array([math.sin(yaw), 1.0 - math.cos(yaw)]) / turn if turn else np.array([time, 0.0])
    across = np.array([-arc[1], arc[0]])
    q = np.concatenate([
        forward * arc + left * across, [0.3, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)],
        A1.stand,
    ])  # fmt: skip
    v = np.zeros(18)
    v[:2], v[5] = velocity, turn
    if pitch:  # about the body's own y axis: the heading stays
        c, s = math.cos(pitch / 2), math.sin(pitch / 2)
        q[3:7] = -s * q[5], s * q[6], c * q[5], c * q[6]
        v[:3] = math.cos(pitch) * forward, left, math.sin(pitch) * forward
        v[3:6] = -math.sin(pitch) * turn, 0.0, math.cos(pitch) * turn
    return ground_truth(round(1e3 * time), time=time, q=q, v=v, contact=np.zeros(4), work=work)


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("pitch", [0.0, 0.3])
def test_a_steady_curve_has_known_errors_and_a_known_way(every, pitch):
    metrics = DrivingMetrics(config_of(SCRIPT))
    for tick in range(0, 4001, every):
        metrics.add(truth(1e-3 * tick, (0.43, 0.04), 0.6, pitch=pitch))
    found = metrics.summary()
    assert found["velocity_rmse_m_s"] == approx(0.05)
    assert found["yaw_rate_rmse_rad_s"] == approx(0.1)
    assert found["distance_m"] == approx(4.0 * math.hypot(0.43, 0.04), rel=1e-4)
    assert found["max_lateral_deviation_m"] is None
    assert set(DRIVING_MEASURES) < set(found)


def test_the_first_second_after_each_change_is_left_out():
    """And a window that a change cuts off."""
    error = FollowingError()
    for tick in range(6001):
        time = 1e-3 * tick
        goal = Goal(0.5, gait="trot") if time < 2.7 else Goal(1.0, gait="trot")
        since = time if time < 2.7 else time - 2.7
        wrong = 9.0 if since < 0.999 or 2.5 < time < 2.7 else 0.1
        error.add(time, goal, np.array([goal.forward + wrong, 0.0, -wrong]))
    assert error.windows == 3 + 4
    assert error.rmse() == (approx(0.1), approx(0.1))


def test_cost_of_transport_is_work_by_weight_and_way():
    metrics = DrivingMetrics(config_of(SCRIPT, "simulation.payload_mass=2.0"))
    for tick in range(2001):
        state = truth(1e-3 * tick, (0.5, 0.0), 0.0, work=7.0 + 50.0 * 1e-3 * tick)
        metrics.add(replace(state, foot_slip=0.3 + 1e-4 * tick))
    expected = 100.0 / ((A1.mass + 2.0) * GRAVITY * 1.0)
    found = metrics.summary()
    assert found["cost_of_transport"] == approx(expected) and found["foot_slip_m"] == approx(0.2)


def test_nothing_counts_after_a_fall():
    metrics = run_metrics(config_of(SCRIPT))
    for tick in range(3001):
        metrics.add_truth(truth(1e-3 * tick, (0.4, 0.0), 0.5))
    before = metrics.summary()
    metrics.fell = True
    for tick in range(3001, 4001):
        metrics.add_truth(truth(1e-3 * tick, (9.0, 0.0), 0.5))
    after = metrics.summary()
    assert after["simulated_s"] == 4.0
    assert {key: after[key] for key in DRIVING_MEASURES} == {
        key: before[key] for key in DRIVING_MEASURES
    }


def test_commands_of_a_live_source_are_clipped_and_end_in_silence():
    config = config_of("command={}", "drive.source=client", "mode=realtime")
    watch = GoalWatch(config)
    assert watch.at(100.0) == Goal()
    fast = Command(sequence=1, time=-5.0, forward=9.0, left=0.1, yaw_rate=0.0, gait="trot")
    watch.offer(fast)
    goal = watch.at(100.4)
    assert (goal.forward, goal.left, goal.gait) == (config.drive.trot.forward, 0.1, "trot")
    assert watch.at(100.4 + config.drive.silence).gait == "stand"


def test_a_robot_that_is_to_sit_down_is_to_stand_whatever_comes_after():
    watch = GoalWatch(config_of("command={}", "drive.source=client", "mode=realtime"))
    ahead = Command(sequence=1, time=0.0, forward=0.3, left=0.0, yaw_rate=0.0, gait="trot")
    watch.at(0.0)
    watch.offer(ahead)
    watch.note(robot_status("running"))
    assert watch.at(0.1) == Goal(0.3, gait="trot")
    watch.note(robot_status("running", is_ending=True))
    watch.offer(replace(ahead, sequence=2))
    assert watch.at(0.2) == Goal()


def test_a_script_is_followed_from_the_first_state_on():
    watch = GoalWatch(config_of("command=[{at: 1.0, gait: trot, velocity_x: 0.4}]"))
    assert [watch.at(50.0 + t).gait for t in (0.0, 0.999, 1.0, 9.0)] == [
        "stand", "stand", "trot", "trot",
    ]  # fmt: skip
