"""Data of an impact: inertia, contacts and friction at one configuration (30), (34).

Equation numbers of ``saltation.impacts`` are those of Halm and Posa, "Set-Valued Rigid-Body
Dynamics for Simultaneous, Inelastic, Frictional Impacts", unless another source is named.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from saltation.arrays import Shape
from saltation.systems import Array

COLLIDING = 1e-9  # a contact that closes more slowly is at rest [units of J_n v]
SINGULAR = 1e-13  # smallest eigenvalue of M over its largest beyond rounding


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """m active contacts of a system with n velocities, and k friction directions at each.

    Raises:
        ValueError: there is no contact, M is not symmetric and positive definite, a normal is
            zero, a coefficient is negative, shapes do not fit or a number is not finite; the
            message begins with ``name``.
    """

    M: Array  # (n, n) inertia
    J_n: Array  # (m, n): J_n v are the normal velocities, negative where bodies come together
    J_D: Array  # (m k, n): velocities along the friction directions, contact by contact (34)
    mu: Array  # (m,) coefficients of friction
    contacts: tuple[str, ...]  # a name for each contact
    name: str = ""  # of the configuration, for messages

    def __post_init__(self) -> None:
        """Convert the arrays to float and check them."""
        for key in ("M", "J_n", "J_D", "mu"):
            array = np.ascontiguousarray(getattr(self, key), float)
            vars(self)[key] = array
        vars(self)["contacts"] = tuple(self.contacts)
        fault = _fault(self)
        if fault:
            raise ValueError(f"{self.name or 'impact'}: {fault}")

    @staticmethod
    def planar(
        M: Array, J_n: Array, J_t: Array, mu: Array | float, contacts: Sequence[str], name: str = ""
    ) -> ContactProblem:
        """A plane's contacts: friction acts along +- J_t (m, n).

        Raises:
            ValueError: as the class.
        """
        J_t = _tangents(J_t, (len(contacts), len(M)), name)
        J_D = np.stack([J_t, -J_t], 1).reshape(-1, len(M))
        return ContactProblem(M, J_n, J_D, _coefficients(mu, contacts), tuple(contacts), name)

    @staticmethod
    def spatial(
        M: Array, J_n: Array, J_t: Array, mu: Array | float, contacts: Sequence[str],
        name: str = "", directions: int = 8,
    ) -> ContactProblem:  # fmt: skip
        """Contacts in space: ``directions`` of friction evenly around each J_t (m, 2, n), (19).

        Raises:
            ValueError: as the class; or ``directions`` is odd or below four, so that friction would
                not be symmetric.
        """
        if directions < 4 or directions % 2:
            raise ValueError(f"{name or 'impact'}: {directions} friction directions; give an even"
                             " number from 4 on")  # fmt: skip
        angle = 2.0 * np.pi * np.arange(directions) / directions
        D = np.stack([np.cos(angle), np.sin(angle)], 1)
        J_t = _tangents(J_t, (len(contacts), 2, len(M)), name)
        J_D = (D @ J_t).reshape(-1, len(M))
        return ContactProblem(M, J_n, J_D, _coefficients(mu, contacts), tuple(contacts), name)

    @property
    def dim(self) -> int:
        """Number of velocities n."""
        return len(self.M)

    @property
    def count(self) -> int:
        """Number of contacts m."""
        return len(self.J_n)

    @property
    def directions(self) -> int:
        """Number of friction directions k of each contact."""
        return len(self.J_D) // self.count

    @cached_property
    def J_bar(self) -> Array:
        """[J_n; J_D] (m (1 + k), n), (35)."""
        return np.vstack([self.J_n, self.J_D])

    @cached_property
    def velocity_by_impulse(self) -> Array:
        """M^-1 J_bar' (n, m (1 + k)): the change of velocity by each impulse (75c)."""
        columns: Array = np.asarray(np.linalg.solve(self.M, self.J_bar.T), float)
        return columns

    def velocity(self, v: Array) -> Array:
        """v (n,) as float.

        Raises:
            ValueError: it is not n finite numbers.
        """
        v = np.array(v, float)
        if v.shape != (self.dim,) or not np.isfinite(v).all():
            raise ValueError(
                f"{self.name or 'impact'}: velocity {v} is not {self.dim} finite numbers"
            )
        return v

    def at(self, v: Array) -> str:
        """The impact in short, for messages: its name, its contacts and the velocity before it."""
        numbers = np.array2string(np.asarray(v), precision=4, separator=", ", threshold=40)
        where = f"{self.name or 'impact'} on {', '.join(self.contacts)}"
        return f"{where} at v = {' '.join(numbers.split())}"

    def kinetic_energy(self, v: Array) -> float:
        """K = v' M v / 2 (11)."""
        return 0.5 * float(v @ self.M @ v)

    def kinetic_norm(self, v: Array) -> float:
        """Length of v in the metric of the kinetic energy: its square is 2 K."""
        return float(np.sqrt(v @ self.M @ v))

    def is_colliding(self, v: Array, tolerance: float = COLLIDING) -> bool:
        """Whether a contact closes: v is in C(q), (28)."""
        return bool((self.J_n @ v < -tolerance).any())

    def only(self, contact: int) -> ContactProblem:
        """The impact of one contact alone."""
        k = self.directions
        return ContactProblem(
            self.M, self.J_n[contact : contact + 1], self.J_D[k * contact : k * (contact + 1)],
            self.mu[contact : contact + 1], (self.contacts[contact],), self.name,
        )  # fmt: skip


def _coefficients(mu: Array | float, contacts: Sequence[str]) -> Array:
    return np.full(len(contacts), mu, float) if np.ndim(mu) == 0 else np.asarray(mu)


def _tangents(J_t: Array, shape: Shape, name: str) -> Array:
    """J_t as float; ValueError if its shape does not fit the contacts."""
    J_t = np.asarray(J_t, float)
    if J_t.shape != shape:
        raise ValueError(f"{name or 'impact'}: J_t has shape {J_t.shape}; {shape[0]} contacts need"
                         f" {shape}")  # fmt: skip
    return J_t


def _fault(p: ContactProblem) -> str:
    """Fault of a problem; empty if there is none."""
    shape = _wrong_shape(p)
    if shape:
        return shape
    for key in ("J_n", "J_D", "mu"):
        if not np.isfinite(getattr(p, key)).all():
            return f"{key} is not finite; check the configuration"
    for i, contact in enumerate(p.contacts):
        if not p.J_n[i].any():
            return f"contact {contact}: no velocity separates it (its row of J_n is zero)"
        if p.mu[i] < 0.0:
            return f"contact {contact}: coefficient of friction {p.mu[i]:g}; give 0 or more"
    return wrong_inertia(p.M)


def _wrong_shape(p: ContactProblem) -> str:
    m, n = len(p.contacts), len(p.M)
    if m == 0:
        return "no contact is active; an impact needs one or more"
    k = len(p.J_D) // m
    shapes = {"M": (n, n), "J_n": (m, n), "J_D": (m * k, n), "mu": (m,)}
    for key, shape in shapes.items():
        if np.shape(getattr(p, key)) != shape:
            return f"{key} has shape {np.shape(getattr(p, key))}; {m} contacts need {shape}"
    return "" if k > 0 else f"J_D has no row; give one or more friction directions to {m} contacts"


def wrong_inertia(M: Array) -> str:
    """Fault of an inertia M (n, n); empty if it is symmetric and positive definite."""
    if not (len(M) and np.isfinite(M).all()):
        return "M is not finite; check the configuration" if len(M) else "M is empty"
    if not np.allclose(M, M.T, rtol=1e-9, atol=1e-12 * np.abs(M).max()):
        return "M is not symmetric"
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    if values[0] > SINGULAR * values[-1]:
        return ""
    most = int(np.argmax(np.abs(vectors[:, 0])))
    return (
        f"M is not positive definite (eigenvalues from {values[0]:.3g} to {values[-1]:.3g}):"
        f" velocity {most} moves without inertia; leave it out or give it mass"
    )
