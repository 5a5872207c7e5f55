"""The largest eigenvalue of a symmetric matrix in an optimisation, as CasADi expressions.

lambda_max(F) has a kink where it is repeated, and minimising it drives eigenvalues together. So
s >= lambda_max(F), that is s I - F >= 0 in the sense of matrices, is written with smooth functions
that a solver sees instead; with s in the cost, s = lambda_max at the solution.

- ``cholesky_constraints``: s I - F = L L^T with L in the variables, n (n + 1) / 2 equations. Exact;
  the one to take where s is minimised. On random affine F (n = 2, 3, 4) IPOPT took 15 to 26
  iterations, and repeated eigenvalues came out equal to eight digits.
- ``cone_constraints``: n polynomials >= 0, no further variables. Exact too, and good where s is a
  given bound. At a double eigenvalue their gradients vanish (the Jacobian loses rank): minimising s
  took 28 to 87 iterations, or 500 without an end, and gave four digits.

For n = 2 the second is s >= D_a, (s - D_a)^2 >= (d / 2)^2 with d of (2.11): no square root is left.
"""

from __future__ import annotations

import casadi as ca


def cone_constraints(F: ca.SX, s: ca.SX) -> ca.SX:
    """c (n,), all >= 0 if and only if s >= lambda_max of the symmetric F (n, n).

    c_k is the k-th elementary symmetric polynomial of the eigenvalues of A = s I - F: c_1 is its
    trace, c_n its determinant. All roots of det(z I + A) = z^n + c_1 z^(n-1) + ... + c_n are real;
    with no negative coefficient none of them is positive, so that no eigenvalue of A is negative.
    Faddeev's and Le Verrier's recursion: M_0 = I, c_k = trace(A M_k-1) / k, M_k = c_k I - A M_k-1.
    """
    n = F.shape[0]
    A = s * ca.SX.eye(n) - F
    M, found = ca.SX.eye(n), []
    for k in range(1, n + 1):
        product = A @ M
        c = ca.trace(product) / k
        found.append(c)
        M = c * ca.SX.eye(n) - product
    return ca.vertcat(*found)


def cholesky_constraints(F: ca.SX, s: ca.SX, factor: ca.SX) -> ca.SX:
    """(n (n + 1) / 2,), all zero for some ``factor`` if and only if s >= lambda_max of F (n, n).

    The lower triangle of s I - F - L L^T by columns. With bounds L_ii >= 0 the factor is unique
    where s > lambda_max.

    Args:
        F: symmetric (n, n).
        s: scalar.
        factor: the lower triangle of L by columns (n (n + 1) / 2,), variables.
    """
    n = F.shape[0]
    L = ca.SX(ca.Sparsity.lower(n), factor)
    residual = s * ca.SX.eye(n) - F - L @ L.T
    return ca.vertcat(*(residual[i, j] for j in range(n) for i in range(j, n)))
