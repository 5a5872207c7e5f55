import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hybrid.impacts.resolution import sequential
from studies.seghete_murphey.systems.momentum_maps import momentum_map
from studies.seghete_murphey.systems.momentum_orders import OrderOptions, all_orders
from tests.hybrid.impacts.drawn_problems import drawn

SEEDS = st.integers(0, 2**32 - 1)
RESTITUTIONS = st.floats(0.0, 1.0)
PLASTIC = OrderOptions(restitution=0.0)


def inner(M, a, b):
    return a @ np.linalg.solve(M, b)


def drawn_momentum(seed, m):
    """Inertia, m normals with a common feasible direction, and a momentum that closes one."""
    problem, v = drawn(seed, m=m, friction=0.0)
    return problem.M, problem.J_n, problem.M @ v


def wedge(s):
    """Two unit normals of cosine s, and a momentum that closes both: M is the identity."""
    normals = np.array([[1.0, 0.0], [s, np.sqrt(1.0 - s * s)]])
    return np.eye(2), normals, -normals[0] - 1.01 * normals[1]


@settings(max_examples=25, deadline=None)
@given(SEEDS, RESTITUTIONS, st.integers(1, 3))
def test_every_outcome_is_feasible_gains_no_energy_and_is_the_product_of_its_maps(seed, e, m):
    M, J_n, p = drawn_momentum(seed, m)
    found = all_orders(M, J_n, p, OrderOptions(restitution=e, max_maps=30, max_orders=200))
    for each in found.propagations:
        product = p.copy()
        for surface in each.order:
            assert inner(M, product, J_n[surface]) < 0.0  # a map where it is infeasible only
            product = product @ momentum_map(M, J_n[surface], e)
        assert_allclose(each.p_plus, product, atol=1e-8 * np.linalg.norm(p))
        energies = inner(M, each.p_plus, each.p_plus), inner(M, p, p)
        assert energies[0] <= energies[1] * (1.0 + 1e-12)
        if each.status == "feasible":
            speeds = J_n @ np.linalg.solve(M, each.p_plus)
            sizes = np.sqrt([inner(M, u, u) for u in J_n])
            assert (speeds >= -1e-9 * sizes * np.sqrt(energies[1])).all()
    assert len({each.order for each in found.propagations}) == len(found.propagations)


@pytest.mark.parametrize("s", [0.6, 0.1, -0.2, -0.55, -0.8, -0.95])
def test_elastic_wedge_needs_at_most_pi_over_its_angle(s):
    found = all_orders(*wedge(s))
    most = int(np.ceil(np.pi / np.arccos(-s)))
    assert found.status == "complete"
    assert len(found.propagations) == 2
    assert max(len(each.order) for each in found.propagations) <= most
    if s <= -0.55:
        assert max(len(each.order) for each in found.propagations) > 2


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_plastic_maps_are_sequential_impacts_without_friction(seed):
    problem, v = drawn(seed, friction=0.0)
    found = all_orders(problem.M, problem.J_n, problem.M @ v, PLASTIC).propagations
    one = next(each for each in found if each.order[0] == 0)
    other = sequential(problem, v, (0, 1)).v_plus
    v_plus = np.linalg.solve(problem.M, one.p_plus)
    assert_allclose(v_plus, other, atol=1e-6 * np.linalg.norm(other))
