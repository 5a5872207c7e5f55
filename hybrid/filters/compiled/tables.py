"""A filter's model in tables that kernels can read; modes and transitions stand by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.compiled.system import (
    CompiledDerivatives,
    CompiledSystem,
    compiled,
    matrix_table,
    solution_table,
    vector_table,
)
from hybrid.filters.model import FilterModel, Measurement
from hybrid.systems import Array, Derivative, Mode, VectorFunction

# ruff: noqa: N803, N806, N815 (the letters are the thesis's)


class FilterTables(NamedTuple):
    """What a filter knows. Derivatives that were not given are found by differences."""

    system: CompiledSystem
    derivatives: CompiledDerivatives
    solutions: tuple[Callable, ...]  # (D_x, D_u) of a flow over h [s] in closed form, one a mode
    guard_states: tuple[Callable, ...]  # D_x g -> (n_source,), one a transition
    reset_states: tuple[Callable, ...]  # D_x R -> (n_target, n_source)
    measurements: tuple[Callable, ...]  # h -> (p,), one a mode
    measurement_states: tuple[Callable, ...]  # C = D_x h -> (p, n)
    given: NDArray[np.bool_]  # (4,) whether all of D_x g, D_x R, C, and solutions are given
    timed: NDArray[np.bool_]  # (transitions,) whether guard and reset may depend on time
    V: Array  # (modes, p, p)
    Q: Array  # (modes, n, n), W(h) = h^power Q
    power: Array  # (modes,)
    W_R: Array  # (transitions, n, n)


def filter_tables(model: FilterModel) -> FilterTables:
    """The model's tables, made once.

    Raises:
        ValueError: a function does not compile, a mode lives on a manifold, or the measurements
            of two modes have different numbers of components.
    """
    known = getattr(model, "_filter_tables", None)
    if known is None:
        known = _tables(model)
        object.__setattr__(model, "_filter_tables", known)
    return known


def _tables(model: FilterModel) -> FilterTables:
    system, found = model.system, compiled(model.system)
    if model.manifolds:
        raise ValueError("compiled filters work in R^n: leave the manifolds out")
    if found.system is None or found.derivatives is None:
        raise ValueError(f"the system does not compile: {found.reason}")
    edges, n = system.transitions, system.state_dim
    every = [model.measurements[mode] for mode in system.modes]
    _check_measurements(every, list(system.modes.values()))
    guards, guards_given = _gradients([edge.guard_state for edge in edges])
    resets, resets_given = matrix_table([edge.reset_state for edge in edges])
    states, states_given = matrix_table([one.state for one in every])
    solutions, closed = solution_table([mode.flow_map for mode in system.modes.values()])
    process = [model.process[mode] for mode in system.modes]
    noises = [model.reset_noise.get((e.source, e.target), np.zeros((0, 0))) for e in edges]
    return FilterTables(
        found.system,
        found.derivatives,
        solutions,
        guards,
        resets,
        vector_table([one.function for one in every]),
        states,
        np.array([guards_given, resets_given, states_given, closed]),
        np.array([not edge.time_invariant for edge in edges], dtype=bool),
        np.array([_symmetric(one.V) for one in every]),
        _stacked([noise.Q for noise in process], n),
        np.array([float(noise.power) for noise in process]),
        _stacked(noises, n),
    )


def _gradients(functions: Sequence[VectorFunction]) -> tuple[tuple[Any, ...], bool]:
    """Table of D_x g, and whether they were all given; if not, none of them is used."""
    given = not any(isinstance(function, Derivative) for function in functions)
    return vector_table(functions if given else ()), given


def _check_measurements(every: Sequence[Measurement], modes: Sequence[Mode]) -> None:
    """Refuse h of other sizes than V's: kernels do not look at the ends of arrays."""
    sizes = sorted({len(one.V) for one in every})
    if len(sizes) > 1:
        raise ValueError(f"modes are measured by {sizes} numbers: compiled filters take one size")
    for one, mode in zip(every, modes, strict=True):
        x, u = np.linspace(0.1, 0.2, mode.state_dim), np.linspace(0.1, 0.2, mode.input_dim)
        shapes = np.shape(one.function(0.0, x.copy(), u)), np.shape(one.state(0.0, x, u))
        wanted = (sizes[0],), (sizes[0], mode.state_dim)
        if shapes != wanted:
            raise ValueError(f"h and D_x h of mode {mode.name} have shapes {shapes}; give {wanted}")


def _stacked(matrices: Sequence[Array], n: int) -> Array:
    """Matrices (count, n, n), each padded with zeros and made symmetric."""
    whole = np.zeros((len(matrices), n, n))
    for room, matrix in zip(whole, matrices, strict=True):
        room[: len(matrix), : len(matrix)] = _symmetric(matrix)
    return whole


def _symmetric(matrix: Array) -> Array:
    M = np.asarray(matrix, dtype=np.float64)
    return 0.5 * (M + M.T)
