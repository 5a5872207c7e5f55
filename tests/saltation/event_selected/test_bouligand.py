"""The Bouligand derivative against one-sided differences of flows whose events are located."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from saltation.event_selected.bouligand import all_pieces, bouligand_derivative, selected_piece
from saltation.integration import integrate
from saltation.options import SimulationOptions

TIGHT = SimulationOptions(1e-13, 1e-15)
AROUND = 2e-3  # [s] before and after, in which a trajectory crosses all guards


class Curved:
    """Guards that are curved and fields that bend, with rho = 0 on all guards, m < n."""

    def __init__(self, m):
        rng = np.random.default_rng(0)
        self.m, self.n = m, m + 1
        self.Dh = np.eye(m, self.n) + 0.1 * rng.uniform(-1, 1, size=(m, self.n))
        self.bend = rng.normal(size=(m, self.n, self.n))
        self.constant = 1.0 + 0.3 * rng.uniform(-1, 1, size=(2**m, self.n))
        self.slope = rng.normal(size=(2**m, self.n, self.n))

    def row(self, side):
        return int(2 ** np.arange(self.m) @ (side > 0))

    def corner(self, side):
        return self.constant[self.row(side)]

    def field(self, side):
        row = self.row(side)
        return lambda t, x: self.constant[row] + self.slope[row] @ np.sin(x)

    def h(self, x):
        return self.Dh @ x + 0.5 * np.einsum("kij,i,j->k", self.bend, x, x)

    def crossed(self, side, x, left):
        """Time and number of the next guard, crossed by Brent's method; else None."""
        found = []
        for k in np.flatnonzero(side < 0):

            def value(t, k=k):
                return self.h(integrate(self.field(side), 0.0, x, t, TIGHT))[k]

            if value(left) > 0:
                found.append((brentq(value, -AROUND, left, xtol=1e-17), int(k)))
        return min(found) if found else None

    def flow(self, delta):
        """From delta back along the first field, through all guards, back along the last one."""
        side, left, order = -np.ones(self.m), 2 * AROUND, []
        x = integrate(self.field(side), 0.0, delta, -AROUND, TIGHT)
        while (event := self.crossed(side, x, left)) is not None:
            x = integrate(self.field(side), 0.0, x, event[0], TIGHT)
            left, order = left - event[0], [*order, event[1]]
            side[event[1]] = 1.0
        assert len(order) == self.m
        return integrate(self.field(side), 0.0, x, left - AROUND, TIGHT), tuple(order)


@pytest.mark.parametrize("m", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_every_order_of_guards_against_one_sided_differences(m):
    system = Curved(m)
    pieces = all_pieces(system.corner, system.Dh)
    assert len({piece.order for piece in pieces}) == len(pieces) == math.factorial(m)
    for piece in pieces:
        image = bouligand_derivative(system.corner, system.Dh, piece.direction)
        assert image.order == piece.order
        assert_allclose(image.image, piece.matrix @ piece.direction, atol=1e-12)
        errors = []
        for length in (1e-4, 2e-5):
            end, order = system.flow(length * piece.direction)
            assert order == piece.order
            errors.append(np.abs(end / length - image.image).max())
        # A one-sided quotient is off by a multiple of its length.
        assert errors[1] < 1e-3 and errors[1] < 0.35 * errors[0]


@pytest.mark.parametrize(
    "fields, Dh, delta, said",
    [
        (np.array([[1.0, 0], [-1.0, 0]]), np.array([[1.0, 0]]), np.zeros(2), "guard 0 .*liveness"),
        (np.ones((3, 2)), np.eye(2), np.zeros(2), r"fields have shape \(3, 2\)"),
        (lambda side: np.ones(3), np.eye(2), np.zeros(2), r"field has shape \(3,\)"),
        (np.ones((4, 2)), np.eye(2), np.zeros(3), "is not 2 finite numbers"),
        (np.ones((4, 2)), np.eye(2), np.array([0.1, np.nan]), "is not 2 finite numbers"),
    ],
)
def test_what_does_not_fit_is_said(fields, Dh, delta, said):
    with pytest.raises(ValueError, match=said):
        bouligand_derivative(fields, Dh, delta)


def test_too_many_guards_to_list():
    with pytest.raises(ValueError, match="8 guards may have 8! orders"):
        all_pieces(lambda side: np.ones(9), np.eye(8, 9))
    assert len(selected_piece(lambda side: np.ones(9), np.eye(8, 9), np.arange(9.0)).order) == 8
