"""What a film shows, before it is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saltus.configuration.launch import AT_ORIGIN, load_launch, write_config
from saltus.film.film import (
    LENGTHS,
    arrows_of_run,
    read_motion,
)
from tests.saltus.film.fake_run import HAND_AT, HAND_PUSH, PUSH_AT, STEP_AT, make_run


@pytest.mark.parametrize("estimates_only", [False, True])
def test_time_begins_with_the_run_whatever_the_clock_said(tmp_path, estimates_only):
    motion = read_motion(make_run(tmp_path / "run", estimates_only=estimates_only))
    assert motion.estimated == estimates_only
    assert motion.time == pytest.approx(np.arange(0.0, 1.005, 0.01))
    assert motion.q[:, 0] == pytest.approx(0.5 * motion.time)
    assert motion.plan_time == pytest.approx([0.5]) and motion.plan_paths.shape == (1, 51, 3)
    assert motion.force[:, :, 2] == pytest.approx(np.full((101, 4), 50.0 * (not estimates_only)))
    aside = motion.plan_paths[0, STEP_AT, 1]
    assert motion.footholds == pytest.approx(np.array([[[0.18, 0.13 + aside, 0.02]]]), abs=0.02)


PUSHES = st.tuples(*[st.floats(-5.0, 5.0)] * 3).filter(lambda push: np.linalg.norm(push) > 1e-3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run") / "run")


@settings(max_examples=20)
@given(PUSHES)
def test_an_arrow_points_as_the_push_does(run, value):
    push = f"perturbations=[{{kind: base_velocity, at: {PUSH_AT}, value: {[*value]}}}]"
    write_config(load_launch("sim", [push, AT_ORIGIN]), run / "launch.yaml")
    script, hand = sorted(arrows_of_run(run, read_motion(run)))
    for arrow, push in ((script, value), (hand, HAND_PUSH)):
        assert np.cross(arrow.vector, push) == pytest.approx(np.zeros(3), abs=1e-9)
        assert arrow.vector @ np.array(push) > 0.0
        assert LENGTHS[0] - 1e-9 <= np.linalg.norm(arrow.vector) <= LENGTHS[1] + 1e-9
    assert script.begin == pytest.approx(PUSH_AT) and script.label.startswith("0.40 s: ")
    assert hand.begin == pytest.approx(HAND_AT) and hand.label == "0.80 s: 2 m/s, FL"
