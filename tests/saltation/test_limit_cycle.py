"""Return maps, Newton's method on them, and the multipliers of the cycles it finds."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.examples.hopper import FLIGHT, hopper
from saltation.limit_cycle import find_limit_cycle, sorted_eigenvalues
from saltation.return_map import EventSection, ReturnMap
from saltation.systems import Mode, System, Transition
from tests.refusals import refusal
from tests.saltation.driven_systems import height, stay

LIFTOFF = EventSection("liftoff")


def spiral():
    """Stable cycle in three coordinates, cut by a half-plane where nothing jumps: r = 1, z = 0.

    Polar, r' = r (1 - r^2) and an angle that turns at 2 rad/s; z' = -z / 2 + (r - 1). Its
    multipliers over one period T = pi are exp(-2 T) and exp(-T / 2).
    """

    def flow(t, x, u):
        r2 = x[0] ** 2 + x[1] ** 2
        grow = 1.0 - r2
        fall = -0.5 * x[2] + (np.sqrt(r2) - 1.0)
        return np.array([x[0] * grow - 2.0 * x[1], x[1] * grow + 2.0 * x[0], fall])

    turn = [
        Transition(0, 1, height, stay, name="left", time_invariant=True),
        Transition(1, 0, lambda t, x, u: -x[0], stay, name="right", time_invariant=True),
    ]

    half = Mode("half", 3, 0, flow)
    return System({0: half, 1: half}, tuple(turn))


def collapsing():
    """A plastic event that keeps one of three coordinates: the section is a line, not a plane."""

    def flow(t, x, u):
        return np.array([1.0 + 0.1 * x[1], -0.4 * x[1] + 0.2 * x[0], 0.3 * x[1] - 0.1 * x[2]])

    def back(t, x, u):
        return np.array([0.0, 0.5 * x[1] + 0.3 * x[2], 0.0])

    edge = Transition(0, 0, lambda t, x, u: 1.0 - x[0], back, name="back", time_invariant=True)
    return System({0: Mode("only", 3, 0, flow)}, (edge,))


def test_closed_form_of_a_smooth_cycle():
    P = ReturnMap(spiral(), EventSection("right"), 1)
    cycle = find_limit_cycle(P, np.array([-0.5, -0.8, 0.3]))
    assert cycle.ok and cycle.mode == 0 and cycle.stable
    assert cycle.period == approx(np.pi, abs=1e-9)
    assert_allclose(cycle.state, [0.0, -1.0, 0.0], atol=1e-9)
    expected = [1.0, np.exp(-np.pi / 2), np.exp(-2 * np.pi)]
    assert_allclose(cycle.multipliers, expected, atol=1e-8)


@pytest.mark.parametrize("make", [spiral, collapsing])
def test_monodromy_has_the_poincare_multipliers_and_one(make):
    """3.4.3, with the section's image of full dimension and without."""
    system = make()
    P = ReturnMap(system, EventSection("right" if make is spiral else "back"), 0)
    cycle = find_limit_cycle(P, np.array([0.0, -0.8, 0.1]))
    assert cycle.ok
    both = np.append(sorted_eigenvalues(P.differences(cycle.state)), 1.0)
    assert_allclose(np.sort_complex(cycle.multipliers), np.sort_complex(both), atol=1e-7)
    F = system.modes[cycle.mode].flow(0.0, cycle.state, np.zeros(0))
    assert_allclose(cycle.monodromy @ F, F, atol=1e-8)


def test_an_event_that_never_happens_names_mode_time_and_state():
    P = ReturnMap(hopper(), EventSection("liftoff", time_limit=0.1), FLIGHT)
    cycle = find_limit_cycle(P, np.array([0.8, 0.0]))
    assert cycle.status == "no_return" and not cycle.ok and not cycle.stable
    assert "'liftoff' happened 0 of 1 times" in cycle.message
    assert "in mode flight (1) at t = 0.1 s, x = [ 0.751, -0.98 ]" in cycle.message
    assert np.all(np.isnan(cycle.monodromy)) and np.isnan(cycle.residual)


def test_a_return_map_that_only_shifts_is_singular():
    """Each return moves the second coordinate on by 0.1: no cycle, and no Newton step."""

    def on(t, x, u):
        return np.array([0.0, x[1] + 0.1])

    edge = Transition(0, 0, lambda t, x, u: 1.0 - x[0], on, name="on", time_invariant=True)
    mode = Mode("only", 2, 0, lambda t, x, u: np.array([1.0, 0.0]))
    P = ReturnMap(System({0: mode}, (edge,)), EventSection("on"), 0)
    cycle = find_limit_cycle(P, np.zeros(2))
    assert cycle.status == "singular" and "multiplier 1" in cycle.message


def driven_in(part):
    """A ball that is thrown at each landing, with a time dependence in one of its functions."""
    slow = {name: 0.3 if name == part else 0.0 for name in ("flow", "guard", "reset")}

    def flow(t, x, u):
        return np.array([x[1], -9.8 + slow["flow"] * np.sin(0.2 * t)])

    def guard(t, x, u):
        return x[0] - slow["guard"] * 1e-3 * t

    def reset(t, x, u):
        return np.array([x[0], 3.0 - 0.1 * x[1] + slow["reset"] * 0.1 * np.cos(t)])

    land = Transition(1, 1, guard, reset, name="land")
    return System({1: Mode("air", 2, 0, flow)}, (land,))


@pytest.mark.parametrize(
    "part, name", [("flow", "flow of mode 1"), ("guard", "guard of land"),
                       ("reset", "reset of land"), (None, "")],
)  # fmt: skip
def test_a_driven_system_has_no_cycle_through_an_event(part, name):
    """The next return starts at another time: its flow, guard or reset is another one."""
    P = ReturnMap(driven_in(part), EventSection("land"), 1)
    cycle = find_limit_cycle(P, np.array([0.0, 3.1]))
    assert P.time_dependence(cycle.state).startswith(name)
    if part is None:
        assert cycle.status == "ok" and P.time_dependence(cycle.state) == ""
    else:
        assert cycle.status == "driven" and not cycle.ok
        assert name in cycle.message and "PhaseSection" in cycle.message


def test_the_mode_and_the_input_of_a_return_map_are_checked():
    assert "no mode 9" in refusal(ValueError, ReturnMap, hopper(), LIFTOFF, 9)
    apex = bouncing_ball(), EventSection("apex"), FALLING
    assert "shape (3,); the system takes (1,)" in refusal(ValueError, ReturnMap, *apex, np.zeros(3))
