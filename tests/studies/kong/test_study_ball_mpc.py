"""The ball-mpc study, at a coarser timestep: what the hybrid cost update is for."""

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING
from studies.kong.ball_mpc import (
    Settings,
    compare_updates,
    reference,
    track,
    tracking_cost,
)
from studies.study import StudyOptions

REDUCED = Settings(timestep=0.004, steps=251)


def impacts(events):
    return [e.knot for e in events if e.event.transition.source == FALLING]


@pytest.fixture(scope="module")
def target():
    return reference(REDUCED)


@pytest.fixture(scope="module")
def result():
    seen = []
    options = StudyOptions(progress=lambda done, total, what: seen.append((done, total)))
    found = compare_updates(REDUCED, options)
    assert seen.count((251, 251)) == 2
    return found


def test_the_reference_is_the_printed_one(target):
    np.testing.assert_array_equal(target.states[0], [4.0, 0.0])
    np.testing.assert_allclose(target.states[-1], [2.5, 0.0], atol=5e-3)
    assert len(impacts(target.modes.events)) == 1
    assert target.steps == 251 and len(target.states) == 252


def test_rows_have_the_keys_of_the_table(result):
    keys = {"hybrid_cost_update", "unconverged_steps", "steps", "tracking_cost", "peak_input"}
    assert [set(row) for row in result.records] == [keys, keys]
    assert [row["hybrid_cost_update"] for row in result.records] == [True, False]
    assert all(row["steps"] == 251 for row in result.records)


def test_with_the_update_it_converges_and_tracks_with_less_effort(result):
    update, plain = result.records
    assert update["unconverged_steps"] <= 5 < plain["unconverged_steps"]
    assert update["tracking_cost"] < 0.7 * plain["tracking_cost"]
    assert update["peak_input"] < 0.5 * plain["peak_input"]


def test_the_figure_has_four_panels_and_marks_the_solves_that_did_not_converge(result):
    axes = result.figures["figure-6.4"].axes
    assert len(axes) == 4
    marked = [len(axis.patches) for axis in axes]
    assert marked == [0, result.records[1]["unconverged_steps"], 0,
                      result.records[0]["unconverged_steps"]]  # fmt: skip


def test_a_late_ball_is_let_fall_only_with_the_update(target):
    """Perturbed upwards: without the update it is turned around before it touches the floor."""
    late = Settings(timestep=0.004, steps=251, perturbation=(0.3, -1.0))
    with_update, without = (track(target, late, update) for update in (True, False))
    assert len(impacts(with_update.modes.events)) == 1
    assert impacts(with_update.modes.events)[0] > impacts(target.modes.events)[0]
    assert impacts(without.modes.events) == []
    assert np.max(abs(without.inputs)) > 10.0 * np.max(abs(with_update.inputs))
    assert np.all(with_update.converged)


def test_an_unperturbed_ball_stays_on_the_reference(target):
    for update in (True, False):
        still = Settings(timestep=0.004, steps=251, perturbation=(0.0, 0.0))
        loop = track(target, still, update)
        assert np.all(loop.converged)
        np.testing.assert_allclose(loop.states, target.states, atol=1e-3)


def test_tracking_costs_are_integrals(target):
    """The same error costs the same at another timestep."""
    fine = Settings(timestep=0.002, steps=501)
    costs = []
    for settings in (REDUCED, fine):
        reached = reference(settings)
        measure = tracking_cost(reached, settings, False)
        costs.append(measure.value(reached.states + 0.1, reached.inputs, reached.modes))
    assert costs[0] == pytest.approx(costs[1], rel=0.01)
