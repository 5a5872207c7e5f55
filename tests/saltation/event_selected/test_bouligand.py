"""The Bouligand derivative: what it refuses; test_event_selected.py has its law."""

import numpy as np
import pytest

from saltation.event_selected.bouligand import all_pieces, bouligand_derivative, selected_piece


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
