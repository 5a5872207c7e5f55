"""Which trials are drawn from the many of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from saltus.common.errors import BadRequest
from saltus.report.lateral import has_states, worst
from saltus.report.subject import Subject, TrialRecord

_LARGE = 1.5  # push of the thesis's Fig. 6.9 [m/s]


def representatives(subject: Subject) -> list[TrialRecord]:
    """One trial for each planner, the same one where they have it: its contacts and search.

    It is that of the thesis's Fig. 6.9, the earliest of the pushes of 1.5 m/s; in a suite without
    such a push the earliest of the hardest ones.
    """
    trials = [trial for trial in subject.trials if has_states(trial)]
    if not trials:
        return []
    pushes = [trial for trial in trials if trial.magnitude == _LARGE]
    hardest = max(trial.magnitude for trial in trials)
    hard = pushes or [trial for trial in trials if trial.magnitude == hardest]
    first = min(hard, key=lambda trial: (trial.begin, int(trial.row["trial"])))
    return [_counterpart(first, [t for t in trials if t.planner == c])
            for c in subject.planners if any(t.planner == c for t in trials)]  # fmt: skip


def strips(subject: Subject, asked: Sequence[str]) -> list[TrialRecord]:
    """Trials of which film strips are made.

    Args:
        subject: of the report.
        asked: names, such as ``hilqr:3``; empty for a default: of the thesis's suite the push of
            Fig. 6.9 for every planner; else for each the survivor that came furthest to the
            side and the first fall.

    Raises:
        BadRequest: a name that no trial with a trace has.
    """
    if asked:
        return [named(subject, name, "--strip") for name in asked]
    if subject.name == "table-6.1" or subject.kind == "run":
        return representatives(subject)
    chosen: list[TrialRecord] = []
    for planner in subject.planners:
        own = [t for t in subject.trials if t.planner == planner and has_states(t)]
        fallen = [trial for trial in own if trial.fell]
        survivor = worst(own)
        chosen += ([survivor] if survivor else []) + fallen[:1]
    return chosen


def named(subject: Subject, name: str, option: str) -> TrialRecord:
    """The trial of a name.

    Raises:
        BadRequest: none with a trace is called so; those that are get named.
    """
    known = {trial.name: trial for trial in subject.trials if has_states(trial)}
    if name not in known:
        some = ", ".join(list(known)[:12]) + (", ..." if len(known) > 12 else "")
        raise BadRequest(f"{option} {name!r}: no such trial with a trace; there are: {some or '-'}")
    return known[name]


def _counterpart(trial: TrialRecord, others: Sequence[TrialRecord]) -> TrialRecord:
    """The trial of the same number, else of the same magnitude, else the first one."""

    def distance(other: TrialRecord) -> tuple[bool, float]:
        same = other.row["trial"] == trial.row["trial"]
        return not same, abs(other.magnitude - trial.magnitude)

    return min(others, key=distance)
