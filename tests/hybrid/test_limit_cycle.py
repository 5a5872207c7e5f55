"""Return maps, Newton's method on them, and the multipliers of the cycles it finds."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.examples.hopper import FLIGHT, hopper
from hybrid.limit_cycle import find_limit_cycle, sorted_eigenvalues
from hybrid.return_map import EventSection, PhaseSection, ReturnMap
from hybrid.systems import Mode, System, Transition
from studies.kong.systems import vibrating_table as table
from studies.kong.systems.rimless_wheel import ROLLING, rimless_wheel, rolling_cycle

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
    P = ReturnMap(spiral(), EventSection("right"), 1)
    cycle = find_limit_cycle(P, np.array([-0.5, -0.8, 0.3]))
    assert cycle.ok and cycle.mode == 0 and cycle.stable
    assert cycle.period == pytest.approx(np.pi, abs=1e-9)
    np.testing.assert_allclose(cycle.state, [0.0, -1.0, 0.0], atol=1e-9)
    expected = [1.0, np.exp(-np.pi / 2), np.exp(-2 * np.pi)]
    np.testing.assert_allclose(cycle.multipliers, expected, atol=1e-8)


@pytest.mark.parametrize("make", [spiral, collapsing])
def test_monodromy_has_the_poincare_multipliers_and_one(make):
    """3.4.3, with the section's image of full dimension and without."""
    system = make()
    P = ReturnMap(system, EventSection("right" if make is spiral else "back"), 0)
    cycle = find_limit_cycle(P, np.array([0.0, -0.8, 0.1]))
    assert cycle.ok
    both = np.append(sorted_eigenvalues(P.differences(cycle.state)), 1.0)
    np.testing.assert_allclose(
        np.sort_complex(cycle.multipliers), np.sort_complex(both), atol=1e-7
    )
    F = system.modes[cycle.mode].flow(0.0, cycle.state, np.zeros(0))
    np.testing.assert_allclose(cycle.monodromy @ F, F, atol=1e-8)


@pytest.mark.parametrize("make", [spiral, collapsing])
def test_derivative_of_the_return_map(make):
    """Its image lies in the section, its eigenvalue along the flow is 0 in place of 1."""
    system = make()
    P = ReturnMap(system, EventSection("right" if make is spiral else "back"), 0)
    cycle = find_limit_cycle(P, np.array([0.0, -0.8, 0.1]))
    at, basis = P.linear(cycle.state), P.basis(cycle.state)
    assert basis.shape == (3, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(basis @ basis.T @ at.derivative, at.derivative, atol=1e-10)
    measured = P.differences(cycle.state)
    np.testing.assert_allclose(basis.T @ at.derivative @ basis, measured, atol=1e-7)
    F = system.modes[cycle.mode].flow(0.0, cycle.state, np.zeros(0))
    np.testing.assert_allclose(at.derivative @ F, np.zeros(3), atol=1e-8)


def test_the_mth_return_has_powers_of_the_multipliers():
    once, thrice = (
        find_limit_cycle(
            ReturnMap(rimless_wheel(), EventSection("forward", count), ROLLING), rolling_cycle()
        )
        for count in (1, 3)
    )
    assert thrice.period == pytest.approx(3 * once.period, abs=1e-9)
    np.testing.assert_allclose(thrice.multipliers, once.multipliers**3, atol=1e-8)


def test_multipliers_do_not_depend_on_where_the_cycle_is_cut():
    system, guess = hopper(), np.array([0.8, 0.0])
    found = [
        find_limit_cycle(ReturnMap(system, EventSection(name), FLIGHT), guess)
        for name in ("liftoff", "touchdown", "bottom")
    ]
    assert {cycle.mode for cycle in found} == {1, 2, 3}
    for cycle in found[1:]:
        np.testing.assert_allclose(cycle.multipliers, found[0].multipliers, atol=1e-8)


def test_newton_converges_quadratically():
    """From a residual r the next is of order r squared: few steps reach rounding."""
    P = ReturnMap(hopper(), LIFTOFF, FLIGHT)
    cycle = find_limit_cycle(P, np.array([0.8, 0.0]))
    residuals = []
    x = cycle.state + np.array([0.01, 0.3])
    for _ in range(4):
        at = P.linear(x)
        residuals.append(np.max(abs(at.end.state - x)))
        x = x + np.linalg.solve(np.eye(2) - at.derivative, at.end.state - x)
    assert residuals[1] < residuals[0] ** 2 and residuals[2] < 5.0 * residuals[1] ** 2
    np.testing.assert_allclose(x, cycle.state, atol=1e-11)


def test_monodromy_is_that_of_the_cycle():
    cycle = find_limit_cycle(ReturnMap(hopper(), LIFTOFF, FLIGHT), np.array([0.8, 0.0]))
    Phi = ReturnMap(hopper(), LIFTOFF, cycle.mode).linear(cycle.state).Phi
    np.testing.assert_array_equal(Phi, cycle.monodromy)
    assert len(cycle.nontrivial_multipliers) == 1


def test_an_event_that_never_happens_names_mode_time_and_state():
    P = ReturnMap(hopper(), EventSection("liftoff", time_limit=0.1), FLIGHT)
    cycle = find_limit_cycle(P, np.array([0.8, 0.0]))
    assert cycle.status == "no_return" and not cycle.ok and not cycle.stable
    assert "'liftoff' happened 0 of 1 times" in cycle.message
    assert "in mode flight (1) at t = 0.1 s, x = [ 0.751, -0.98 ]" in cycle.message
    assert np.all(np.isnan(cycle.monodromy)) and np.isnan(cycle.residual)


def test_zeno_on_the_way_names_mode_time_and_state():
    """A ball on a still floor has no cycle: it comes to rest."""
    section = EventSection("apex", count=1000)
    found = ReturnMap(bouncing_ball(), section, RISING)(np.array([0.0, 0.3]))
    assert found.status == "zeno" and "in mode " in found.message and " s, x = [" in found.message


def test_a_return_map_that_only_shifts_is_singular():
    """Each return moves the second coordinate on by 0.1: no cycle, and no Newton step."""

    def on(t, x, u):
        return np.array([0.0, x[1] + 0.1])

    edge = Transition(0, 0, lambda t, x, u: 1.0 - x[0], on, name="on", time_invariant=True)
    mode = Mode("only", 2, 0, lambda t, x, u: np.array([1.0, 0.0]))
    P = ReturnMap(System({0: mode}, (edge,)), EventSection("on"), 0)
    cycle = find_limit_cycle(P, np.zeros(2))
    assert cycle.status == "singular" and "multiplier 1" in cycle.message


def test_an_elastic_ball_is_periodic_from_every_height():
    P = ReturnMap(bouncing_ball(restitution=1.0), EventSection("apex"), FALLING)
    cycle = find_limit_cycle(P, np.array([1.0, 0.0]))
    assert cycle.ok and cycle.iterations == 0
    np.testing.assert_allclose(cycle.multipliers, [1.0, 1.0], atol=1e-6)


def test_a_ball_at_rest_is_no_cycle():
    P = ReturnMap(bouncing_ball(), EventSection("apex"), FALLING)
    cycle = find_limit_cycle(P, np.array([1.0, 0.0]))
    assert cycle.status == "at_rest", cycle.message
    assert "in mode 1 at x" in cycle.message


def test_a_return_into_another_mode_is_a_status():
    section = PhaseSection(0.0, 0.3)
    found = ReturnMap(bouncing_ball(), section, RISING)(np.array([1.0, 1.0]))
    assert found.status == "other_mode" and "mode falling (1)" in found.message


def test_unknown_transition_names_the_known():
    with pytest.raises(ValueError, match=r"\['backward', 'forward'\]"):
        ReturnMap(rimless_wheel(), EventSection("impact"), ROLLING)


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
    ("part", "name"), [("flow", "flow of mode 1"), ("guard", "guard of land"),
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


def test_a_table_that_shakes_takes_its_period_as_section():
    bounce = table.periodic_bounce(table.AMPLITUDE)
    start, x = table.in_flight(bounce, 0.25)
    system = table.vibrating_table()
    by_clock = ReturnMap(system, PhaseSection(start, bounce.period), table.RISING)
    assert find_limit_cycle(by_clock, x).ok
    by_event = ReturnMap(system, EventSection("impact", time_limit=1.0), table.RISING)
    assert find_limit_cycle(by_event, x).status == "driven"


def test_the_mode_and_the_input_of_a_return_map_are_checked():
    with pytest.raises(ValueError, match="no mode 9"):
        ReturnMap(hopper(), LIFTOFF, 9)
    with pytest.raises(ValueError, match=r"an input has shape \(3,\); the system takes \(1,\)"):
        ReturnMap(bouncing_ball(), EventSection("apex"), FALLING, np.zeros(3))
