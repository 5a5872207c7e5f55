"""Plans of equal processor time: the effort that fits a budget, and sweeps with budgets."""

import msgspec
import pytest

from controller.planner_options import LEAST_KNOTS, MOST_SUBSTEPS, HilqrSection
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.sweep import sweep
from saltus.sweep.budget import Fit, Scalable, fit, processor_ms
from saltus.sweep.sweep import SweepRequest, run_sweep
from tests.saltus.sweep.test_resume import SUITE, Counting


def linear(config: LaunchConfig) -> float:
    """2 ms, and 0.1 ms for each sample."""
    return 2.0 + 0.1 * config.mppi.samples


@pytest.mark.parametrize("budget", [2.1, 3.7, 10.0, 55.5, 200.0])
def test_the_greatest_effort_within_the_budget_is_found(budget: float) -> None:
    found = fit(LaunchConfig(planner="mppi"), budget, linear)
    best = round((budget - 2.0) / 0.1)
    assert found.effort is not None and 0.94 * best - 1 <= found.effort <= best
    assert found.processor_ms == 2.0 + 0.1 * found.effort <= budget


def test_a_planner_that_cannot_work_less_takes_more_than_the_budget() -> None:
    assert fit(LaunchConfig(planner="mppi"), 1.0, linear) == Fit(1, 2.1)


def test_a_planner_without_efforts_is_timed_as_it_is() -> None:
    assert fit(LaunchConfig(planner="convex_mpc"), 10.0, lambda _: 3.0) == Fit(None, 3.0)


@pytest.mark.parametrize("name", ["hilqr", "ilqr_fd", "mppi"])
def test_a_greater_effort_is_never_less_work(name: str) -> None:
    options = getattr(LaunchConfig(), name)
    assert isinstance(options, Scalable)
    ladder = [options.with_effort(effort) for effort in range(1, 30)]
    work = [
        each.knots * each.paused.iterations * each.paused.substeps
        if isinstance(each, HilqrSection) else each.samples
        for each in ladder
    ]  # fmt: skip
    assert work == sorted(work) and len(set(work)) == len(work)
    assert max(each.knots for each in ladder) == options.knots


def test_the_least_effort_is_a_short_horizon_with_the_search_of_real_time() -> None:
    least = HilqrSection().with_effort(1)
    assert (least.knots, least.paused.iterations) == (LEAST_KNOTS, 1)
    assert least.paused.line_search == least.realtime.line_search
    assert HilqrSection(knots=10).with_effort(1).knots == 10


def test_solves_iterate_on_physics_that_is_as_fine_as_in_lock_step() -> None:
    own = HilqrSection()
    ladder = [own.with_effort(effort).paused for effort in range(1, 12)]
    assert [(each.substeps, each.iterations) for each in ladder[-7:]] == [
        (1, 1), (1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (5, 2),
    ]  # fmt: skip
    coarse = msgspec.structs.replace(own, paused=msgspec.structs.replace(own.paused, substeps=1))
    assert coarse.with_effort(7).paused.iterations == 2 > own.with_effort(7).paused.iterations
    assert own.with_effort(1000).paused.substeps == MOST_SUBSTEPS


def test_a_fit_sets_the_effort_and_how_long_plans_take() -> None:
    config = Fit(7, 12.5).applied(LaunchConfig(planner="mppi"))
    assert (config.mppi.samples, config.timing.solve) == (7, 0.0125)
    assert Fit(None, 3.0).applied(LaunchConfig(planner="instant_qp")).timing.solve == 0.003


def test_plans_are_timed_on_a_walk() -> None:
    config = LaunchConfig(planner="instant_qp", mode="paused", reference="trot")
    assert 0.0 < processor_ms(config) < 1000.0


@pytest.fixture
def request_of(tmp_path):
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)
    return lambda **more: SweepRequest(
        str(suite), **{"jobs": 1, "output": tmp_path / "sweep", "planners": ("instant_qp",)} | more
    )


def test_trials_run_at_the_own_settings_and_at_each_budget(request_of, monkeypatch) -> None:
    measured, ran = [], {}

    def measure(config: LaunchConfig, budget: float) -> Fit:
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
    with pytest.raises(BadRequest, match="other budgets"):
        run_sweep(request_of(budgets_ms=(10.0,)), run)


def test_one_trial_of_the_suite_runs_under_every_budget(request_of, monkeypatch) -> None:
    monkeypatch.setattr(sweep, "fit", lambda *_: Fit(None, 1.0))
    result = run_sweep(request_of(budgets_ms=(10.0,), trials=(2,)), Counting())
    assert [row["trial"] for row in result.rows] == [2, 8]


def test_a_fit_comes_back_from_a_file() -> None:
    fits = {"mppi": {"10": Fit(7, 9.5)}, "convex_mpc": {"10": Fit(None, 3.0)}}
    assert msgspec.convert(msgspec.to_builtins(fits), dict[str, dict[str, Fit]]) == fits
