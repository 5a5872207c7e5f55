"""What a film shows, before it is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saltus.configuration.launch import AT_ORIGIN, load_launch, write_config
from saltus.film.drawing import Frames
from saltus.film.film import (
    LENGTHS,
    Arrow,
    RecordedMotion,
    arrows_of_run,
    draw_arrows,
    read_motion,
)
from tests.saltus.film.fake_run import HAND_AT, HAND_PUSH, PUSH_AT, make_run

INSTANTS = st.floats(-1.0, 4.0, allow_subnormal=False)


@given(st.lists(INSTANTS, min_size=1, max_size=8, unique=True), INSTANTS)
def test_a_frame_shows_the_nearest_state_and_the_newest_plan(instants, at):
    times = np.sort(np.array(instants))
    q = np.zeros((len(times), 19))
    q[:, 0] = times
    paths = np.tile(times[:, None, None], (1, 2, 3))
    motion = RecordedMotion(times, q, False, times, paths, [])
    shown = motion.q_at(np.array([at]))[0, 0]
    assert abs(shown - at) == pytest.approx(np.abs(times - at).min())
    begun = times[times <= at]
    newest = begun[-1] if len(begun) else times[0]
    assert (motion.plan_path_at(np.array([at]))[0] == newest).all()


@pytest.mark.parametrize("estimates_only", [False, True])
def test_time_begins_with_the_run_whatever_the_clock_said(tmp_path, estimates_only):
    motion = read_motion(make_run(tmp_path / "run", estimates_only=estimates_only))
    assert motion.estimated == estimates_only
    assert motion.time == pytest.approx(np.arange(0.0, 1.005, 0.01))
    assert motion.q[:, 0] == pytest.approx(0.5 * motion.time)
    assert motion.plan_time == pytest.approx([0.5]) and motion.plan_paths.shape == (1, 51, 3)


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


@given(st.floats(0.0, 1.0), st.floats(0.05, 4.0))
def test_an_arrow_is_shown_from_its_beginning_for_a_while(length, speed):
    times = np.linspace(0.0, 2.0, 41)
    arrows = [Arrow(0.5, 0.5 + length, np.array([0.0, 0.3, 0.0]), "push"),
              Arrow(1.5, 1.9, np.zeros(3), "motors blocked")]  # fmt: skip
    frames = draw_arrows(Frames.plain(np.zeros((41, 19))), times, arrows, speed)
    shown = np.linalg.norm(frames.arrow, axis=1) > 0.0
    assert (shown == ((times >= 0.5) & (times < 0.5 + max(length, 0.6 * speed)))).all()
    assert shown.any() and (frames.arrow_label[shown] == "push").all()
    blocked = np.char.find(frames.caption, "motors blocked") >= 0
    assert blocked[times == 1.5].all() and not blocked[times < 1.5].any()


def test_without_its_launch_file_a_run_shows_pushes_by_hand_alone(tmp_path, capfd):
    run = make_run(tmp_path / "run")
    (run / "launch.yaml").write_text("planner: none of ours\n")
    assert [arrow.begin for arrow in arrows_of_run(run, read_motion(run))] == [HAND_AT]
    assert len(capfd.readouterr().err.strip().splitlines()) == 1


def test_a_force_lasts_and_comes_again(tmp_path):
    run = make_run(tmp_path / "run")
    force = "perturbations=[{kind: base_force, at: 0.1, for: 0.2, every: 0.5, value: [0, 80, 0]}]"
    write_config(load_launch("sim", [force, AT_ORIGIN]), run / "launch.yaml")
    arrows = sorted(arrows_of_run(run, read_motion(run)))[:2]
    assert [arrow.begin for arrow in arrows] == pytest.approx([0.1, 0.6])
    assert [arrow.end for arrow in arrows] == pytest.approx([0.3, 0.8])
    assert arrows[0].label == "0.10 s: 80 N"
