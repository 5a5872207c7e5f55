"""The study of what a contact costs, with few starts on small beds; times are not judged."""

import numpy as np

from studies.anderson_revzen.ess_contacts import (
    FINER,
    as_accurate,
    our_errors,
    prepared,
    same_steps,
)
from studies.anderson_revzen.systems.spring_bed import SpringBed, random_starts

CONTACTS = (2, 6, 12)


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
