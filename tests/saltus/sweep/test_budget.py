"""Plans of equal processor time: the effort that fits a budget, and sweeps with budgets."""

import pytest

from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.sweep import sweep
from saltus.sweep.budget import Fit, fit
from saltus.sweep.sweep import run_sweep
from tests.saltus.sweep.test_resume import Counting


def linear(config):
    """2 ms, and 0.1 ms for each sample."""
    return 2.0 + 0.1 * config.mppi.samples


@pytest.mark.parametrize("budget", [2.1, 3.7, 10.0, 55.5, 200.0])
def test_the_greatest_effort_within_the_budget_is_found(budget):
    found = fit(LaunchConfig(planner="mppi"), budget, linear)
    best = round((budget - 2.0) / 0.1)
    assert 0.94 * best - 1 <= found.effort <= best
    assert found.processor_ms == 2.0 + 0.1 * found.effort <= budget


def test_trials_run_at_the_own_settings_and_at_each_budget(request_of, monkeypatch):
    measured, ran = [], {}

    def measure(config, budget):
        measured.append(budget)
        return Fit(None, budget / 2.0)

    def run(trial):
        ran[trial.labels["trial"]] = trial.config.timing.solve
        return Counting()(trial)

    monkeypatch.setattr(sweep, "fit", measure)
    result = run_sweep(request_of(budgets_ms=(10.0, 20.0)), run)
    assert ran == {k: (0.0, 0.005, 0.01)[k // 6] for k in range(18)}
    assert [row["budget_ms"] for row in result.rows] == [None] * 6 + [10.0] * 6 + [20.0] * 6
    assert measured == [10.0, 20.0]
    again = run_sweep(request_of(budgets_ms=(10.0, 20.0)), run)
    assert again.rows == result.rows and measured == [10.0, 20.0]  # the folder knows them
    with pytest.raises(BadRequest):
        run_sweep(request_of(budgets_ms=(10.0,)), run)
