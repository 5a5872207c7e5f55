"""Feet that agree on a jump of the base's velocity, at the borders of the test."""

from typing import NamedTuple

import numpy as np
import pytest

from estimator.contacts import feet_agree_on_jump

VARIANCE, FEET = 0.01, 4.0


class Parameters(NamedTuple):
    """What the test reads."""

    jump_gate: float = 2.0
    jump_speed: float = 0.1
    jump_scatter: float = 0.5
    foot_velocity_noise: float = 0.2


def agrees(residuals: np.ndarray, trust: np.ndarray | None = None, **changes: float) -> bool:
    trust = np.ones(4) if trust is None else trust
    return feet_agree_on_jump(residuals, trust, VARIANCE, Parameters(**changes))


def all_by(speed: float) -> np.ndarray:
    return np.tile(speed * np.array([2.0, -1.0, 2.0]) / 3.0, (4, 1))


@pytest.mark.parametrize(("share", "jump"), [(0.99, False), (1.01, True)])
def test_three_axes_of_the_prediction_and_of_the_feet_make_the_gate(share, jump) -> None:
    gate = 2.0 * np.sqrt(3.0 * (VARIANCE + 0.2**2 / FEET))
    assert agrees(all_by(share * gate)) is jump
    assert agrees(all_by(share * 1.5), jump_speed=1.5) is jump  # never below this speed


@pytest.mark.parametrize(("share", "jump"), [(0.99, True), (1.01, False)])
def test_feet_that_scatter_do_not_agree(share, jump) -> None:
    residuals, apart = all_by(1.0), np.array([0.0, 2.0, 1.0]) / np.sqrt(5.0)
    for foot, sign in enumerate((1.0, -1.0, 1.0, -1.0)):
        residuals[foot] += 0.5 * share * sign * apart
    assert agrees(residuals) is jump


@pytest.mark.parametrize(("trust", "jump"), [((1, 0.4, 0, 0), False), ((1, 0.5, 0, 0), True)])
def test_it_takes_two_feet_and_the_others_do_not_count(trust, jump) -> None:
    residuals = all_by(3.0)
    residuals[2:] = -50.0
    assert agrees(residuals, np.array(trust)) is jump
