"""Backward pass of HiLQR: (5.27)-(5.31), with either transition matrix."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from hybrid.hilqr.riccati_kernel import backward_kernel
from hybrid.hilqr.types import Array, CostExpansion, Linearisation

# ruff: noqa: N806 (the letters are the thesis's)

Variant = Literal["xi", "dxr", "no_extension"]


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


def compose(linearisation: Linearisation, variant: Variant = "xi") -> tuple[Array, Array]:
    """A (N, n, n) and B (N, n, m) of whole timesteps, transitions included: (5.25), (5.26).

    A transition multiplies by its saltation matrix, or by D_x R in the variant "dxr" (5.32).
    Arrays of a linearisation without transitions come back as they are, not copied.
    """
    A = np.ascontiguousarray(linearisation.A, dtype=np.float64)
    B = np.ascontiguousarray(linearisation.B, dtype=np.float64)
    if not linearisation.transitions:
        return A, B
    A, B = A.copy(), B.copy()
    for transition in linearisation.transitions:
        k = transition.knot
        jump = transition.reset_jacobian if variant == "dxr" else transition.saltation
        A[k], B[k] = jump @ A[k], jump @ B[k]
        if transition.saltation_input is not None and variant != "dxr":
            B[k] += transition.saltation_input
        if transition.flow_state is not None:
            A[k], B[k] = transition.flow_state @ A[k], transition.flow_state @ B[k]
        if transition.flow_input is not None:
            B[k] += transition.flow_input
    return A, B


def backward_pass(
    A: Array, B: Array, cost: CostExpansion, mu_state: float = 0.0, mu_input: float = 0.0
) -> Backward:
    """Riccati recursion about a trajectory, regularised as by Tassa et al. 2012.

    Args:
        A: whole-timestep state Jacobians (N, n, n), from ``compose``.
        B: whole-timestep input Jacobians (N, n, m).
        cost: expansion of the cost.
        mu_state: added to V'_xx where it enters Q_uu and Q_ux [cost / state^2].
        mu_input: added to Q_uu [cost / input^2].

    Returns:
        The policy. V and the expected change are those of the true Q, not the regularised one.
    """
    N, n, m = B.shape
    feedforward, gains = np.empty((N, m)), np.empty((N, m, n))
    V_x, V_xx, change = np.empty(n), np.empty((n, n)), np.zeros(2)
    contiguous = np.ascontiguousarray
    failed = backward_kernel(
        A,
        B,
        contiguous(cost.l_x),
        contiguous(cost.l_u),
        contiguous(cost.l_xx),
        contiguous(cost.l_ux),
        contiguous(cost.l_uu),
        float(mu_state),
        float(mu_input),
        feedforward,
        gains,
        V_x,
        V_xx,
        change,
    )
    return Backward(feedforward, gains, V_x, V_xx, float(change[0]), float(change[1]), int(failed))
