"""Backward pass of HiLQR: (5.27)-(5.31), with either transition matrix."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from saltation.arrays import Pair, contiguous
from saltation.hilqr.bounds import Box
from saltation.hilqr.riccati_kernel import Damping, Maps, Recursion, backward_kernel
from saltation.hilqr.types import Array, CostExpansion, Drift, Linearisation

# ruff: noqa: N806 (the letters are the thesis's)

Variant = Literal["xi", "dxr", "no_extension"]

NO_DRIFT = Drift(0, 0, 0, 0.0)


class Backward(NamedTuple):
    """Affine policy that minimises the quadratic model, and what the model promises.

    ``failed_knot`` is -1 on success. Otherwise the input Hessian of that knot was not positive
    definite (or not finite), the arrays are not to be used, and more regularisation is needed.
    """

    feedforward: Array  # (N, m)
    gains: Array  # (N, m, n)
    V_x: Array  # (n,) gradient of the value function at knot 0
    V_xx: Array  # (n, n) Hessian of the value function at knot 0
    linear: float  # first sum of (5.19), never positive
    quadratic: float  # second sum of (5.19)
    failed_knot: int

    @property
    def ok(self) -> bool:
        """Whether the recursion reached knot 0."""
        return self.failed_knot < 0

    def expected_change(self, step_size: float = 1.0) -> float:
        """Change of cost that the quadratic model expects at a step size, (5.19)."""
        return step_size * (self.linear + step_size * self.quadratic)


def compose(linearisation: Linearisation, variant: Variant = "xi") -> Pair:
    """A (N, n, n) and B (N, n, m) of whole timesteps, transitions included: (5.25), (5.26).

    A transition multiplies by its saltation matrix, or by D_x R in the variant "dxr" (5.32).
    Arrays of a linearisation without transitions come back as they are, not copied.
    """
    A, B = contiguous(linearisation.A), contiguous(linearisation.B)
    if not linearisation.transitions:
        return A, B
    A, B = A.copy(), B.copy()
    for k, state, push in zip(*_maps(linearisation, variant), strict=True):
        A[k], B[k] = state @ A[k], state @ B[k] + push
    return A, B


def backward_pass(
    linearisation: Linearisation,
    cost: CostExpansion,
    mu_state: float = 0.0,
    mu_input: float = 0.0,
    variant: Variant = "xi",
    box: Box | None = None,
) -> Backward:
    """Riccati recursion about a trajectory, regularised as by Tassa et al. 2012.

    Args:
        linearisation: of the trajectory. Its transitions are composed as by ``compose``, each in
            the work arrays of its timestep.
        cost: expansion of the cost.
        mu_state: added to V'_xx where it enters Q_uu and Q_ux [cost / state^2].
        mu_input: added to Q_uu [cost / input^2].
        variant: of the transitions.
        box: bounds of the feedforward at step size one; gains are zero where it is at a bound.

    Returns:
        The policy. V and the expected change are those of the true Q, not the regularised one.

    Raises:
        ValueError: a drift whose indices do not fit the state.
    """
    A, B = contiguous(linearisation.A), contiguous(linearisation.B)
    N, n, m = B.shape
    drift = linearisation.drift
    if drift is None or mu_state > 0.0:  # B'B of the damping takes all rows
        drift = NO_DRIFT
    _check(drift, n)
    out = Recursion(
        np.empty((N, m)), np.empty((N, m, n)), np.empty(n), np.empty((n, n)), np.zeros(2)
    )
    failed = backward_kernel(
        A,
        B,
        _maps(linearisation, variant),
        Drift(int(drift.first), int(drift.last), int(drift.shift), float(drift.dt)),
        CostExpansion(*map(contiguous, cost)),
        Damping(float(mu_state), float(mu_input)),
        Box(*map(contiguous, box or (np.empty((0, m)),) * 2)),
        out,
    )
    linear, quadratic = out.change
    return Backward(*out[:4], float(linear), float(quadratic), int(failed))


def _maps(linearisation: Linearisation, variant: Variant) -> Maps:
    """Transitions, and the flows after them, in order of time."""
    _, n, m = linearisation.B.shape
    maps: list[tuple[int, Array, Array | None]] = []
    for jump in sorted(linearisation.transitions, key=lambda jump: jump.knot):
        if variant == "dxr":
            maps.append((jump.knot, jump.reset_jacobian, None))
        else:
            maps.append((jump.knot, jump.saltation, jump.saltation_input))
        if jump.flow_state is not None or jump.flow_input is not None:
            flow = np.eye(n) if jump.flow_state is None else jump.flow_state
            maps.append((jump.knot, flow, jump.flow_input))
    knots = np.array([knot for knot, _, _ in maps], np.int64)
    states, pushes = np.empty((len(maps), n, n)), np.zeros((len(maps), n, m))
    for i, (_, state, push) in enumerate(maps):
        states[i] = state
        if push is not None:
            pushes[i] = push
    return Maps(knots, states, pushes)


def _check(drift: Drift, n: int) -> None:
    """Refuse indices that the compiled loops would take beyond their arrays."""
    first, last, shift, _ = drift
    inside = 0 <= first <= last <= n and 0 <= first + shift and last + shift <= n
    if not inside or (first < last and abs(shift) < last - first):
        raise ValueError(f"{drift} does not fit {n} states: positions and velocities must be apart")
