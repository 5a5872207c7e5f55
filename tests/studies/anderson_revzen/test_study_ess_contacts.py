"""The study of what a contact costs, with few starts on small beds; times are not judged."""

import numpy as np
import pytest
from pytest import approx

from studies.anderson_revzen.ess_contacts import (
    FINER,
    as_accurate,
    calibrate,
    our_errors,
    prepared,
    rms,
    run,
    same_steps,
)
from studies.anderson_revzen.systems.spring_bed import SpringBed, random_starts
from studies.study import StudyOptions

CONTACTS = (2, 6, 12)


@pytest.fixture(scope="module")
def result():
    return run.run(StudyOptions(trials=3, seed=4), CONTACTS)


def test_no_start_is_less_accurate_than_in_mujoco(result):
    for row in result.rows:
        assert row["ours_worse"] == 0.0
        assert 0.0 < row["ours_rms"] <= row["mujoco_rms"] < 3e-3
        assert 0.1 < row["in_contact"] < 0.3


def test_the_calibration_is_as_accurate_and_no_finer_than_it_must_be():
    _, ours, mujoco, found = calibrate(falls=5)
    assert 0.8 * mujoco < ours <= mujoco
    assert rms(found["MuJoCo"], found["exact"]) == approx(2.0e-3, rel=0.1)


def test_the_precision_on_the_plate_is_the_largest_that_was_tried():
    starts = random_starts(3, np.random.default_rng(1))
    beds = [prepared(SpringBed(count), starts) for count in CONTACTS]
    epsilon = as_accurate(beds, starts, 0.02)
    assert epsilon < 0.02
    worse = [
        np.any(our_errors(b, starts, same_steps(epsilon / FINER)) > b.mujoco_rms) for b in beds
    ]
    assert any(worse)
    hopeless = [bed._replace(mujoco_rms=np.zeros(3)) for bed in beds]
    assert as_accurate(hopeless, starts, 1e-5) is None
