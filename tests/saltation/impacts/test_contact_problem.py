"""Contact problems: what they are built from, what is refused, and pointed friction cones."""

import numpy as np
import pytest

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.pointedness import pointed_direction
from tests.saltation.impacts.drawn_problems import wedge

GOOD = {"M": np.eye(2), "J_n": np.array([[0.0, 1.0]]), "J_t": np.array([[1.0, 0.0]]), "mu": 0.5}


def problem(**changes):
    given_ = {**GOOD, "contacts": ("A",), "name": "the crate", **changes}
    return ContactProblem.planar(**given_)


def test_one_contact_is_cut_out_with_its_friction():
    both = ContactProblem.planar(
        np.eye(3), np.eye(3)[:2], np.roll(np.eye(3)[:2], 1, axis=1), [0.1, 0.2], ("A", "B")
    )
    second = both.only(1)
    assert (second.contacts, second.mu.tolist()) == (("B",), [0.2])
    assert second.J_n.tolist() == [[0.0, 1.0, 0.0]]
    assert second.J_D.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"J_n": np.zeros((0, 2)), "J_t": np.zeros((0, 2)), "contacts": ()}, "no contact"),
        ({"M": np.diag([1.0, 0.0])}, "velocity 1 moves without inertia"),
        ({"M": np.diag([1.0, -1.0])}, "not positive definite"),
        ({"M": np.array([[1.0, 0.5], [0.0, 1.0]])}, "not symmetric"),
        ({"M": np.array([[1.0, np.nan], [np.nan, 1.0]])}, "M is not finite"),
        ({"J_n": np.zeros((1, 2))}, "contact A: no velocity separates"),
        ({"mu": -0.1}, "contact A: coefficient of friction -0.1"),
        ({"J_n": np.ones((1, 3))}, "J_n has shape"),
        ({"J_t": np.ones((2, 2))}, "J_t has shape"),  # or the contact would have four directions
        ({"mu": np.ones(2)}, "mu has shape"),
    ],
)
def test_what_is_no_impact_is_refused_with_the_configuration_that_caused_it(changes, said):
    with pytest.raises(ValueError, match=said) as caught:
        problem(**changes)
    assert str(caught.value).startswith("the crate: ")
    assert "\n" not in str(caught.value)


def test_a_wedge_is_pointed_until_friction_opens_its_cone():
    """Walls at a = 30 degrees to the vertical: pointed while mu < tan a."""
    a = np.deg2rad(30.0)
    for mu, pointed in ((0.99 * np.tan(a), True), (1.01 * np.tan(a), False)):
        assert (pointed_direction(wedge(a, mu)) is not None) == pointed
