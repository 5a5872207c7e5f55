"""The spring-damper study, in fewer timesteps."""

from studies.kong import spring_damper
from studies.study import StudyOptions


def test_saltation_matrices_end_lower_and_reset_jacobians_leave_something_to_gain():
    """5.5.2, first half: similar solutions, and Xi's expected reduction a magnitude lower."""
    comparison = spring_damper.solve(StudyOptions(), steps=200)
    rows = {row["method"]: row for row in comparison.rows("touchdown")}
    xi, dxr = rows["xi"], rows["dxr"]
    assert xi["converged"] and xi["cost"] < dxr["cost"] < 1.1 * xi["cost"]
    assert xi["contacts"] == dxr["contacts"] == 1
    assert xi["expected_reduction"] < 0.1 * dxr["expected_reduction"]
    assert xi["true_expected_reduction"] == xi["expected_reduction"]
    assert dxr["true_expected_reduction"] > 0.05
    axes = spring_damper.draw(comparison.trajectories()).axes
    assert len(axes) == 2 and len(axes[0].lines) == 5
