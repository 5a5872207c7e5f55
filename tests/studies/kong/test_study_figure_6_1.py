"""The study of figure 6.1: what it draws and says on candidates made up, and the whole flip."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from studies.kong.backflip.flip import KNOTS, CandidateSet, Flip, RolloutLog, flip_config
from studies.kong.backflip.poses import PoseFinder
from studies.kong.figure_6_1 import INSTANTS, criteria, flip_figure, rows_of, run
from studies.study import StudyOptions
from tests.a1 import A1

STAND = np.concatenate(([0.0, 0.0, A1.stand_height, 0.0, 0.0, 0.0, 1.0], A1.stand, np.zeros(18)))


def made_up(costs, **changes) -> Flip:
    """Three candidates that stand, the second one higher."""
    states = np.tile(STAND, (3, KNOTS + 1, 1))
    states[1, :, 2] += 0.1
    costs = np.array(costs)
    search = CandidateSet(0.46, 0.01, np.array([1.0, 0.5, 0.0]), costs, costs, states, 5.0, 2.0)
    return Flip(search, -1.0, False, False, True, 0.1)._replace(**changes)


def test_a_row_for_each_candidate_with_the_least_cost_chosen():
    rows = rows_of(made_up([np.inf, 3.0, 4.0]))
    assert [row["chosen"] for row in rows] == [False, True, False]
    assert [row["cost"] for row in rows] == [None, 3.0, 4.0]
    assert rows[1]["change_percent"] == pytest.approx(-25.0)
    assert rows[1]["height_m"] == pytest.approx(A1.stand_height + 0.1)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_all_candidates_are_drawn_at_every_instant():
    axes = flip_figure(made_up([np.inf, 3.0, 4.0])).axes
    assert len(axes) == 2 * len(INSTANTS) + 1
    assert all(len(panel.lines) == 3 * 4 for panel in axes[:-1])  # a line for each leg
    texts = [text.get_text() for text in axes[-1].texts]
    assert texts == ["4", "3 (chosen)", "diverged"]


def test_feet_of_a_pose_are_on_the_ground_where_the_a1_stands():
    pose = PoseFinder().pose(STAND[:19])
    np.testing.assert_allclose(pose.legs[:, 3, 2], 0.02, atol=2e-3)  # a foot's radius
    assert pose.head[:, 0].mean() > pose.trunk[:, 0].max()
    assert pose.legs[1, 3, 1] > 0.0 > pose.legs[0, 3, 1]  # FL is on the left


def test_criteria_say_how_the_flip_ends():
    good, bad = made_up([6.0, 3.0, 4.0]), made_up([6.0, 5.0, 4.0], fell=True, trunk_touched=True)
    assert [each.met for each in criteria(good)] == [False, True, True, True, True, True]
    assert not criteria(bad)[4].met


def test_a_log_keeps_what_was_asked_and_passes_the_rest_on():
    backend = SimpleNamespace(roll_out=lambda x0, policies: policies, round_trip_s=0.5)
    log = RolloutLog(backend)
    x0 = np.zeros(37)
    assert log.roll_out(x0, "policies") == "policies" and log.round_trip_s == 0.5
    x0[0] = 1.0  # the log has its own
    ((kept, policies),) = log.take()
    assert kept[0] == 0.0 and policies == "policies" and log.take() == []


def test_the_launch_is_the_backflip_with_one_push():
    config = flip_config(3)
    assert config.reference == "backflip" and len(config.perturbations) == 1
    assert config.simulation.seed == 3 and config.hilqr.knots == KNOTS
    assert config.hilqr.paused.line_search == "exhaustive"


@pytest.mark.slow
def test_the_pushed_flip_lands_and_its_nine_candidates_are_the_planners():
    result = run(StudyOptions())
    assert len(result.rows) == 9 and all(criterion.met for criterion in result.criteria)
    assert len(result.figures["figure-6.1"].axes) == 2 * len(INSTANTS) + 1
