"""The shell round IPOPT: closed-form optima, and failures that name constraint and waypoint."""

import threading

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.convergent.nlp import ConstraintGroup, Nlp

FREE = np.full(3, np.inf)


def programme(groups=(), options=None, cost=None):
    """The nearest point to q, by default: minimise |z - q|^2 in three variables."""
    z, q = ca.SX.sym("z", 3), ca.SX.sym("q", 3)
    made = [ConstraintGroup(name, expression(z), *rest) for name, expression, *rest in groups]
    return Nlp(z, ca.sumsqr(z - q) if cost is None else cost(z), made, q, options)


def test_projection_on_a_plane_and_a_box():
    nlp = programme([("sum", ca.sum1, 1.0, 1.0)])
    q = np.array([1.0, 2.0, 4.0])
    on_plane = nlp.solve(np.zeros(3), -FREE, FREE, q)
    assert (on_plane.status, on_plane.message) == ("ok", "")
    assert_allclose(on_plane.z, q - (q.sum() - 1.0) / 3.0, atol=1e-7)
    assert on_plane.cost == approx(3.0 * 2.0**2)
    boxed = programme().solve(np.zeros(3), np.zeros(3), np.ones(3), np.array([-1.0, 0.5, 3.0]))
    assert_allclose(boxed.z, [0.0, 0.5, 1.0], atol=1e-7)


@pytest.mark.parametrize(
    "high, said", [(0.5, "second at waypoint 6 is"), (-0.5, "second at waypoint 6 is")]
)
def test_infeasible_names_the_constraint_and_the_waypoint(high, said):
    """The first waypoint of the group is 4, and its third row, of waypoint 6, is out of bounds."""
    nlp = programme(
        [("first", lambda z: z[:2], -1.0, 1.0), ("second", lambda z: z, -np.inf, high, 4)]
    )
    found = nlp.solve(np.zeros(3), np.array([-1.0, -1.0, 2.0]), np.full(3, 3.0), np.zeros(3))
    assert found.status == "infeasible" and not found.feasible
    assert found.violation == approx(2.0 - high, abs=1e-4)
    assert said in found.message and f"not at most {high:.3g}" in found.message


def test_threads_take_turns():
    """Two in one solver would end the process."""
    nlp, found = programme([("sum", ca.sum1, 1.0, 1.0)]), {}

    def work(k):
        for _ in range(20):
            found[k] = nlp.solve(np.zeros(3), -FREE, FREE, np.full(3, float(k)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(3):
        assert found[k].status == "ok" and found[k].cost == approx((3.0 * k - 1.0) ** 2 / 3.0)
