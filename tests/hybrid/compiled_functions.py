"""Systems whose functions numba compiles, beside the same ones that are called as Python."""

from dataclasses import replace

from numba import njit

from hybrid.systems import FlowMap, System


def with_numba(system: System) -> System:
    """The same system with its flows, closed forms, guards and resets compiled."""
    modes = {number: replace(mode, **_compiled(mode)) for number, mode in system.modes.items()}
    transitions = tuple(
        replace(edge, guard=njit(edge.guard), reset=njit(edge.reset))
        for edge in system.transitions
    )
    return replace(system, modes=modes, transitions=transitions)


def _compiled(mode):
    solution = mode.flow_map
    if solution is None:
        return {"flow": njit(mode.flow)}
    state = njit(solution.state)
    return {"flow": njit(mode.flow), "flow_map": FlowMap(state, solution.jacobians)}
