"""Footholds and swings: laws of Raibert and the capture point, continuity, early landings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from controller.centroidal.path import CommandedPath
from controller.centroidal.rigid_body import BodyObserver
from controller.centroidal.stepping import Step, Stepper
from controller.gaits import TROT, WALK
from controller.planner_options import PathOptions, SteppingOptions
from robots.conventions import GRAVITY
from robots.legs import foot_positions_in_base
from robots.rotations import exp3, quaternion_from_rotation
from tests.a1 import A1
from tests.differences import slopes

FEET = np.array([0.0, 0.0, A1.stand_height]) + foot_positions_in_base(A1.legs, A1.stand)
OBSERVER = BodyObserver(A1)
REST = Step(wait=0.0, stance=0.264, velocity=np.zeros(3))


def body(velocity=(0.0, 0.0, 0.0), yaw=0.0):
    rotation = exp3(np.array([0.0, 0.0, yaw]))
    q = np.concatenate([[0.0, 0.0, A1.stand_height], quaternion_from_rotation(rotation), A1.stand])
    v = np.concatenate([rotation.T @ np.array(velocity), np.zeros(15)])
    return OBSERVER.observe(q, v)


def test_a_body_at_rest_steps_on_the_spot():
    stepper = Stepper(SteppingOptions(press=0.0), A1, WALK)
    for foot in range(4):
        place = stepper.foothold(foot, body(), REST._replace(wait=0.1))
        assert_allclose(place, [*FEET[foot, :2], A1.legs.foot_radius], atol=1e-12)


def test_feet_do_not_step_out_of_reach_nor_across():
    options = SteppingOptions(reach=(0.2, 0.15), inward=0.05)
    stepper = Stepper(options, A1, WALK)
    for foot in range(4):
        for side in (5.0, -5.0):
            place = stepper.foothold(foot, body((5.0, side, 0.0)), REST)
            offset = place - FEET[foot]
            outward = np.sign(A1.legs.plane)[foot] * offset[1]
            assert offset[0] == approx(0.2)
            assert outward == approx(0.15 if np.sign(A1.legs.plane)[foot] * side > 0 else -0.05)


@pytest.mark.parametrize("foot", range(4))
def test_in_a_turn_stance_is_symmetric_about_the_neutral_place(foot):
    """In its middle, the body turned and moved on, the foot is where it is of a body at rest."""
    speed, rate, wait, stance = np.array([0.3, -0.1, 0.0]), 0.5, 0.2, 0.05
    stepper = Stepper(SteppingOptions(press=0.0), A1, TROT)
    step = Step(wait, stance, speed, turn=rate * wait, yaw_rate=rate)
    place = stepper.foothold(foot, body(speed), step)
    time, arc = wait + 0.5 * stance, np.zeros(3)
    for s in np.linspace(0.0, time, 1001)[:-1] + 0.0005 * time:
        arc += exp3(np.array([0.0, 0.0, rate * s])) @ speed * time / 1000
    turn = exp3(np.array([0.0, 0.0, rate * time]))
    assert_allclose((turn.T @ (place - arc))[:2], FEET[foot, :2], atol=2e-4)


def test_a_body_that_shall_accelerate_is_supported_behind_by_the_pendulums_law():
    """x'' = g / h (x - foot)."""
    stepper, acceleration = Stepper(SteppingOptions(press=0.0), A1, TROT), np.array([1, -0.4, 0])
    step = REST._replace(stance=0.0, acceleration=acceleration)
    arm = (FEET[2] - stepper.foothold(2, body(), step))[:2]
    assert_allclose(GRAVITY / A1.stand_height * arm, acceleration[:2], atol=1e-9)


def test_a_swing_runs_from_where_the_foot_left_to_the_foothold():
    stepper = Stepper(SteppingOptions(), A1, WALK)
    stepper.observe(0.0, FEET, np.ones(4))
    swing, hold = WALK.next_swing(3, 0.0), FEET[3] + np.array([0.1, 0.05, 0.0])

    def motion(share, after=0.0):
        return stepper.motion(3, swing, swing.lift_off + share * swing.duration + after, hold)

    assert_allclose(motion(0.0).position, FEET[3], atol=1e-12)
    assert_allclose(motion(1.0, -1e-12).position, hold, atol=1e-9)
    assert_allclose(motion(1.0, -1e-12).velocity, 0.0, atol=1e-7)
    assert motion(0.5).position[2] == approx(FEET[3, 2] + WALK.swing_height)
    for share in (0.2, 0.5, 0.8):
        slope = slopes(lambda t, share=share: motion(share, t).position, 0.0)
        assert_allclose(motion(share).velocity, slope, atol=1e-7)


def test_a_foot_that_finds_the_ground_early_stands_until_its_swing_would_end():
    stepper = Stepper(SteppingOptions(early=0.6), A1, WALK)
    lift = WALK.lift_off(3, 0)
    touching = np.ones(4)
    assert stepper.observe(lift - 0.01, FEET, touching)[3] == 1.0
    assert stepper.observe(lift + 0.5 * WALK.swing_duration, FEET, touching)[3] == 0.0
    late = lift + 0.7 * WALK.swing_duration
    assert stepper.observe(late, FEET, np.zeros(4))[3] == 0.0
    assert stepper.observe(late, FEET, touching)[3] == 1.0
    assert stepper.observe(late + 0.01, FEET, np.zeros(4))[3] == 1.0
    assert stepper.swing(3, lift + 0.95 * WALK.swing_duration, late) is None
    assert stepper.swing(3, lift + WALK.period + 0.01, late)  # the next swing is not cancelled


@pytest.mark.parametrize("away, back", [(0.0, 0.0), (0.1, -0.1), (-2.0, 0.3)])
def test_the_way_back_to_the_path_is_bounded_and_leads_there(away, back):
    path = CommandedPath(PathOptions(return_rate=1.0, return_speed=0.3), WALK, 0.2)
    path.meet(0.0, np.zeros(37), np.zeros(3))
    found = path.velocity(5.0, path.position(5.0) + np.array([0.0, away, 0.0]))
    assert_allclose(found, [0.2, back, 0.0], atol=1e-9)


def test_a_push_moves_the_foothold_by_the_capture_point_in_the_bodys_axes():
    stepper = Stepper(SteppingOptions(capture=1.0, reach=(9.0, 9.0), inward=9.0), A1, WALK)
    for yaw in (0.0, 0.7):
        turn = exp3(np.array([0.0, 0.0, yaw]))
        push = turn @ np.array([0.3, 0.4, 0.0])
        pushed = stepper.foothold(1, body(push, yaw), REST)
        still = stepper.foothold(1, body((0.0, 0.0, 0.0), yaw), REST)
        capture = np.sqrt(A1.stand_height / 9.81) * push
        assert_allclose((pushed - still)[:2], capture[:2], atol=1e-9)
        assert_allclose(turn.T @ still, stepper.foothold(1, body(), REST), atol=1e-9)
