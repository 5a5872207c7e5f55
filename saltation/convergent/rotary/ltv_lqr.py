"""Linear quadratic regulators: along a trajectory, (2.29)-(2.31), and at a point for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import LinAlgError, solve_continuous_are

from saltation.arrays import Pair
from saltation.systems import Array

Linear = Callable[[float], Pair]  # time [s] -> A (n, n), B (n, m)


class LtvLqr(NamedTuple):
    """Cost-to-go and gains at given times; u = u_open + K (x_des - x), (2.31)."""

    times: Array  # (k,) [s]
    costs: Array  # s(t), (k, n, n)
    gains: Array  # K(t), (k, m, n)


class Lqr(NamedTuple):
    """Cost-to-go and gain of the infinite horizon."""

    cost: Array  # (n, n)
    gain: Array  # (m, n)


def ltv_lqr(
    linear: Linear, times: Array, Q: Array, Q_f: Array, R: Array, tolerance: float = 1e-7
) -> LtvLqr:
    """Solve (2.29) backwards from s(T) = Q_f at the last of the times, which rise; (2.30).

    Args:
        linear: A(t) and B(t) of the linearised flow.
        times: where to know the gains (k,) [s].
        Q: weight of a deviation (n, n), symmetric.
        Q_f: of the last deviation (n, n), symmetric.
        R: weight of the input (m, m), positive definite.
        tolerance: relative, of the Riccati equation's solution.

    Raises:
        ValueError: the times do not rise, a weight or the system is not as asked above, or the
            Riccati equation has no solution back to the first of the times.
    """
    if len(times) < 2 or not np.all(np.diff(times) > 0.0):
        raise ValueError("times: give two or more that rise")
    _check_weights(Q, R)
    inverse, shape = np.linalg.inv(R), Q.shape

    def rate(time: float, flat: Array) -> Array:
        s = flat.reshape(shape)
        A, B = linear(time)
        if not (np.all(np.isfinite(A)) and np.all(np.isfinite(B))):
            raise ValueError(
                f"A and B are not finite at {time:g} s"
            )  # no step would be short enough
        sA = s @ A
        return -(Q - s @ B @ inverse @ B.T @ s + sA + sA.T).ravel()  # (2.29)

    span = (times[-1], times[0])
    small = tolerance * 1e-3 * max(1e-12, float(np.max(np.abs(Q_f))))
    solved = solve_ivp(rate, span, Q_f.ravel(), t_eval=times[::-1], rtol=tolerance, atol=small)
    if not solved.success:
        last = solved.t[-1] if len(solved.t) else times[-1]
        raise ValueError(f"Q, Q_f, R: the Riccati equation has no solution before {last:g} s")
    costs = solved.y.T[::-1].reshape(-1, *shape)
    costs = 0.5 * (costs + np.swapaxes(costs, 1, 2))
    gains = [inverse @ linear(t)[1].T @ s for t, s in zip(times, costs, strict=True)]
    return LtvLqr(times, costs, np.array(gains))  # (2.30)


def infinite_horizon_lqr(A: Array, B: Array, Q: Array, R: Array) -> Lqr:
    """The regulator of x' = A x + B u for all time.

    Raises:
        ValueError: no input stabilises the system, or the weights are not as in ``ltv_lqr``.
    """
    _check_weights(Q, R)
    try:
        cost = np.asarray(solve_continuous_are(A, B, Q, R))
    except LinAlgError as error:
        raise ValueError(f"A, B, Q, R: no stabilising regulator ({error})") from error
    return Lqr(cost, np.asarray(np.linalg.solve(R, B.T @ cost), float))


def _check_weights(Q: Array, R: Array) -> None:
    if not np.all(np.isfinite(Q)):
        raise ValueError("Q is not finite: give a symmetric matrix")
    try:
        positive = np.all(np.isfinite(np.linalg.cholesky(R)))
    except LinAlgError:
        positive = False
    if not positive:
        raise ValueError("R is not positive definite: an input has to cost something")
