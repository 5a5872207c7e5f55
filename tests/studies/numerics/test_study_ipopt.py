"""HiLQR beside IPOPT on two of the study's problems, one of them with its optimum at a kink."""

import pytest
from pytest import approx

from studies.numerics.ipopt import PROBLEMS, beside


@pytest.mark.parametrize("problem", [PROBLEMS[0], PROBLEMS[2]], ids=lambda each: each.name)
def test_hilqr_converges_to_the_cost_of_ipopt(problem):
    found = problem.solve()
    best = beside(problem, found.trajectory)
    assert found.status == "converged" and best.status == "ok"
    assert found.trajectory.cost == approx(best.cost, rel=1e-6)
