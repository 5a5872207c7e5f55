"""What a film shows, before it is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltus.film.frames import Frames
from saltus.film.pushes import LENGTHS, draw_pushes, pushes_of_run
from saltus.film.recorded_motion import RecordedMotion, read_motion
from sim_bridge.perturbations import BaseForce, BaseVelocity, MotorBlock
from tests.saltus.fake_run import PUSH_AT, make_run

INSTANTS = st.floats(-1.0, 4.0, allow_subnormal=False)


@given(st.lists(INSTANTS, min_size=1, max_size=8, unique=True), INSTANTS)
def test_a_frame_shows_the_nearest_state_and_the_newest_plan(instants, at):
    times = np.sort(np.array(instants))
    q = np.zeros((len(times), 19))
    q[:, 0] = times
    paths = np.tile(times[:, None, None], (1, 2, 3))
    motion = RecordedMotion(times, q, False, times, paths)
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


@given(PUSHES, st.floats(0.05, 4.0))
def test_an_arrow_points_as_the_push_does_from_its_beginning(value, speed):
    times = np.linspace(0.0, 2.0, 41)
    events = [(0.5, 0.501, BaseVelocity(0.5, value)), (1.5, 1.9, MotorBlock(1.5, 0.4))]
    frames = draw_pushes(Frames.plain(np.zeros((41, 19))), times, list(events), speed)
    shown = np.linalg.norm(frames.arrow, axis=1) > 0.0
    assert (shown == ((times >= 0.5) & (times < 0.5 + 0.6 * speed))).all() and shown.any()
    arrow, push = frames.arrow[shown][0], np.array(value)
    assert np.cross(arrow, push) == pytest.approx(np.zeros(3), abs=1e-9) and arrow @ push > 0.0
    assert LENGTHS[0] - 1e-9 <= np.linalg.norm(arrow) <= LENGTHS[1] + 1e-9
    assert frames.arrow_label[shown][0].startswith("0.50 s: ")
    blocked = np.char.find(frames.caption, "motors blocked") >= 0
    assert blocked[times == 1.5].all() and not blocked[times < 1.5].any()


def test_a_force_is_shown_as_long_as_it_lasts_and_every_time(tmp_path):
    times = np.linspace(0.0, 2.0, 201)
    force = BaseForce(0.1, (0.0, 80.0, 0.0), 1.5)
    frames = draw_pushes(Frames.plain(np.zeros((201, 19))), times, [(0.1, 1.6, force)], 1.0)
    shown = np.abs(frames.arrow[:, 1]) > 0.0
    assert shown.sum() == pytest.approx(150, abs=1) and frames.arrow_label[20] == "0.10 s: 80 N"


def test_pushes_come_from_the_launch_file_of_the_run(tmp_path, capfd):
    run = make_run(tmp_path / "run")
    ((begin, end, event),) = pushes_of_run(run, 1.0)
    assert begin == pytest.approx(PUSH_AT) and end > begin and isinstance(event, BaseVelocity)
    (run / "launch.yaml").write_text("planner: none of ours\n")
    assert pushes_of_run(run, 1.0) == []
    assert len(capfd.readouterr().err.strip().splitlines()) == 1
