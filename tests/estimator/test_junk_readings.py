"""Whatever the sensors say, an estimator answers finite numbers with a sound covariance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from estimator.rows import ROW
from tests.estimator.estimators import JUDGING, PLAIN, check_covariance, fresh
from tests.estimator.fault_scenarios import Stream, sensor_row
from tests.estimator.synthetic_walk import KinematicRobot, Trot, real_noise

TICK = 1e-3
STATUSES = {"ok", "degraded", "diverged", "starting"}


def sound_rows(count: int) -> np.ndarray:
    """(count, 50) of a trot with noise."""
    robot = KinematicRobot(real_noise())
    walk, rows = Trot(robot, np.array([0.3, 0.0, 0.0])), []
    for _ in range(count):
        rows.append(sensor_row(robot.reading()))
        walk.step()
    return np.array(rows)


SOUND = sound_rows(60)
NUMBERS = st.one_of(
    st.floats(),
    st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e5, -1e5, 1e308, 5e-324]),
)
ANY_ROW = st.one_of(
    arrays(np.float64, ROW, elements=NUMBERS),
    arrays(np.float64, ROW, elements=st.floats(-40.0, 40.0)),
    st.sampled_from([0.0, 1.0, np.nan, 1e200]).map(lambda value: np.full(ROW, value)),
)
STEPS = st.one_of(st.just(TICK), st.sampled_from([0.0, 1e-9, 0.02, 0.1, 5.0, -1.0, 1e300, np.nan]))


@st.composite
def junk(draw: st.DrawFn) -> list[tuple[float, np.ndarray]]:
    """Steps of time and rows: junk, and sound readings of which some numbers are junk."""
    story = []
    for _ in range(draw(st.integers(1, 12))):
        row = draw(st.one_of(ANY_ROW, st.sampled_from(list(SOUND)))).copy()
        for _ in range(draw(st.integers(0, 3))):
            begin, end = sorted(draw(st.tuples(st.integers(0, ROW), st.integers(0, ROW))))
            row[begin:end] = draw(NUMBERS)
        story.append((draw(STEPS), row))
    return story


@pytest.mark.parametrize("name", sorted(JUDGING | PLAIN))
@given(story=junk(), lead=st.sampled_from([0, 1, 30]))
@settings(max_examples=40)
def test_junk(name: str, story: list[tuple[float, np.ndarray]], lead: int) -> None:
    estimator, time = fresh(name), 0.0
    estimator.reset()
    steps = [(TICK, row) for row in SOUND[:lead]] + story + [(TICK, row) for row in SOUND[-30:]]
    for step, row in steps:
        time = time + step if np.isfinite(time + step) else time
        stamp = np.nan if np.isnan(step) else time
        reading = Stream(np.array([stamp]), row[None], np.zeros((1, 37))).reading(0)
        estimate = estimator.update(reading)
        assert estimate.status in STATUSES
        assert np.isfinite(estimate.q).all() and np.isfinite(estimate.v).all()
        assert abs(np.linalg.norm(estimate.q[3:7]) - 1.0) < 1e-6
        assert ((estimate.contact >= 0.0) & (estimate.contact <= 1.0)).all()
        check_covariance(estimator.covariance)
        check_covariance(estimator.velocity_covariance)
