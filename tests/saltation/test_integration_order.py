"""Orders of convergence, measured: dense output within a step, and implicit steps."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.integration import integrate
from saltation.options import SimulationOptions
from saltation.simulation import simulate
from saltation.systems import Mode, System
from studies.numerics.event_accuracy import DURATION, EXACT, START, driven, fixed

PARTS = (0.2, 0.4, 0.6, 0.8)


def order_of(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def one_step(field, start, h, method="explicit"):
    """A run of one integration step of h [s]."""
    system = System({0: Mode("field", len(start), 0, lambda t, x, u: field(t, x))}, ())
    options = dataclasses.replace(fixed(h), method=method)
    run = simulate(system, 0, start, h, options=options)
    assert len(run.segments[0].times) == 2
    return run


@pytest.mark.parametrize("method, order", [("explicit", 7), ("implicit", 4)])
def test_order_of_dense_output_within_a_step(method, order):
    """An extension of order p makes an error of h to the p + 1 within a step."""
    sizes, errors = 0.4 * 0.5 ** np.arange(4, dtype=np.float64), []
    for h in sizes:
        run = one_step(driven, START, h, method)
        exact = (integrate(driven, 0.0, START, part * h, EXACT) for part in PARTS)
        pairs = zip(PARTS, exact, strict=True)
        errors.append(max(np.max(abs(run.at(part * h)[1] - x)) for part, x in pairs))
    assert -0.4 < order_of(sizes, errors) - (order + 1) < 0.6


def test_implicit_steps_are_of_fourth_order():
    exact, errors = integrate(driven, 0.0, START, DURATION, EXACT), []
    sizes = 0.1 * 0.5 ** np.arange(5, dtype=np.float64)
    for h in sizes:
        options = dataclasses.replace(fixed(h), method="implicit")
        errors.append(np.max(np.abs(integrate(driven, 0.0, START, DURATION, options) - exact)))
    assert 3.7 < order_of(sizes, errors) < 4.6


def test_implicit_steps_of_a_stiff_flow_need_not_be_short():
    """x' = -1e5 (x - cos t) from its slow solution: explicit steps are bounded by 3e-5 s."""

    def stiff(t, x, u):
        return -1e5 * (x - np.cos(t))

    system = System({0: Mode("stiff", 1, 0, stiff)}, ())
    explicit = simulate(system, 0, [1.0], 2.0, options=SimulationOptions(max_steps=10_000))
    assert explicit.status == "too_stiff" and "method='implicit'" in explicit.message
    options = SimulationOptions(rtol=1e-6, atol=1e-8, method="implicit")
    run = simulate(system, 0, [1.0], 2.0, options=options)
    assert run.status == "ok" and len(run.segments[0].times) < 600
    slow = (1e10 * np.cos(2.0) + 1e5 * np.sin(2.0)) / (1e10 + 1.0)
    assert_allclose(run.final_state, [slow], atol=1e-5)
