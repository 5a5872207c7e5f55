"""Rimless wheel, hopper and vibrating table: closed forms, energy, stability, derivatives."""

import math

import numpy as np
import pytest

from hybrid.examples import hopper as hop
from hybrid.limit_cycle import find_limit_cycle
from hybrid.return_map import EventSection, PhaseSection, ReturnMap
from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from studies.kong.systems import vibrating_table as table
from studies.kong.systems.rimless_wheel import GRAVITY, ROLLING, rimless_wheel, rolling_cycle

NOTHING = np.zeros(0)
FORWARD, LIFTOFF = EventSection("forward"), EventSection("liftoff")


@pytest.mark.parametrize("half_angle, slope", [(math.pi / 8, 0.08), (0.2, 0.05), (0.3, 0.35)])
def test_wheel_matches_its_closed_form(half_angle, slope):
    """The cycle from energy, its multiplier cos(2 alpha)^2; also where it never climbs."""
    system = rimless_wheel(half_angle, slope)
    cycle = find_limit_cycle(
        ReturnMap(system, FORWARD, ROLLING), np.array([slope - half_angle, 2.0])
    )
    assert cycle.ok and cycle.stable
    np.testing.assert_allclose(cycle.state, rolling_cycle(half_angle, slope), atol=1e-9)
    expected = [1.0, math.cos(2.0 * half_angle) ** 2]
    np.testing.assert_allclose(cycle.multipliers, expected, atol=1e-8)


def test_wheel_keeps_its_energy_between_landings():
    system, x = rimless_wheel(), rolling_cycle()
    before = simulate_step(system, ROLLING, x, 2.0, NOTHING).events[0].state_before

    def energy(y):
        return 0.5 * y[1] ** 2 + GRAVITY * math.cos(y[0])

    assert energy(before) == pytest.approx(energy(x), abs=1e-9)


def test_a_slow_wheel_rocks_to_rest():
    rocking = EventSection("forward", count=500)
    found = ReturnMap(rimless_wheel(), rocking, ROLLING)(rolling_cycle() - [0.0, 0.3])
    assert found.status == "zeno"
    assert {event.transition.name for event in found.events} >= {"backward"}


@pytest.mark.parametrize(
    "call", [lambda: rolling_cycle(slope=0.01), lambda: rimless_wheel(half_angle=0.8)]
)
def test_wheels_that_cannot_roll_are_refused(call):
    with pytest.raises(ValueError, match="more"):
        call()


def hopping(**parameters):
    system = hop.hopper(**parameters)
    return system, find_limit_cycle(ReturnMap(system, LIFTOFF, hop.FLIGHT), np.array([0.8, 0.0]))


@pytest.mark.parametrize("damping, push", [(5.0, 20.0), (4.0, 20.0), (6.0, 30.0)])
def test_hopper_multiplier_from_the_loss_of_area(damping, push):
    """det Phi: the damper contracts in stance, exp(-c T / m), and the bottom's Xi stretches.

    With one multiplier at 1 the other is that determinant.
    """
    _, cycle = hopping(damping=damping, push=push)
    times = {event.transition.name: event.time for event in cycle.events}
    bottom = {e.transition.name: e.state_before for e in cycle.events}["bottom"]
    upward = hop.STIFFNESS * (hop.LENGTH - bottom[0]) / hop.MASS - hop.GRAVITY
    stance = times["liftoff"] - times["touchdown"]
    expected = math.exp(-damping * stance / hop.MASS) * (1.0 + push / (hop.MASS * upward))
    np.testing.assert_allclose(cycle.multipliers, [1.0, expected], atol=1e-7)
    assert cycle.stable and cycle.state[0] > hop.LENGTH


def test_hopper_saltation_matrices():
    system, cycle = hopping()
    touchdown, bottom, liftoff = cycle.events

    def xi(event):
        return saltation(system, event.transition, event.time, event.state_before, NOTHING).matrix

    upward = hop.STIFFNESS * (hop.LENGTH - bottom.state_before[0]) / hop.MASS - hop.GRAVITY
    lost = -hop.DAMPING / hop.MASS
    np.testing.assert_allclose(xi(touchdown), [[1.0, 0.0], [lost, 1.0]], atol=1e-9)
    np.testing.assert_allclose(xi(bottom), np.diag([1.0, 1.0 + hop.PUSH / upward]), atol=1e-9)
    np.testing.assert_allclose(xi(liftoff), np.eye(2), atol=1e-9)  # (3.12)


def hopper_energy(x, in_stance):
    """Energy of body and spring [J], zero at rest on the ground; the spring's only in stance."""
    spring = 0.5 * hop.STIFFNESS * (hop.LENGTH - x[0]) ** 2 if in_stance else 0.0
    return 0.5 * hop.MASS * x[1] ** 2 + hop.MASS * hop.GRAVITY * x[0] + spring


def test_hopper_push_restores_what_the_damper_takes():
    """Over a cycle the work of the push is the damper's loss; the spring's stretch is dropped."""
    system, cycle = hopping()
    touchdown, bottom, liftoff = cycle.events
    work = hop.PUSH * (liftoff.state_before[0] - bottom.state_after[0])
    stance, steps, lost = liftoff.time - touchdown.time, 4000, 0.0
    mode, x = hop.COMPRESSION, touchdown.state_after
    for _ in range(steps):
        step = simulate_step(system, mode, x, stance / steps, NOTHING)
        lost += 0.5 * hop.DAMPING * (x[1] ** 2 + step.state[1] ** 2) * stance / steps
        mode, x = step.mode, step.state
    in_air, on_ground = (
        hopper_energy(liftoff.state_after, False),
        hopper_energy(liftoff.state_before, True),
    )
    spring = on_ground - in_air
    assert work - lost == pytest.approx(spring, abs=1e-4 * work)
    assert spring > 0.0 and work > 0.5


def test_hopper_without_losses_keeps_its_energy():
    system = hop.hopper(damping=0.0, push=0.0)
    x = np.array([0.9, 0.0])
    for duration in (0.2, 0.35, 0.5):
        step = simulate_step(system, hop.FLIGHT, x, duration, NOTHING)
        kept = hopper_energy(step.state, step.mode != hop.FLIGHT)
        assert kept == pytest.approx(hopper_energy(x, False), abs=1e-8)


def bouncing(amplitude, stable_phase=True, omega=table.OMEGA, restitution=table.RESTITUTION):
    bounce = table.periodic_bounce(amplitude, omega, restitution, stable_phase=stable_phase)
    start, x = table.in_flight(bounce, 0.25)
    system = table.vibrating_table(amplitude, omega, restitution)
    P = ReturnMap(system, PhaseSection(start, bounce.period), table.RISING)  # noqa: N806
    return bounce, x, find_limit_cycle(P, x + [1e-3, -0.02])


@pytest.mark.parametrize("restitution", [0.3, 0.75, 0.9])
@pytest.mark.parametrize("stable_phase", [True, False])
def test_table_matches_its_closed_form(restitution, stable_phase):
    least = math.pi * table.GRAVITY * (1 - restitution) / ((1 + restitution) * table.OMEGA**2)
    bounce, x, cycle = bouncing(1.3 * least, stable_phase, restitution=restitution)
    assert cycle.ok
    np.testing.assert_allclose(cycle.state, x, atol=1e-10)
    got, expected = np.sort_complex(cycle.multipliers), np.sort_complex(bounce.multipliers)
    np.testing.assert_allclose(got, expected, atol=1e-8)
    assert np.prod(got).real == pytest.approx(restitution**2, abs=1e-9)
    assert len(cycle.nontrivial_multipliers) == 2
    if not stable_phase:
        assert not cycle.stable


@pytest.mark.parametrize("part, stable", [(0.99, True), (1.01, False)])
def test_table_loses_stability_where_the_classical_condition_says(part, stable):
    """A omega^2 sin(phase) = 2 g (1 + e^2) / (1 + e)^2: there a multiplier passes -1."""
    e = table.RESTITUTION
    sine = part * 2.0 * table.GRAVITY * (1 + e**2) / (1 + e) ** 2
    cosine = math.pi * table.GRAVITY * (1 - e) / (1 + e)
    _, _, cycle = bouncing(math.hypot(sine, cosine) / table.OMEGA**2)
    assert cycle.ok and cycle.stable is stable
    assert cycle.multipliers[0].real < -0.8


def test_a_table_that_is_too_slow_is_refused():
    with pytest.raises(ValueError, match="at least"):
        table.periodic_bounce(amplitude=0.001)
