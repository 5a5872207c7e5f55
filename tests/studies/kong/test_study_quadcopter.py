"""The quadcopter study, in fewer timesteps."""

import pytest

from studies.kong import quadcopter
from studies.study import StudyOptions


@pytest.mark.slow
def test_saltation_matrices_converge_on_the_perch_and_reset_jacobians_do_not():
    """5.5.4; with the friction chosen here the latch stays, as its last sentence has it."""
    comparison = quadcopter.solve(StudyOptions(), steps=250)
    rows = {row["method"]: row for row in quadcopter.rows(comparison)}
    xi, dxr = rows["xi"], rows["dxr"]
    assert xi["converged"] and xi["expected_reduction"] <= 0.05
    assert xi["modes"] == ["free", "right edge sliding", "latched"]
    assert xi["position_error"] < 0.02
    assert xi["cost"] < 0.2 * comparison.seed.cost
    assert not dxr["converged"] and dxr["expected_reduction"] > 10.0
    assert dxr["cost"] > 1.2 * xi["cost"]
    axes = quadcopter.draw(comparison.trajectories()).axes
    assert len(axes) == 3 and [len(panel.lines) for panel in axes[1:]] == [2, 2]
