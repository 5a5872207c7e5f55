"""Events that set each other off at one instant, taken together as one transition.

Where a reset lands behind another guard, that guard fires at once, whatever the state: only the
first event of such a chain has a time that (3.2) can find. So a chain is one transition with the
first one's guard and the composition of all the resets, and its saltation matrix is (3.2)'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltation.events import EventRecord
from saltation.saltations import is_jumped_over
from saltation.systems import Array, System, Transition


def chains(system: System, events: Sequence[EventRecord]) -> list[list[EventRecord]]:
    """Events in groups: each with those that its reset set off."""
    groups: list[list[EventRecord]] = []
    for event in events:
        at_once = bool(groups) and event.time == groups[-1][-1].time
        if at_once and is_jumped_over(system, event.transition, *event.at):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def merge_chain(chain: Sequence[EventRecord]) -> EventRecord:
    """A chain as one event, whose transition is the composition of the chain's."""
    event = chain[0]
    for later in chain[1:]:
        edge = compose_transitions(event.transition, later.transition)
        event = event._replace(transition=edge, state_after=later.state_after)
    return event


def compose_transitions(first: Transition, second: Transition) -> Transition:
    """The first transition followed by the second at the same time, with the first's guard."""

    def reset(t: float, x: Array, u: Array) -> Array:
        return second.reset(t, first.reset(t, x, u), u)

    def reset_state(t: float, x: Array, u: Array) -> Array:
        return second.reset_state(t, first.reset(t, x, u), u) @ first.reset_state(t, x, u)

    def reset_time(t: float, x: Array, u: Array) -> Array:
        middle = first.reset(t, x, u)
        rate = np.broadcast_to(first.reset_time(t, x, u), middle.shape)  # it may be a number
        return second.reset_time(t, middle, u) + second.reset_state(t, middle, u) @ rate

    def reset_input(t: float, x: Array, u: Array) -> Array:
        middle = first.reset(t, x, u)
        by_first = second.reset_state(t, middle, u) @ first.reset_input(t, x, u)
        return second.reset_input(t, middle, u) + by_first

    return Transition(
        first.source,
        second.target,
        first.guard,
        reset,
        guard_state=first.guard_state,
        reset_state=reset_state,
        guard_time=first.guard_time,
        reset_time=reset_time,
        guard_input=first.guard_input,
        reset_input=reset_input,
        name=f"{first.name}, {second.name}",
    )
