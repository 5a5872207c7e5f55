"""Each fault that a system can have is found and named; sound systems have none."""

import dataclasses

import numpy as np
import pytest

from saltation.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from saltation.systems import System, Transition
from saltation.validation import check_system

SAMPLES = {FALLING: [[1.0, -0.5], [0.3, -2.0]], RISING: [[0.7, 1.0]]}


def faults(mode=None, **changed):
    """Faults of the ball with functions of mode FALLING, or of its impact, replaced."""
    ball = bouncing_ball()
    impact, apex = ball.transitions
    modes = dict(ball.modes)
    modes[FALLING] = dataclasses.replace(modes[FALLING], **(mode or {}))
    system = System(modes, (dataclasses.replace(impact, **changed), apex))
    return check_system(system, SAMPLES, t=0.5, u=np.array([0.3]))


def test_a_sound_system_has_no_faults():
    assert faults() == []
    assert check_system(bouncing_ball(), SAMPLES) == []


def flow_map(**changed):
    good = bouncing_ball().modes[FALLING].flow_map
    return {"flow_map": good._replace(**changed)}


def late(t, x, u, h):
    """The ball's closed form with twice its gravity."""
    return np.array([x[0] + h * x[1] - 9.8 * h * h, x[1] - 19.6 * h])


def no_jacobians(t, x, u, h):
    return np.zeros((2, 2)), np.zeros((2, 1))


@pytest.mark.parametrize(
    "mode, changed, words",
    [
        ({"flow": lambda t, x, u: np.ones(3)}, {}, "the flow has shape (3,) and must have (2,)"),
        ({"flow": lambda t, x, u: x * np.nan}, {}, "the flow is not finite: [nan, nan]"),
        ({"flow_state": lambda t, x, u: np.eye(2)}, {}, "flow_state is [[1., 0.],"),
        ({"flow_input": lambda t, x, u: np.ones(2)}, {}, "flow_input has shape (2,)"),
        (flow_map(state=late), {}, "the rate of flow_map.state is"),
        (flow_map(jacobians=no_jacobians), {}, "D_x of flow_map is"),
        ({}, {"guard": lambda t, x, u: np.nan}, "the guard of impact (1, 2) is not finite"),
        ({}, {"guard_state": lambda t, x, u: np.array([0.0, 1.0])}, "guard_state of impact"),
        ({}, {"guard": lambda t, x, u: x[0] - 0.1 * t}, "guard_time of impact (1, 2) is 0."),
        ({}, {"reset": lambda t, x, u: np.ones(1)}, "the reset of impact (1, 2) has shape (1,)"),
        ({}, {"reset_state": lambda t, x, u: np.eye(2)}, "reset_state of impact (1, 2) is"),
        ({}, {"reset": lambda t, x, u: np.array([x[0], -0.75 * x[1] + t])}, "reset_time of impact"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_fault_is_named_with_its_place(mode, changed, words):
    found = faults(mode, **changed)
    assert len(found) >= 2  # one for each sample of the mode
    assert any(words in line for line in found)
    assert all(line.startswith("in mode falling (1) at t = 0.5 s, x = [") for line in found)


@pytest.mark.parametrize(
    "guard",
    [lambda t, x, u: x[0] ** 2, lambda t, x, u: (x[0] + x[1]) ** 3, lambda t, x, u: 0.0 * x[0]],
)
def test_a_guard_without_a_gradient_on_it_is_not_regular(guard):
    impact = bouncing_ball().transitions[0]
    edge = Transition(1, 2, guard, impact.reset, name="soft", time_invariant=True)
    found = check_system(System(bouncing_ball().modes, (edge,)), SAMPLES)
    assert len(found) == 2
    for line in found:
        assert "the guard of soft (1, 2)" in line and "not regular (Definition 1, 5)" in line


@pytest.mark.parametrize(
    "samples, words",
    [
        ({7: [[1.0, 0.0]]}, r"no modes \[7\]"),
        ({FALLING: [[1.0, 0.0, 0.0]]}, r"\(K, 2\)"),
        ({FALLING: [1.0, 0.0]}, r"\(K, 2\)"),
    ],
)
def test_samples_that_do_not_fit_are_an_error(samples, words):
    with pytest.raises(ValueError, match=words):
        check_system(bouncing_ball(), samples)
