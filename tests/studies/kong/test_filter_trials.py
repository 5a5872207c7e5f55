"""Trials of particles and of banks, compiled: what the single filters give, on any threads."""

import numpy as np
import pytest

from hybrid.filters.bank import BankOptions, SaltedBank
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.particle import ParticleFilter, ParticleOptions
from hybrid.options import SimulationOptions
from studies.kong.filters.trials import bank_trials, particle_trials
from studies.kong.filters.truths import simulate_truths
from studies.kong.systems.aslip import FLIGHT, STANCE, aslip, at_rest
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

NONE = np.zeros(0)
LOOSE = SimulationOptions(rtol=1e-7, atol=1e-9)
LIFTOFF = aslip().outgoing(STANCE)[0]


def whole(t, x, u):
    return x.copy()


def left_handed(t, x, u):
    return np.array([x[1], -x[0]])


def model_of(system, Q, V, options=None, h=None):
    n = system.state_dim
    h = h or dict.fromkeys(system.modes, whole)
    return FilterModel(
        system,
        {mode: ProcessNoise(Q * np.eye(n)) for mode in system.modes},
        {mode: Measurement(h[mode], V * np.eye(n)) for mode in system.modes},
        options=options or SimulationOptions(),
    )


FLOW = model_of(constant_flow(), 0.01, 0.3)
FLOW_START = Belief(0.0, LEFT, np.array([-1.0, 0.0]), 0.1 * np.eye(2), 0, "ok")
BODY = {FLIGHT: whole, STANCE: LIFTOFF.reset}
HOP = model_of(aslip(), 1e-4, 1e-2, LOOSE, BODY)
HOP_START = Belief(
    0.0, FLIGHT, at_rest(np.array([0.0, 1.8, 5 * np.pi / 12, 0.0, -1.0, 0.0])), 1e-4 * np.eye(8), 0,
    "ok",
)  # fmt: skip
CASES = {
    "constant flow": (FLOW, FLOW_START, 0.1, {LEFT: whole, RIGHT: left_handed}),
    "aslip": (HOP, HOP_START, 0.01, BODY),
}


def measured(name, trials):
    model, start, dt, _ = CASES[name]
    states = np.tile(start.mean, (trials, 1))
    return simulate_truths(model, start.mode, states, dt, 22, seed=3).measurements


def in_coordinates(coordinates):
    return lambda mode, x: coordinates[mode](0.0, x, NONE)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_trials_of_a_bank_are_single_banks(name):
    model, start, dt, coordinates = CASES[name]
    ys = measured(name, 2)
    found = bank_trials(model, start, ys, dt, coordinates)
    options, split = BankOptions(), False
    for b, trial in enumerate(ys):
        bank = SaltedBank(model, start.mode, start.mean, start.Sigma, options=options)
        for k, y in enumerate(trial):
            bank.step(NONE, y, dt)
            split = split or len(bank.hypotheses) > 1
            expected = bank.mean_of(in_coordinates(coordinates))
            np.testing.assert_allclose(found.means[b, k + 1], expected, rtol=1e-6, atol=1e-7)
    assert split and found.failures == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_first_trial_of_particles_is_a_particle_filter(name):
    model, start, dt, coordinates = CASES[name]
    options = ParticleOptions(particles=50, seed=4)
    ys = measured(name, 2)
    found = particle_trials(model, start, ys, dt, coordinates, options)
    one = ParticleFilter(model, start.mode, start.mean, start.Sigma, options=options)
    for k, y in enumerate(ys[0]):
        one.step(NONE, y, dt)
        expected = one.mean_of(in_coordinates(coordinates))
        np.testing.assert_allclose(found.means[0, k + 1], expected, rtol=1e-7, atol=1e-7)


def test_trials_do_not_depend_on_threads_or_on_how_many_there_are():
    ys = measured("constant flow", 5)
    for run in (
        lambda ys, threads: bank_trials(FLOW, FLOW_START, ys, 0.1, threads=threads),
        lambda ys, threads: particle_trials(
            FLOW, FLOW_START, ys, 0.1, options=ParticleOptions(60, threads=threads)
        ),
    ):
        one = run(ys, 1)
        np.testing.assert_array_equal(run(ys, 3).means, one.means)
        np.testing.assert_array_equal(run(ys[:2], 1).means, one.means[:2])


def test_unsound_timesteps_are_counted():
    ys = measured("constant flow", 2)
    ys[1, 3] = np.nan
    for found in (
        bank_trials(FLOW, FLOW_START, ys, 0.1),
        particle_trials(FLOW, FLOW_START, ys, 0.1, options=ParticleOptions(60)),
    ):
        assert found.failures == 1 and np.isfinite(found.means).all()


def test_coordinates_that_do_not_compile_are_refused():
    ys = measured("constant flow", 1)
    wrong = {LEFT: lambda t, x, u: open("x"), RIGHT: whole}
    with pytest.raises(ValueError, match="coordinates do not compile"):
        bank_trials(FLOW, FLOW_START, ys, 0.1, wrong)
