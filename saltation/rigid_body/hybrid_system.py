"""A rigid body over a unilateral constraint as a hybrid system (3.6.1, Fig. 3.8).

The thesis's sliding mode S is two modes here, one for each sign of v_t: friction jumps where v_t
changes sign, where neither the flow nor the guard (3.95) of a single mode is differentiable.
"""

from __future__ import annotations

from saltation.rigid_body import guards
from saltation.rigid_body.body import RigidBody
from saltation.rigid_body.dynamics import Contact, vector_field
from saltation.rigid_body.impacts import impact_reset
from saltation.systems import Mode, System, Transition

APPROACHING = 1  # U
SEPARATING = 2  # V
SLIDING_FORWARD = 3  # S with v_t > 0
SLIDING_BACKWARD = 4  # S with v_t < 0
STICKING = 5  # C
_MODES = {
    APPROACHING: ("approaching", Contact.NONE),
    SEPARATING: ("separating", Contact.NONE),
    SLIDING_FORWARD: ("sliding forward", Contact.FORWARD),
    SLIDING_BACKWARD: ("sliding backward", Contact.BACKWARD),
    STICKING: ("sticking", Contact.STICKING),
}
CONTACTS = {mode: contact for mode, (_, contact) in _MODES.items()}
_SLIDING = (SLIDING_FORWARD, SLIDING_BACKWARD)


def rigid_body_system(body: RigidBody) -> System:
    """Modes U, V, S (both directions) and C of a body, and the transitions between them.

    Impacts are elastic and without friction (U, V) where ``body.restitution`` is positive. Else
    they are plastic, into sticking where Coulomb's law for the impulse allows it and into sliding
    elsewhere; without impact friction always into sliding. Sliding that reverses without sticking
    is the transition "slip reversal", which the thesis does not have.
    """
    modes = {
        number: Mode(name, 2 * body.dof, body.input_dim, vector_field(body, contact))
        for number, (name, contact) in _MODES.items()
    }
    apex = guards.apex_guard(body)
    flight = Transition.continuous(SEPARATING, APPROACHING, apex, "apex", time_invariant=True)
    transitions = (flight, *_impacts(body), *_slides(body), *_sticks(body))
    return System(modes, transitions, "rigid body")


def transition_between(system: System, source: int, target: int) -> Transition:
    """The transition from one mode to another.

    Raises:
        ValueError: there is none.
    """
    for edge in system.outgoing(source):
        if edge.target == target:
            return edge
    targets = [edge.target for edge in system.outgoing(source)]
    raise ValueError(f"no transition ({source}, {target}); mode {source} leads to {targets}")


def _impacts(body: RigidBody) -> list[Transition]:
    if body.restitution > 0.0:
        ends = [(SEPARATING, "elastic impact")]
    else:
        ends = [(mode, "plastic impact into sliding") for mode in _SLIDING]
        if body.impact_friction:
            ends.append((STICKING, "plastic impact into sticking"))
    return [
        Transition(
            APPROACHING,
            target,
            guards.impact_guard(body, CONTACTS[target]),
            impact_reset(body, CONTACTS[target]),
            guards.impact_guard_state(body),
            name=name,
            time_invariant=True,
        )  # fmt: skip
        for target, name in ends
    ]


def _slides(body: RigidBody) -> list[Transition]:
    """Ends of sliding: liftoff, sticking and reversal."""
    edges = []
    for mode, other in (_SLIDING, _SLIDING[::-1]):
        edges.append(_liftoff(body, mode, "liftoff from sliding"))
        for target, name in ((STICKING, "slip-stick"), (other, "slip reversal")):
            stop = guards.stop_guard(body, CONTACTS[mode], sticks=target == STICKING)
            slopes = guards.stop_guard_state(body, CONTACTS[mode])
            edges.append(Transition.continuous(mode, target, stop, name, True, slopes))
    return edges


def _sticks(body: RigidBody) -> list[Transition]:
    """Ends of sticking: slipping either way, and liftoff."""
    slips = [(mode, guards.slip_guard(body, CONTACTS[mode].direction)) for mode in _SLIDING]
    edges = [Transition.continuous(STICKING, *slip, "stick-slip", True) for slip in slips]
    return [*edges, _liftoff(body, STICKING, "liftoff from sticking")]


def _liftoff(body: RigidBody, mode: int, name: str) -> Transition:
    guard = guards.liftoff_guard(body, CONTACTS[mode])
    return Transition.continuous(mode, SEPARATING, guard, name, time_invariant=True)
