"""The closed-form saltation matrix of any transition of a rigid body's hybrid system."""

from __future__ import annotations

from hybrid.rigid_body import closed_forms
from hybrid.rigid_body.body import RigidBody
from hybrid.rigid_body.dynamics import Contact
from hybrid.rigid_body.hybrid_system import CONTACTS, SEPARATING
from hybrid.systems import Array, Transition


def closed_form(body: RigidBody, transition: Transition, x: Array, u: Array) -> Array:
    """Xi (2 m, 2 m) of any transition of ``rigid_body_system(body)``, by the function for it."""
    source, target = CONTACTS[transition.source], CONTACTS[transition.target]
    if source is Contact.NONE and transition.source == SEPARATING:
        return closed_forms.apex(body, x, u)
    if source is Contact.NONE:
        if target is Contact.NONE:
            return closed_forms.elastic_impact(body, x, u)
        if target is Contact.STICKING:
            return closed_forms.plastic_impact_into_sticking(body, x, u)
        return closed_forms.plastic_impact_into_sliding(body, x, u, target)
    if target is Contact.NONE and source is Contact.STICKING:
        return closed_forms.liftoff_from_sticking(body, x, u)
    if target is Contact.NONE:
        return closed_forms.liftoff_from_sliding(body, x, u)
    if source is Contact.STICKING:
        return closed_forms.stick_slip(body, x, u, target)
    return closed_forms.slip_stick(body, x, u, source, target)
