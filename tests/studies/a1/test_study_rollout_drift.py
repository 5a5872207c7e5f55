"""The study of float32 rollouts beside MuJoCo's."""

import numpy as np
import pytest
from pytest import approx

from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.threaded import ThreadedRollout
from studies.a1.rollout_drift import (
    KNOTS,
    PERIOD,
    SUBSTEPS,
    compare,
    random_motions,
    run,
)
from studies.a1.rollout_drift import drift_row as table_row
from studies.study import StudyOptions
from tests.a1 import A1


@pytest.fixture(scope="module")
def standing():
    case = next(case for case in random_motions(1, 0) if case.motion == "standing")
    return case, ThreadedRollout(A1, KNOTS, PERIOD, SUBSTEPS).roll_out(case.x0, case.policies)


def changed(batch):
    return RolloutBatch(*(part.copy() for part in batch))


def test_distances_are_those_that_were_put_in(standing):
    case, batch = standing
    other = changed(batch)
    other.states[2, -1, :3] += [0.003, 0.0, -0.004]
    other.states[2, -1, 11] -= 0.07
    other.states[2, -1, 20] += 0.5
    other.normal_forces[2, 9, 1] += 3.0
    drift = compare(case, other, batch)
    assert drift["position"][2, -1] == approx(0.005)
    assert drift["joints"][2, -1] == approx(0.07)
    assert drift["velocity"][2, -1] == approx(0.5)
    assert drift["force"][2, 9] == approx(3.0)
    assert np.count_nonzero(drift["position"]) == np.count_nonzero(drift["force"]) == 1


def test_another_choice_costs_what_mujoco_says_it_costs(standing):
    case, batch = standing
    costs = case.costs(batch)
    order = np.argsort(costs)
    other = changed(batch)
    other.finite[order[0]] = False
    drift = compare(case, other, batch)
    assert not drift["same_choice"] and not drift["same_finite"]
    assert drift["lost"] == approx(costs[order[1]] / costs[order[0]] - 1.0)
    assert table_row("m", "b", "d", [drift])["same_choice"] == 0.0


@pytest.fixture(scope="module")
def result():
    return run(StudyOptions(trials=1))


def test_drift_is_there_and_small(result):
    for row in result.rows:
        assert 0.0 < row["position_m_p50"] < 1e-5
        assert row["cost_relative_p50"] < 1e-4
