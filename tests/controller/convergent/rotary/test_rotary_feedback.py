"""Feedback along a swing-up: perturbed, and on machines that are not the model."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from controller.convergent.rotary.feedback import design
from controller.convergent.rotary.model import flow
from controller.convergent.rotary.parameters import QUBE_SERVO_2
from controller.convergent.rotary.perturbation import PerturbationOptions, perturb
from controller.convergent.rotary.swing_up import SwingUpCost, SwingUpOptions, SwingUpPlanner
from controller.convergent.rotary.tracking import Machine, _machines, track


@cache
def plan():
    return SwingUpPlanner(SwingUpOptions(1.0, 61, 0.08)).solve(SwingUpCost(1.0, 1e-2))


@cache
def feedback():
    return design(QUBE_SERVO_2, plan())


@cache
def pushed(size, step=0.0025):
    return perturb(QUBE_SERVO_2, feedback(), plan().times, PerturbationOptions(size, 2.0, step))


def test_on_the_plan_the_torque_is_the_plans():
    for time, state, torque in zip(plan().times, plan().states, plan().torques, strict=True):
        if time < plan().times[-1]:
            assert feedback().torque(time, state[:, None]) == pytest.approx(torque, abs=1e-6)


def test_the_gains_go_over_into_those_at_the_top():
    assert np.allclose(feedback().gains[-1], feedback().top_gain, rtol=1e-6)


def test_the_torque_keeps_its_limit():
    x = plan().states[20][:, None] + np.array([[0.0], [1.0], [0.0], [0.0]]) * [-3.0, 0.0, 3.0]
    torque = feedback().torque(plan().times[20], x)
    assert abs(torque[0]) == abs(torque[2]) == 0.1
    assert torque[0] == -torque[2]


def test_small_perturbations_are_all_made_up_for():
    found = pushed(0.02)
    assert np.all(found.success)
    assert np.all(np.abs(found.alphas[-1] - np.pi) < 0.01)


def test_large_ones_are_not_all():
    found = pushed(1.0)
    assert found.plus[0] and found.minus[0]  # where it hangs
    assert not np.all(found.success)


def test_a_path_starts_where_the_plan_is_pushed():
    found, N = pushed(1.0), len(plan().times)
    for i, sign in ((0, 1.0), (7, 1.0), (7, -1.0), (N - 1, -1.0)):
        column = found.alphas[:, i if sign > 0.0 else N + i]
        first = int(np.argmax(np.isfinite(column)))
        assert found.times[first] == pytest.approx(plan().times[i])
        assert column[first] == pytest.approx(plan().states[i, 1] + sign, abs=1e-6)
        assert np.all(np.isfinite(column[first:]))


@pytest.mark.parametrize("i", [3, 25, 60])
def test_paths_are_those_of_an_adaptive_integrator(i):
    found, start = pushed(1.0), plan().states[i] + [0.0, 1.0, 0.0, 0.0]
    first = int(np.argmax(np.isfinite(found.alphas[:, i])))
    times = found.times[first : first + 80]  # 0.2 s: unstable ones part for ever later on

    def rate(time, x):
        return np.array(flow(QUBE_SERVO_2, x[:, None], feedback().torque(time, x[:, None])))[:, 0]

    known = solve_ivp(rate, (times[0], times[-1]), start, t_eval=times, rtol=1e-9, atol=1e-9)
    assert np.allclose(found.alphas[first : first + 80, i], known.y[1], atol=2e-3)


def test_outcomes_do_not_hang_on_the_step():
    changed = pushed(1.0).success != pushed(1.0, 0.00125).success
    assert np.mean(changed) < 0.03


def test_exact_machines_hold_the_pole():
    machine = Machine(spread=0.0, counts=10**7)
    found = track(QUBE_SERVO_2, feedback(), 2, machine=machine)
    assert np.all(found.success)
    assert np.array_equal(found.states[..., 0], found.states[..., 1])
    assert np.max(np.abs(found.torques)) <= 0.1


def test_only_what_stays_near_the_end_is_held():
    near_nothing = Machine(spread=0.0, hold=1.0, near=(1e-9, 1e-9))
    assert not np.any(track(QUBE_SERVO_2, feedback(), 2, machine=near_nothing).success)


def test_machines_differ_in_masses_inertias_and_dampings():
    real = _machines(QUBE_SERVO_2, 0.05, 4000, 0)
    for name in ("m_p", "J_r", "J_p", "D_r", "D_p"):
        share = getattr(real, name) / getattr(QUBE_SERVO_2, name)
        assert np.mean(share) == pytest.approx(1.0, abs=0.005)
        assert np.std(share) == pytest.approx(0.05, rel=0.05)
    for name in ("L_p", "m_r", "L_r", "g"):
        assert getattr(real, name) == getattr(QUBE_SERVO_2, name)


def test_the_same_seed_gives_the_same_machines():
    first, again, other = (track(QUBE_SERVO_2, feedback(), 3, seed) for seed in (4, 4, 5))
    assert np.array_equal(first.states, again.states)
    assert not np.array_equal(first.states, other.states)
    assert np.ptp(first.states[-1, 1]) > 0.0


def test_a_failed_plan_is_not_followed():
    with pytest.raises(ValueError, match="infeasible"):
        design(QUBE_SERVO_2, plan()._replace(status="infeasible"))
