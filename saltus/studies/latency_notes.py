"""What the study of latency says beside its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saltus.configuration.planners import PLANNERS, entry_of
from saltus.studies.latency_trials import Outcome

Row = Mapping[str, Any]
OURS = "hilqr"
MODEL = (
    "The model has the duration of a solve, always the same, and the age of estimates. A plan "
    "arrives when its solve has ended; then the next solve begins, at most one in each knot. With "
    "delays (--full) estimates are 2 ms old and commands act 10 ms late, which the tracker knows. "
    "The model has no solves of unequal length, late ticks or lost messages, and HiLQR searches as "
    "in lock step: in real time it searches less (hilqr.realtime, not hilqr.paused)."
)
READING = (
    "low and high bound the rate of success (Wilson, 95 %): where two intervals overlap, chance "
    "may decide. aside is the mean largest deviation of those on their feet alone. here is the "
    "median time of a solve on this machine, where others share its cores."
)


def notes(rows: Sequence[Row], outcomes: Sequence[Outcome]) -> list[str]:
    """All lines."""
    return [verdict(rows), slowest(rows), *_broken(outcomes), MODEL, READING]


def verdict(rows: Sequence[Row]) -> str:
    """At which points HiLQR's success is above both others', and where it is not."""
    above, exceptions = 0, dict[str, list[Row]]()
    points = _points(rows)
    for at in points:
        relations = {other: _relation(at[OURS], at[other]) for other in PLANNERS if other != OURS}
        above += all(relation == "above" for relation in relations.values())
        for other, relation in relations.items():
            if relation != "above":
                exceptions.setdefault(f"{relation} {entry_of(other).label}", []).append(at[OURS])
    if not exceptions:
        return "HiLQR is above both others at every point."
    words = "; ".join(
        f"{relation} at {_places(where, rows)}" for relation, where in exceptions.items()
    )
    return f"HiLQR is above both others at {above} of {len(points)} points; {words}."


def slowest(rows: Sequence[Row]) -> str:
    """The longest solve up to which HiLQR survives every push."""
    names = dict.fromkeys(row["condition"] for row in rows)
    limits = {name: _limit([row for row in rows if row["condition"] == name]) for name in names}
    words = [f"{'none' if limit is None else f'{limit:g} ms'}{_under(name, rows)}"
            for name, limit in limits.items()]  # fmt: skip
    return f"The slowest solve up to which HiLQR survives every push: {', '.join(words)}."


def _limit(rows: Sequence[Row]) -> float | None:
    """Duration of that solve [ms]; None where HiLQR falls at the shortest one."""
    limit = None
    for row in sorted((r for r in rows if r["planner"] == OURS), key=lambda r: r["solve_ms"]):
        if row["broken"] or row["success"] < row["trials"]:
            return limit
        limit = row["solve_ms"]
    return limit


def _points(rows: Sequence[Row]) -> list[dict[str, Row]]:
    """The planners' rows of every condition and duration of a solve."""
    points: dict[tuple[str, float], dict[str, Row]] = {}
    for row in rows:
        points.setdefault((row["condition"], row["solve_ms"]), {})[row["planner"]] = row
    return list(points.values())


def _relation(one: Row, other: Row) -> str:
    """Of two rates of success."""
    if not one["trials"] or not other["trials"]:
        return "not to be compared with"
    difference = one["success"] * other["trials"] - other["success"] * one["trials"]
    return "above" if difference > 0 else "below" if difference < 0 else "equal to"


def _places(where: Sequence[Row], rows: Sequence[Row]) -> str:
    """Durations, each condition's together."""
    names = dict.fromkeys(row["condition"] for row in where)
    return " and ".join(
        ", ".join(f"{row['solve_ms']:g}" for row in where if row["condition"] == name)
        + f" ms{_under(name, rows)}"
        for name in names
    )


def _under(name: str, rows: Sequence[Row]) -> str:
    """The condition in words, where there are several."""
    return f" {name}" if len({row["condition"] for row in rows}) > 1 else ""


def _broken(outcomes: Sequence[Outcome]) -> list[str]:
    failures = [outcome for outcome in outcomes if outcome.row is None]
    if not failures:
        return []
    point, number, _, reason = failures[0]
    return [
        f"{len(failures)} of {len(outcomes)} trials broke and are not counted; the first: trial "
        f"{number} of {entry_of(point.planner).label} at {point.solve_ms} ms: {reason}"
    ]
