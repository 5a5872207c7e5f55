"""Derivatives of return maps (3.4.3): from saltation matrices, and by finite differences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space, orth

from hybrid.chains import chains, merged
from hybrid.held_inputs import held_input
from hybrid.options import SimulationOptions
from hybrid.poincare import PhaseSection, Return, Section, return_map
from hybrid.saltation import saltation
from hybrid.systems import Array, System
from hybrid.variational import fundamental_matrix, not_transverse_message, product_along

# ruff: noqa: N803, N806 (the letters are the thesis's)

_STEP = 1e-3  # of the differences, relative: fourth order, so they are off by about 1e-12


class LinearReturn(NamedTuple):
    """A return, and its two first-order maps; NaN where status is not "ok"."""

    found: Return
    Phi: Array  # (3.33) over the fixed duration of this return (n, n)
    derivative: Array  # D_x P (n, n); the duration varies with x
    status: str
    message: str = ""


def linear_return(
    system: System,
    section: Section,
    mode: int,
    x: Array,
    u: Array | None = None,
    options: SimulationOptions | None = None,
) -> LinearReturn:
    """The return of x (n,) with its fundamental matrix Phi (3.33) and the derivative of P.

    With an event as section, D_x P = Phi - F+ D_x g A / (D_x g F-): Phi less what the last event's
    shift in time adds along the flow F+, where A is the product up to just before that event. With
    the clock as section the two are the same. Status "other_mode": x is not in the section's mode.
    """
    found = return_map(system, section, mode, x, u, options)
    nowhere = np.full((len(x), len(x)), np.nan)
    if found.status != "ok":
        return LinearReturn(found, nowhere, nowhere, found.status, found.message)
    if isinstance(section, PhaseSection):
        over = fundamental_matrix(system, mode, x, section.period, u, section.start, options)
        Phi = over.Phi if over.ok else nowhere
        return LinearReturn(found, Phi, Phi, over.status, over.message)
    if found.mode != mode:
        message = f"{section.transition!r} leads to mode {found.mode}; the state is in mode {mode}"
        return LinearReturn(found, nowhere, nowhere, "other_mode", message)
    return _through_last_event(system, found, mode, x, held_input(system, u), options)


def _through_last_event(
    system: System,
    found: Return,
    mode: int,
    x: Array,
    u: Array,
    options: SimulationOptions | None,
) -> LinearReturn:
    closing = chains(system, found.events, u)[-1]
    last, earlier = merged(closing), found.events[: -len(closing)]
    edge, t, before = last.transition, last.time, last.state_before
    A, status, message = product_along(system, mode, 0.0, x, u, earlier, t, options)
    jump = saltation(system, edge, t, before, u)
    if not jump.ok:
        status, message = "not_transverse", not_transverse_message(system, last, jump.guard_rate)
    if status != "ok":
        nowhere = np.full((len(x), len(x)), np.nan)
        return LinearReturn(found, nowhere, nowhere, status, message)
    Phi = jump.matrix @ A
    F = system.modes[found.mode].flow(t, last.state_after, u)
    shift = np.outer(F, edge.guard_state(t, before, u) @ A) / jump.guard_rate
    return LinearReturn(found, Phi, Phi - shift, status, message)


def section_basis(
    system: System,
    section: Section,
    mode: int,
    x: Array,
    u: Array | None = None,
    options: SimulationOptions | None = None,
) -> Array:
    """Orthonormal directions to perturb a fixed point x (n,) in: (n, n - 1), or eye(n) by clock.

    The event's section is the image of the guard, D_x R of D_x g's null space. Where the reset
    collapses it, directions across the flow complete it: there the return map is flat.
    """
    n = system.modes[mode].state_dim
    found = return_map(system, section, mode, x, u, options)
    if isinstance(section, PhaseSection) or found.status != "ok":
        return np.eye(n)
    u = held_input(system, u)
    last = merged(chains(system, found.events, u)[-1])
    edge, t, before = last.transition, last.time, last.state_before
    on_guard = null_space(edge.guard_state(t, before, u)[None, :])
    image = orth(edge.reset_state(t, before, u) @ on_guard)
    F = system.modes[mode].flow(t, last.state_after, u)
    rest = null_space(np.column_stack((image, F)).T)
    return np.column_stack((image, rest))[:, : n - 1]


def poincare_jacobian(
    system: System,
    section: Section,
    mode: int,
    x: Array,
    u: Array | None = None,
    options: SimulationOptions | None = None,
    step: float = _STEP,
) -> Array:
    """D P at a fixed point x (n,) by finite differences of the return map, in the section's basis.

    (n - 1, n - 1) with an event as section, (n, n) with the clock. Uses no derivative of the flow,
    so its eigenvalues check the monodromy matrix. NaN where a perturbed state does not return, or
    not into its mode: then take a smaller ``step`` (relative to each state's size, at least 1).
    """
    basis = section_basis(system, section, mode, x, u, options)
    columns = []
    for direction in basis.T:
        h = step * max(1.0, float(np.max(np.abs(x))))
        images = []
        for k in (-2, -1, 1, 2):
            found = return_map(system, section, mode, x + k * h * direction, u, options)
            if found.status != "ok" or found.mode != mode:
                return np.full((basis.shape[1],) * 2, np.nan)
            images.append(found.state)
        columns.append(basis.T @ (images[0] - 8 * images[1] + 8 * images[2] - images[3]) / (12 * h))
    return np.column_stack(columns)
