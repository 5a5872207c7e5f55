"""Planning with random trees: the methods that trajectory optimisation is compared with (2.3.5).

What the thesis leaves open was chosen so that the trees come near to Table 2.1:

- D_a in e^(b D_a) is taken at alpha = 1, as in the proof of Lemma 2. With that of the step's own
  velocity, 0.025, the bias does next to nothing: mean log E_a is -1.2 in place of the -3.0 printed.
- The fewer the candidates, the more an action is a matter of chance, and the rougher the path and
  the less convergent. With 6 of them log E_a is as printed, acceleration cost up to a fifth above.
- A new node of RRT* is found as in B-RRT or CR-RRT, with the biased metric and the constraint;
  taking the metric only in the rewiring gives mean log E_a -0.5 in place of -3.1.
- RRT* also makes a new node the parent of its neighbours where that costs less, as Karaman and
  Frazzoli do and the thesis does not say.
- RRT* adds no node within ``spacing`` of another: a tree that is shut in would crowd, and every
  iteration look at all of it. With a fifth of the action plans are as good, in a third of the time.
- The iterations after which a tree gives up decide the success rate; they are set so that it comes
  near to the printed ones of the trees without D_m < 0.

The constraint is asked at the beginning of each step of an RRT, and along an edge of an RRT* at
its beginning and then every ``action`` at most. Edges of RRT*, up to the radius r long, are single
steps of the path: only so is its acceleration cost that of Table 2.1.
"""

from __future__ import annotations

import numpy as np

from saltation.convergent.compiled_hill import compiled_hill
from saltation.convergent.hill_path import HillPath, HillProblem, no_path
from saltation.convergent.rrt.edges import Metric
from saltation.convergent.rrt.grid import empty_grid
from saltation.convergent.rrt.growth import REACHED, Growth, Task, cheapest_in_goal, grow
from saltation.convergent.rrt.metrics import CONVERGENCES
from saltation.convergent.rrt.options import RrtOptions, RrtStarOptions
from saltation.convergent.rrt.outcome import no_way, path_to
from saltation.convergent.rrt.star_tree import StarTree, star_tree
from saltation.filters.draws import python_subkey
from saltation.systems import Array

_RRT, _RRT_STAR = RrtOptions(), RrtStarOptions()
_NO_KEY = np.uint64(0)


def plan_rrt(problem: HillProblem, options: RrtOptions = _RRT) -> HillPath:
    """KD-RRT (bias 0), B-RRT, or, where the problem has a constraint, CR-RRT."""
    return _plan(problem, options, np.zeros(1))


def plan_rrt_star(problem: HillProblem, options: RrtStarOptions = _RRT_STAR) -> HillPath:
    """B-RRT*, or, where the problem has a constraint, CR-RRT*.

    Raises:
        ValueError: the problem's powers hold none of the options'.
    """
    return _plan(problem, options, _allowed(problem, options))


def _plan(problem: HillProblem, options: RrtOptions, powers: Array) -> HillPath:
    outside = problem.outside()
    if outside is not None:
        return no_path(*outside)
    tree, count, ending = grown(problem, options, powers)
    if ending != REACHED:
        return no_way(problem, options, ending, tree, count)
    return path_to(tree, cheapest_in_goal(_task(problem), tree, count))


def grown(problem: HillProblem, options: RrtOptions, powers: Array) -> tuple[StarTree, int, int]:
    """The tree that a path is taken from, the number of its nodes, and how its growth ended.

    An RRT* chooses from ``powers`` (k,).
    """
    growth, derivatives = _growth(options), compiled_hill(problem.hill)
    capacity = growth.max_iterations + growth.extra_iterations + 1
    tree = star_tree(problem.start, capacity)
    grid = empty_grid(problem.hill, growth.radius or growth.action, capacity)
    kind, at_alpha = CONVERGENCES.index(problem.convergence), options.bias_at == "unit_alpha"
    metric = Metric(
        kind, growth.action, float(options.bias), float(at_alpha), powers, np.zeros(len(powers))
    )
    ending, count = grow(derivatives, _task(problem), growth, metric, tree, grid)
    return tree, count, ending


def _allowed(problem: HillProblem, options: RrtStarOptions) -> Array:
    low, high = problem.powers
    powers = [p for p in options.powers if low <= p <= high]
    if not powers:
        raise ValueError(f"powers {options.powers}: none is in the problem's [{low:g}, {high:g}]")
    return np.array(powers, float)


def _growth(options: RrtOptions) -> Growth:
    own = (0.0, 0.0, 0.0, 0)
    if isinstance(options, RrtStarOptions):
        own = options.rewire, options.spacing, options.goal_share, options.extra_iterations
    key = python_subkey(_NO_KEY, options.seed)
    whole = options.candidates, options.max_iterations, options.patience
    return Growth(float(options.action), *whole, key, *own)


def _task(problem: HillProblem) -> Task:
    hill = problem.hill
    numbers = *problem.goal, problem.eta, *hill.x_bounds, *hill.y_bounds, *problem.powers
    return Task._make(map(float, numbers))
