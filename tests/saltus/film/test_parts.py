"""What a film shows, before it is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from saltus.configuration.launch import AT_ORIGIN, load_launch, write_config
from saltus.film.film import LENGTHS, arrows_of_run, pictures_of
from saltus.launch.recorded import RecordedRun
from tests.saltus.film.fake_run import HAND_AT, HAND_PUSH, PUSH_AT, STEP_AT, make_run


@pytest.mark.parametrize("estimates_only", [False, True])
def test_time_begins_with_the_run_whatever_the_clock_said(tmp_path, estimates_only):
    run = RecordedRun(make_run(tmp_path / "run", estimates_only=estimates_only))
    assert run.estimated == estimates_only and run.duration == approx(1.0)
    times = np.arange(0.0, 1.005, 0.01)
    pictures = pictures_of(run, times, [""] * len(times))
    assert [each.q[0] for each in pictures] == approx(0.5 * times)
    assert [len(each.plan_path) for each in pictures] == [0] * 50 + [51] * 51
    forces = np.array([each.force[:, 2] for each in pictures])
    assert forces == approx(np.full((101, 4), 50.0 * (not estimates_only)))
    aside = pictures[60].plan_path[STEP_AT, 1]
    assert not len(pictures[40].footholds)
    assert pictures[60].footholds == approx(np.array([[0.18, 0.13 + aside, 0.02]]), abs=0.02)


PUSHES = st.tuples(*[st.floats(-5.0, 5.0)] * 3).filter(lambda push: np.linalg.norm(push) > 1e-3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run") / "run")


@settings(max_examples=20)
@given(PUSHES)
def test_an_arrow_points_as_the_push_does(run, value):
    push = f"perturbations=[{{kind: base_velocity, at: {PUSH_AT}, value: {[*value]}}}]"
    write_config(load_launch("sim", [push, AT_ORIGIN]), run / "launch.yaml")
    script, hand = sorted(arrows_of_run(RecordedRun(run)))
    for arrow, push in ((script, value), (hand, HAND_PUSH)):
        assert np.cross(arrow.vector, push) == approx(np.zeros(3), abs=1e-9)
        assert arrow.vector @ np.array(push) > 0.0
        assert LENGTHS[0] - 1e-9 <= np.linalg.norm(arrow.vector) <= LENGTHS[1] + 1e-9
    assert script.begin == approx(PUSH_AT) and script.label.startswith("0.40 s: ")
    assert hand.begin == approx(HAND_AT) and hand.label == "0.80 s: 2 m/s, FL"
