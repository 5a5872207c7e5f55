"""Where strictly convergent paths lead, and the picture of it."""

import numpy as np
import pytest

from controller.convergent.hill import SINE_HILL, Hill
from controller.convergent.planar_contraction import gaussian_curvature
from saltus.common.figures import png
from studies.kong.hill.contraction import figure_regions, reach_graph, reachable_shares
from studies.kong.hill.methods import METHODS

BOTTOM = np.array([-1.0, 0.5])


def bowl(x, y):
    """A round bowl about BOTTOM: H = I, so D_a = D_m = grad h . v / ||grad h||^2 where p = 0."""
    a, b = x - BOTTOM[0], y - BOTTOM[1]
    return 0.5 * (a * a + b * b), a, b, 1.0 + 0.0 * a, 0.0 * a, 1.0 + 0.0 * a


BOWL = Hill("bowl", bowl, (0.0, 1.0), (0.0, 1.0))


@pytest.mark.parametrize("metric", ["average", "maximum"])
def test_in_a_bowl_with_power_0_every_way_down_converges_and_no_other(metric):
    graph, start = reach_graph(BOWL, metric, (0.0, 0.0)), np.array([0.8, 0.5])
    height = np.linalg.norm(graph.points - BOTTOM, axis=1)
    reached, own = graph.reached(start), np.linalg.norm(start - BOTTOM)
    assert height[reached].max() <= own + 1e-9
    assert np.all(reached[height < own - 0.1])
    assert graph.joins(start, np.array([0.0, 0.1]), 0.05)
    assert not graph.joins(np.array([0.0, 0.1]), start, 0.05)


def test_strict_convergence_stays_between_the_lines_without_curvature():
    graph = reach_graph(SINE_HILL, "maximum", (0.0, 2.0), spacing=0.05)
    K = gaussian_curvature(SINE_HILL.at(*graph.points.T))
    u = graph.points[:, 0] * (1.0 + graph.points[:, 1])
    expected = np.cos(u) * (2.0 * u * np.sin(u) - np.cos(u))
    np.testing.assert_array_equal(np.sign(K), np.sign(expected))
    begin, end = graph.steps.nonzero()
    assert len(begin) > 1000
    assert np.all(K[begin] * K[end] > 0.0)


def test_more_powers_and_the_weaker_metric_reach_more():
    start = np.array([0.05, 0.1])
    reached = [
        reach_graph(SINE_HILL, metric, powers, spacing=0.1).reached(start)
        for metric, powers in (("maximum", (0, 2)), ("average", (1, 1)), ("average", (0, 2)))
    ]
    strict, constant_speed, average = (int(np.sum(part)) for part in reached)
    assert strict < average and constant_speed < average
    assert average == len(reached[0])  # all of the map
    nowhere = reach_graph(SINE_HILL, "maximum", (1.0, 1.0), spacing=0.1).reached(start)
    assert np.sum(nowhere) == 1  # Lemma 1: only the start itself


def test_the_picture_has_its_four_maps():
    made = figure_regions()
    assert len([axes for axes in made.axes if axes.get_title()]) == 4
    assert png(made).startswith(b"\x89PNG")


def test_the_shares_are_of_pairs():
    places = np.array([[[0.05, 0.1], [0.1, 2.0]], [[0.1, 2.0], [0.05, 0.1]]])
    share = reachable_shares(places)
    by_number = {method.number: share(method) for method in METHODS}
    assert by_number[1] is None and by_number[5] == by_number[6] == 50.0 and by_number[8] == 100.0
