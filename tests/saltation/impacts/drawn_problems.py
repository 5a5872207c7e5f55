"""Random impact problems for the tests of impact laws."""

import numpy as np

from saltation.impacts.contact_problem import ContactProblem


def wedge(a, mu):
    """A point between two walls at the angle a to the vertical."""
    normals = np.array([[np.cos(a), np.sin(a)], [-np.cos(a), np.sin(a)]])
    tangents = np.array([[-np.sin(a), np.cos(a)], [np.sin(a), np.cos(a)]])
    return ContactProblem.planar(np.eye(2), normals, tangents, mu, ("left", "right"), "wedge")


def drawn(seed, n=4, m=2, friction=None, spatial=False):
    """A problem and a velocity at which a contact closes, with a pointed friction cone."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    M = A @ A.T + 0.3 * np.eye(n)
    J_n = rng.normal(size=(m, n))
    J_n[:, 0] = 2.0 + rng.random(m)  # a common direction separates all contacts
    mu = rng.uniform(0.0, 0.8, m) if friction is None else np.full(m, friction)
    names = tuple("ABCDE"[:m])
    if spatial:
        J_t = 0.5 * rng.normal(size=(m, 2, n))
        problem = ContactProblem.spatial(M, J_n, J_t, mu, names, "drawn", directions=4)
    else:
        J_t = 0.5 * rng.normal(size=(m, n))
        problem = ContactProblem.planar(M, J_n, J_t, mu, names, "drawn")
    v = rng.normal(size=n)
    v[0] = -1.0 - np.abs(J_n[0, 1:] @ v[1:]) / J_n[0, 0]
    return problem, v
