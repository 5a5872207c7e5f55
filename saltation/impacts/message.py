"""Messages about impacts that did not end: configuration, likely cause, remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.pointedness import pointed_direction
from saltation.systems import Array


def samples_message(
    problem: ContactProblem, v: Array, samples: int, colliding: int, limit: tuple[int, float],
    failures: dict[str, int],
) -> str:  # fmt: skip
    """Message about samples that still collide or LCPs that were not solved; empty if none.

    Args:
        problem: the impact.
        v: velocity before it (n,).
        samples: number of samples.
        colliding: number of samples that still collide.
        limit: largest number of steps of a sample, and their size [N s].
        failures: LCPs that were not solved, by status.
    """
    parts = []
    if colliding:
        parts.append(
            f"{colliding} of {samples} samples still collide after {limit[0]} steps of up to"
            f" {limit[1]:g} N s; {_remedy(problem)}"
        )
    parts += [f"{count} LCPs were not solved ({status}) and their steps drawn anew"
             for status, count in failures.items()]  # fmt: skip
    return f"{_configuration(problem, v)}: {'; '.join(parts)}" if parts else ""


def lcp_message(problem: ContactProblem, v: Array, status: str) -> str:
    """Message about an LCP that ended with ``status``, at the velocity v (n,) before its impact."""
    return (
        f"{_configuration(problem, v)}: the impact's LCP was not solved ({status}) because of"
        f" rounding; try another covering vector, or less friction than {problem.mu.max():g}"
    )


def sequence_message(problem: ContactProblem, v: Array, order: Sequence[int], impacts: int) -> str:
    """Message about sequential impacts that reached ``impacts``, their largest number."""
    names = ", ".join(problem.contacts[i] for i in order)
    return (
        f"{_configuration(problem, v)}: still collides after {impacts} single impacts at"
        f" {names} in turn; raise max_impacts, or resolve all contacts at once"
    )


def configuration(name: str, contacts: Sequence[str], letter: str, value: Array) -> str:
    """An impact in short: its name, its contacts, and the velocity or momentum before it."""
    numbers = np.array2string(np.asarray(value), precision=4, separator=", ", threshold=40)
    return f"{name} on {', '.join(contacts)} at {letter} = " + " ".join(numbers.split())


def _configuration(problem: ContactProblem, v: Array) -> str:
    return configuration(problem.name or "impact", problem.contacts, "v", v)


def _remedy(problem: ContactProblem) -> str:
    if pointed_direction(problem) is None:
        return (
            "its friction cone is not pointed (24), so it may never end: lower the friction, leave"
            " a contact out, or use the samples that ended"
        )
    return "its friction cone is pointed, so it ends: raise max_steps or the step"
