"""Contacts: a model that the law is not for is refused; `test_soft_step.py` has the law."""

import mujoco
import pytest

from robots.soft_contact import soft_contact_of
from tests.a1 import A1


def without_floor(spec):
    spec.delete(spec.geom("floor"))


def floor_below(spec):
    spec.geom("floor").pos = [0.0, 0.0, -0.1]


def elliptic(spec):
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC


@pytest.mark.parametrize("change", [1, 4, 6, without_floor, floor_below, elliptic])
def test_other_friction_than_sliding_and_no_plane_in_reach_are_refused(change):
    spec = A1.spec()
    if callable(change):
        change(spec)
    model = spec.compile()
    if not callable(change):
        model.geom_condim[:] = change
    with pytest.raises(ValueError):
        soft_contact_of(A1, model)
