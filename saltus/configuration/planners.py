"""The planners of a launch: their names, what people call them, and their colours."""

from collections.abc import Collection
from typing import NamedTuple

from saltus.common.errors import BadRequest


class Look(NamedTuple):
    """Name and colour of a planner, for people."""

    name: str
    colour: str


# Colours that stay apart for colour-blind eyes: M. Okabe and K. Ito, Color Universal Design, 2008.
LOOKS = {
    "hilqr": Look("HiLQR MPC", "#0072B2"),
    "convex_mpc": Look("Convex MPC", "#D55E00"),
    "instant_qp": Look("Instant QP", "#009E73"),
}
PLANNERS = tuple(LOOKS)
ALL = "all"  # stands for every planner on the command line
_OTHER = "#555555"


def planners_named(names: str) -> tuple[str, ...]:
    """The planners that the command line names: one, several with commas between, or all.

    Raises:
        BadRequest: there is no planner of a name.
    """
    found: list[str] = []
    for name in (part.strip() for part in names.split(",")):
        if name not in (*PLANNERS, ALL):
            raise BadRequest(
                f"--planner {names}: no planner {name!r}; accepted: {', '.join(PLANNERS)}, several "
                f"of them with commas between, or {ALL}"
            )
        found += PLANNERS if name == ALL else (name,)
    return tuple(dict.fromkeys(found))


def planners_in_words(planners: Collection[str]) -> str:
    """What `planners_named` reads back as these planners."""
    return ALL if set(planners) == set(PLANNERS) else ",".join(planners)


def look(planner: str) -> Look:
    """Name and colour of a planner; one that is not known here has its own name, in grey."""
    return LOOKS.get(planner, Look(planner, _OTHER))


def in_order(planners: set[str]) -> list[str]:
    """Planners in the order of the thesis's tables, unknown ones last."""
    known = [name for name in PLANNERS if name in planners]
    return known + sorted(planners.difference(PLANNERS))
