"""What is said of an impact that did not end: how many samples, why it may be, what to do."""

from __future__ import annotations

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.pointedness import pointed_direction
from hybrid.systems import Array


def not_ended(
    problem: ContactProblem, v: Array, samples: int, open_: int, limit: tuple[int, float],
    failures: dict[str, int],
) -> str:  # fmt: skip
    """One line about samples that still collide, or LCPs that were not solved; empty for neither.

    Args:
        problem: the impact.
        v: velocity before it (n,).
        samples: how many there were.
        open_: how many still collide.
        limit: steps that each could take, and their size [N s].
        failures: LCPs that were not solved, by status.
    """
    said = []
    if open_:
        said.append(
            f"{open_} of {samples} samples still collide after {limit[0]} steps of up to"
            f" {limit[1]:g} N s; {_remedy(problem)}"
        )
    said += [f"{count} LCPs ended by {status} and were drawn anew" for status, count in
             failures.items()]  # fmt: skip
    return f"{configuration(problem, v)}: {'; '.join(said)}" if said else ""


def configuration(problem: ContactProblem, v: Array) -> str:
    """The impact in short: its name, its contacts and the velocity before it."""
    speed = np.array2string(np.asarray(v), precision=4, separator=", ", threshold=40)
    return f"{problem.name or 'impact'} on {', '.join(problem.contacts)} at v = " + speed.replace(
        "\n", ""
    )


def _remedy(problem: ContactProblem) -> str:
    if pointed_direction(problem) is None:
        return (
            "its friction cone is not pointed (24), so nothing promises that it ends: lower the"
            " friction, leave a contact out, or take those that ended"
        )
    return "its friction cone is pointed, so it ends: raise max_steps or the step"
