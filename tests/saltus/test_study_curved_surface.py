"""The curved-surface study, in fewer timesteps."""

import json

import numpy as np

from hybrid.examples.tube_ball import TARGET
from saltus.studies import curved_surface
from saltus.studies.study import StudyOptions


def test_saltation_matrices_remove_the_second_contact_and_reset_jacobians_do_not_converge():
    """5.5.3, from a seed that slides, leaves the tube and returns."""
    comparison = curved_surface.solve(StudyOptions(), steps=200)
    names = [happened.event.transition.name for happened in comparison.seed.aux.events]
    assert names == ["impact", "liftoff", "apex", "impact"]
    rows = {row["method"]: row for row in comparison.rows("impact")}
    xi, dxr = rows["xi"], rows["dxr"]
    assert xi["converged"] and xi["contacts"] == 1 and xi["final_mode"] == "constrained"
    assert np.linalg.norm(np.subtract(xi["final_state"], TARGET)) < 0.1
    assert not dxr["converged"] and dxr["cost"] > 1.5 * xi["cost"]
    assert dxr["expected_reduction"] > 10.0 * xi["expected_reduction"]
    assert json.loads(json.dumps(list(rows.values()))) == list(rows.values())
    axes = curved_surface.draw(comparison.trajectories()).axes
    assert len(axes) == 2 and len(axes[0].lines) == 6
