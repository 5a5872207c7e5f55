"""Systems whose functions numba cannot compile, so that simulation calls them as Python."""

from dataclasses import replace

from hybrid.systems import System

_FUNCTIONS: dict = {}  # a dictionary of functions is nothing that numba knows


def as_callback(function):
    """The function behind a lookup that only Python can do."""
    key = len(_FUNCTIONS)
    _FUNCTIONS[key] = function

    def call(*arguments):
        return _FUNCTIONS[key](*arguments)

    return call


def with_callbacks(system: System) -> System:
    """The same system in Python alone; derivatives are found anew."""
    modes = {i: replace(mode, flow=as_callback(mode.flow)) for i, mode in system.modes.items()}
    transitions = tuple(
        replace(edge, guard=as_callback(edge.guard), reset=as_callback(edge.reset))
        for edge in system.transitions
    )
    return replace(system, modes=modes, transitions=transitions)
