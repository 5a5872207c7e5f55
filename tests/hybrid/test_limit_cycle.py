"""Return maps, Newton's method on them, and the multipliers of the cycles it finds."""

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.examples.hopper import FLIGHT, hopper
from hybrid.limit_cycle import (
    find_limit_cycle,
    monodromy,
    multipliers,
    nontrivial_multipliers,
    sorted_eigenvalues,
)
from hybrid.poincare import EventSection, PhaseSection, return_map
from hybrid.return_derivative import linear_return, poincare_jacobian, section_basis
from hybrid.systems import Mode, System, Transition
from saltus.studies.systems.rimless_wheel import ROLLING, rimless_wheel, rolling_cycle

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

    def stay(t, x, u):
        return x.copy()

    turn = [
        Transition(0, 1, lambda t, x, u: x[0], stay, name="left", time_invariant=True),
        Transition(1, 0, lambda t, x, u: -x[0], stay, name="right", time_invariant=True),
    ]

    def flow_state(t, x, u):
        grow, r = 1.0 - x[0] ** 2 - x[1] ** 2, np.hypot(x[0], x[1])
        return np.array(
            [
                [grow - 2.0 * x[0] ** 2, -2.0 * x[0] * x[1] - 2.0, 0.0],
                [2.0 - 2.0 * x[0] * x[1], grow - 2.0 * x[1] ** 2, 0.0],
                [x[0] / r, x[1] / r, -0.5],
            ]
        )

    half = Mode("half", 3, 0, flow, flow_state)
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
    section = EventSection("right")
    cycle = find_limit_cycle(spiral(), 1, np.array([-0.5, -0.8, 0.3]), section)
    assert cycle.ok and cycle.mode == 0 and cycle.stable
    assert cycle.period == pytest.approx(np.pi, abs=1e-9)
    np.testing.assert_allclose(cycle.state, [0.0, -1.0, 0.0], atol=1e-9)
    expected = [1.0, np.exp(-np.pi / 2), np.exp(-2 * np.pi)]
    np.testing.assert_allclose(multipliers(cycle), expected, atol=1e-8)


@pytest.mark.parametrize("make", [spiral, collapsing])
def test_monodromy_has_the_poincare_multipliers_and_one(make):
    """3.4.3, with the section's image of full dimension and without."""
    system = make()
    section = EventSection("right" if make is spiral else "back")
    cycle = find_limit_cycle(system, 0, np.array([0.0, -0.8, 0.1]), section)
    assert cycle.ok
    at = poincare_jacobian(system, section, cycle.mode, cycle.state)
    both = np.append(sorted_eigenvalues(at), 1.0)
    np.testing.assert_allclose(
        np.sort_complex(multipliers(cycle)), np.sort_complex(both), atol=1e-7
    )
    F = system.modes[cycle.mode].flow(0.0, cycle.state, np.zeros(0))
    np.testing.assert_allclose(cycle.monodromy @ F, F, atol=1e-8)


@pytest.mark.parametrize("make", [spiral, collapsing])
def test_derivative_of_the_return_map(make):
    """Its image lies in the section, its eigenvalue along the flow is 0 in place of 1."""
    system, section = make(), EventSection("right" if make is spiral else "back")
    cycle = find_limit_cycle(system, 0, np.array([0.0, -0.8, 0.1]), section)
    at = linear_return(system, section, cycle.mode, cycle.state)
    basis = section_basis(system, section, cycle.mode, cycle.state)
    assert basis.shape == (3, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(basis @ basis.T @ at.derivative, at.derivative, atol=1e-10)
    by_differences = poincare_jacobian(system, section, cycle.mode, cycle.state)
    np.testing.assert_allclose(basis.T @ at.derivative @ basis, by_differences, atol=1e-7)
    F = system.modes[cycle.mode].flow(0.0, cycle.state, np.zeros(0))
    np.testing.assert_allclose(at.derivative @ F, np.zeros(3), atol=1e-8)


def test_the_mth_return_has_powers_of_the_multipliers():
    system = rimless_wheel()
    once = find_limit_cycle(system, ROLLING, rolling_cycle(), EventSection("forward"))
    thrice = find_limit_cycle(system, ROLLING, rolling_cycle(), EventSection("forward", 3))
    assert thrice.period == pytest.approx(3 * once.period, abs=1e-9)
    np.testing.assert_allclose(multipliers(thrice), multipliers(once) ** 3, atol=1e-8)


def test_multipliers_do_not_depend_on_where_the_cycle_is_cut():
    system, guess = hopper(), np.array([0.8, 0.0])
    found = [
        find_limit_cycle(system, FLIGHT, guess, EventSection(name))
        for name in ("liftoff", "touchdown", "bottom")
    ]
    assert {cycle.mode for cycle in found} == {1, 2, 3}
    for cycle in found[1:]:
        np.testing.assert_allclose(multipliers(cycle), multipliers(found[0]), atol=1e-8)


def test_newton_converges_quadratically():
    """From a residual r the next is of order r squared: few steps reach rounding."""
    system, section = hopper(), LIFTOFF
    cycle = find_limit_cycle(system, FLIGHT, np.array([0.8, 0.0]), section)
    residuals = []
    x = cycle.state + np.array([0.01, 0.3])
    for _ in range(4):
        at = linear_return(system, section, FLIGHT, x)
        residuals.append(np.max(abs(at.found.state - x)))
        x = x + np.linalg.solve(np.eye(2) - at.derivative, at.found.state - x)
    assert residuals[1] < residuals[0] ** 2 and residuals[2] < 5.0 * residuals[1] ** 2
    np.testing.assert_allclose(x, cycle.state, atol=1e-11)


def test_monodromy_is_that_of_the_cycle():
    cycle = find_limit_cycle(hopper(), FLIGHT, np.array([0.8, 0.0]), LIFTOFF)
    Phi = monodromy(hopper(), LIFTOFF, cycle.mode, cycle.state)  # noqa: N806
    np.testing.assert_array_equal(Phi, cycle.monodromy)
    assert len(nontrivial_multipliers(cycle)) == 1


def test_an_event_that_never_happens_names_mode_time_and_state():
    section = EventSection("liftoff", time_limit=0.1)
    cycle = find_limit_cycle(hopper(), FLIGHT, np.array([0.8, 0.0]), section)
    assert cycle.status == "no_return" and not cycle.ok and not cycle.stable
    assert "'liftoff' happened 0 of 1 times" in cycle.message
    assert "in mode flight (1) at t = 0.1 s, x = [ 0.751, -0.98 ]" in cycle.message
    assert np.all(np.isnan(cycle.monodromy)) and np.isnan(cycle.residual)


def test_zeno_on_the_way_names_mode_time_and_state():
    """A ball on a still floor has no cycle: it comes to rest."""
    section = EventSection("apex", count=1000)
    found = return_map(bouncing_ball(), section, RISING, np.array([0.0, 0.3]))
    assert found.status == "zeno" and "in mode " in found.message and " s, x = [" in found.message


def test_a_return_map_that_only_shifts_is_singular():
    """Each return moves the second coordinate on by 0.1: no cycle, and no Newton step."""

    def on(t, x, u):
        return np.array([0.0, x[1] + 0.1])

    edge = Transition(0, 0, lambda t, x, u: 1.0 - x[0], on, name="on", time_invariant=True)
    mode = Mode("only", 2, 0, lambda t, x, u: np.array([1.0, 0.0]))
    cycle = find_limit_cycle(System({0: mode}, (edge,)), 0, np.zeros(2), EventSection("on"))
    assert cycle.status == "singular" and "multiplier 1" in cycle.message


def test_an_elastic_ball_is_periodic_from_every_height():
    system = bouncing_ball(restitution=1.0)
    cycle = find_limit_cycle(system, FALLING, np.array([1.0, 0.0]), EventSection("apex"))
    assert cycle.ok and cycle.iterations == 0
    np.testing.assert_allclose(multipliers(cycle), [1.0, 1.0], atol=1e-6)


def test_a_ball_at_rest_is_no_cycle():
    cycle = find_limit_cycle(bouncing_ball(), FALLING, np.array([1.0, 0.0]), EventSection("apex"))
    assert cycle.status == "at_rest" and "in mode 1 at x" in cycle.message


def test_a_return_into_another_mode_is_a_status():
    section = PhaseSection(0.0, 0.3)
    found = return_map(bouncing_ball(), section, RISING, np.array([1.0, 1.0]))
    assert found.status == "other_mode" and "mode falling (1)" in found.message


def test_unknown_transition_names_the_known():
    with pytest.raises(ValueError, match=r"\['backward', 'forward'\]"):
        return_map(rimless_wheel(), EventSection("impact"), ROLLING, rolling_cycle())
