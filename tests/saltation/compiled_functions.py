"""Systems in other forms: functions that numba compiles, and flows without closed forms."""

from dataclasses import replace

import pytest
from numba import njit

from saltation.systems import FlowMap, System


def with_numba(system):
    """The same system with its flows, closed forms, guards and resets compiled."""
    modes = {number: replace(mode, **_compiled(mode)) for number, mode in system.modes.items()}
    transitions = tuple(
        replace(edge, guard=njit(edge.guard), reset=njit(edge.reset)) for edge in system.transitions
    )
    return replace(system, modes=modes, transitions=transitions)


def _compiled(mode):
    solution = mode.flow_map
    if solution is None:
        return {"flow": njit(mode.flow)}
    state = njit(solution.state)
    return {"flow": njit(mode.flow), "flow_map": FlowMap(state, solution.jacobians)}


def without_closed_forms(system):
    """The same system, whose flows have to be integrated."""
    modes = {k: replace(mode, flow_map=None) for k, mode in system.modes.items()}
    return System(modes, system.transitions)


each_way = pytest.mark.parametrize("way", [with_numba, lambda s: s], ids=["compiled", "python"])
