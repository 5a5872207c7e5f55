"""The curved-surface study, in fewer timesteps."""

import numpy as np
import pytest

from studies.kong import curved_surface
from studies.kong.systems.tube_ball import TARGET
from studies.study import StudyOptions


@pytest.mark.parametrize("event_at", ["end", "end_held", "exact"])
def test_saltation_matrices_remove_the_second_contact_at_the_lower_cost(event_at):
    """5.5.3, from a seed that slides, leaves the tube and returns."""
    comparison = curved_surface.solve(StudyOptions(), event_at, steps=200)
    names = [happened.event.transition.name for happened in comparison.seed.aux.events]
    assert names == ["impact", "liftoff", "apex", "impact"]
    rows = {row["method"]: row for row in comparison.rows("impact")}
    xi, dxr = rows["xi"], rows["dxr"]
    assert xi["converged"] and xi["contacts"] == 1 and xi["final_mode"] == "constrained"
    assert np.linalg.norm(np.subtract(xi["final_state"], TARGET)) < 0.1
    assert dxr["cost"] > 1.1 * xi["cost"]
    assert dxr["true_expected_reduction"] > 5.0 * xi["true_expected_reduction"]
    assert event_at != "exact" or not dxr["converged"]


def test_the_figure_shows_the_seed_and_both_methods():
    comparison = curved_surface.solve(StudyOptions(), steps=100)
    axes = curved_surface.draw(comparison.trajectories()).axes
    assert len(axes) == 2 and len(axes[0].lines) == 6
