"""Table 3.1 with few particles."""

import json

import numpy as np
import pytest

from hybrid.compiled.system import native_tables
from hybrid.simulation import simulate_step
from saltus.common.errors import BadRequest
from studies.kong.table_3_1 import cases, ellipse, experiment, run
from studies.study import StudyOptions

CASES = {case.name: case for case in cases()}
EVERY = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def result():
    return run(StudyOptions(trials=100, seed=3))


def test_saltation_predicts_better_on_every_system(result):
    names = [(row["system"], row["covariance"]) for row in result.records]
    systems = ("constant_flow", "bouncing_ball", "pendulum", "aslip")
    assert names == [(system, level) for system in systems for level in ("low", "high")]
    for row in result.records:
        assert 0.0 <= row["kl_saltation"] < 0.1 * row["kl_reset"]


def test_rows_are_json_and_there_is_a_figure_for_each_system(result):
    assert json.loads(json.dumps(list(result.records), allow_nan=False)) == list(result.records)
    assert set(result.figures) == {"figure_3_9", "figure_3_10", "figure_3_11", "figure_aslip"}


def test_a_seed_gives_the_same_rows_again():
    case = CASES["bouncing_ball"]
    once, again, other = (experiment(case, "high", 30, seed).row() for seed in (1, 1, 2))
    assert once == again and once != other


def test_prediction_is_exact_where_everything_is_linear():
    """Constant flow: neither level nor particles matter, and D_x R misses by a closed form."""
    one = experiment(CASES["constant_flow"], "high", 50)
    np.testing.assert_allclose(one.Sigma_saltation, one.Sigma_actual, rtol=1e-9)
    np.testing.assert_allclose(one.Sigma_reset, one.Sigma_initial, rtol=1e-12)
    shear = np.array([[1.0, 0.0], [2.0, 1.0]])  # of determinant one
    sheared = shear @ one.Sigma_initial @ shear.T
    expected = 0.5 * (np.trace(np.linalg.solve(one.Sigma_initial, sheared)) - 2.0)
    assert one.row()["kl_reset"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["bouncing_ball", "pendulum", "aslip"])
def test_the_prediction_improves_as_the_particles_close_up(name):
    """The divergence of a first-order map falls with the variance, and so with its square."""
    case = CASES[name]
    wide = experiment(case._replace(high=case.low), "high", 60).row()["kl_saltation"]
    close = experiment(case._replace(high=case.low / 10.0), "high", 60).row()["kl_saltation"]
    assert 0.0 < close < 0.2 * wide


@EVERY
def test_systems_compile_and_the_mean_ends_in_the_same_place_either_way(name):
    case = CASES[name]
    assert native_tables(case.system).system is not None
    start = case.state(case.mean)
    step = simulate_step(case.system, case.mode, start, case.duration, case.input)
    one = experiment(case._replace(low=1e-16), "low", 10)
    np.testing.assert_allclose(
        one.final.mean(axis=0), case.coordinates(step.mode, step.state), atol=1e-5
    )
    assert one.lost == 0


def test_too_few_particles_are_refused():
    with pytest.raises(BadRequest, match="or more"):
        run(StudyOptions(trials=3))


def test_an_ellipse_holds_its_share_of_a_gaussian():
    covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
    curve = ellipse(np.array([1.0, -1.0]), covariance) - [1.0, -1.0]
    distances = np.sum(curve * np.linalg.solve(covariance, curve.T).T, axis=1)
    np.testing.assert_allclose(distances, -2.0 * np.log(0.05), rtol=1e-4)
