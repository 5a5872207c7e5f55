"""Feedback along a swing-up: perturbed, and on machines that are not the model."""

from functools import cache

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp

from saltation.convergent.rotary.feedback import design
from saltation.convergent.rotary.model import flow
from saltation.convergent.rotary.parameters import QUBE_SERVO_2
from saltation.convergent.rotary.perturbation import PerturbationOptions, perturb
from saltation.convergent.rotary.swing_up import SwingUpCost, SwingUpOptions, SwingUpPlanner
from saltation.convergent.rotary.tracking import Machine, track


@cache
def plan():
    return SwingUpPlanner(SwingUpOptions(1.0, 61, 0.08)).solve(SwingUpCost(1.0, 1e-2))


@cache
def feedback():
    return design(QUBE_SERVO_2, plan())


def pushed(size):
    return perturb(QUBE_SERVO_2, feedback(), plan().times, PerturbationOptions(size, 2.0, 0.0025))


def test_on_the_plan_the_torque_is_the_plans():
    for time, state, torque in zip(plan().times, plan().states, plan().torques, strict=True):
        if time < plan().times[-1]:
            assert feedback().torque(time, state[:, None]) == approx(torque, abs=1e-6)


def test_the_torque_keeps_its_limit():
    x = plan().states[20][:, None] + np.array([[0.0], [1.0], [0.0], [0.0]]) * [-3.0, 0.0, 3.0]
    torque = feedback().torque(plan().times[20], x)
    assert abs(torque[0]) == abs(torque[2]) == 0.1
    assert torque[0] == -torque[2]


def test_small_perturbations_are_all_made_up_for():
    found = pushed(0.02)
    assert np.all(found.success)
    assert np.all(np.abs(found.alphas[-1] - np.pi) < 0.01)


@pytest.mark.parametrize("i", [3, 25, 60])
def test_paths_are_those_of_an_adaptive_integrator(i):
    found, start = pushed(1.0), plan().states[i] + [0.0, 1.0, 0.0, 0.0]
    first = int(np.argmax(np.isfinite(found.alphas[:, i])))
    times = found.times[first : first + 80]  # 0.2 s: unstable ones part for ever later on

    def rate(time, x):
        return np.array(flow(QUBE_SERVO_2, x[:, None], feedback().torque(time, x[:, None])))[:, 0]

    known = solve_ivp(rate, (times[0], times[-1]), start, t_eval=times, rtol=1e-9, atol=1e-9)
    assert np.allclose(found.alphas[first : first + 80, i], known.y[1], atol=2e-3)


def test_exact_machines_hold_the_pole():
    machine = Machine(spread=0.0, counts=10**7)
    found = track(QUBE_SERVO_2, feedback(), 2, machine=machine)
    assert np.all(found.success)
    assert np.array_equal(found.states[..., 0], found.states[..., 1])
    assert np.max(np.abs(found.torques)) <= 0.1
