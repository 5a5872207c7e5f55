"""How long solves took, and what became of plans and motor commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from saltus.common.figures import figure
from saltus.configuration.planners import entry_of
from saltus.report.html import Html, note, section, table
from saltus.report.outcomes import START, safe_commands
from saltus.report.pictures import Panel, drawn, side_by_side
from saltus.report.subject import Array, Subject, TrialRecord

BINS = 60
NONE = "–"
LOCK_STEP = (
    "In lock step the robot waits for every plan: these times have no part in who stayed on their "
    "feet, and trials at the same time share the cores. Whether a planner is fast enough is for "
    "`--mode realtime` to say."
)
ROLES = {
    "ok": "ok", "hold": "hold (the last plan a little longer)",
    "stand_down": "stand down (lead to a stand, lie down)", "damp": "damp (brake the joints)",
    "waiting": "waiting (for the first plan)",
}  # fmt: skip


def solve_section(subject: Subject) -> Html:
    """The part of the page about solves, plans and commands."""
    groups = {c: [t for t in subject.trials if t.planner == c] for c in subject.planners}
    parts: list[Html] = [_times_table(groups)]
    if subject.in_lock_step:
        parts.append(note(LOCK_STEP))
    drawable = {c: solve_times(trials) for c, trials in groups.items() if has_times(trials)}
    if drawable:
        parts.append(side_by_side([_histogram(drawable)], "Durations of all solves."))
    parts += [_statuses(groups), _commands(groups)]
    return section("Solve times, plans and safe commands", *parts)


def solve_times(trials: Sequence[TrialRecord]) -> Array:
    """Durations of the solves of several trials (n,) [ms]."""
    return np.concatenate([t.trace.solve_ms for t in trials if t.trace] or [np.zeros(0)])


def has_times(trials: Sequence[TrialRecord]) -> bool:
    """Whether traces say how long solves took; recordings of lock step leave zeros."""
    return bool((solve_times(trials) > 0.0).any())


def _times_table(groups: dict[str, list[TrialRecord]]) -> Html:
    head = ["Planner", "Solves", "p50 [ms]", "p90 [ms]", "p99 [ms]", "Longest [ms]"]
    rows = [[entry_of(c).label, *_quantiles(trials)] for c, trials in groups.items()]
    told = "Time of one solve, on the machine that ran it"
    if any(not has_times(trials) for trials in groups.values()):
        told += ". Where only quantiles of trials are known: their median p50 and largest p99"
    return table(head, rows, told)


def _quantiles(trials: Sequence[TrialRecord]) -> list[str]:
    """Number of solves, and p50, p90, p99 and longest [ms]; from the rows without traces."""
    ms = solve_times(trials)
    if has_times(trials):
        return [str(len(ms)), *(f"{q:.2f}" for q in np.percentile(ms, (50, 90, 99, 100)))]
    medians = [t.row["solve_ms_p50"] for t in trials if t.row.get("solve_ms_p50") is not None]
    tails = [t.row["solve_ms_p99"] for t in trials if t.row.get("solve_ms_p99") is not None]
    p50 = f"{np.median(medians):.2f}" if medians else NONE
    return [str(len(ms) or NONE), p50, NONE, f"{max(tails):.2f}" if tails else NONE, NONE]


def _histogram(times: dict[str, Array]) -> Panel:
    every = np.concatenate(list(times.values()))
    low, high = float(every[every > 0.0].min()), float(every.max())
    bins = np.geomspace(0.9 * low, 1.1 * high, BINS)
    made, axes = figure(width=4.8, height=2.6)
    for planner, ms in times.items():
        entry = entry_of(planner)
        name, colour = entry.label, entry.colour
        share = np.full(len(ms), 100.0 / len(ms))
        axes.hist(ms, bins=bins.tolist(), weights=share, histtype="stepfilled", color=colour,
                  alpha=0.35)  # fmt: skip
        axes.hist(ms, bins=bins.tolist(), weights=share, histtype="step", color=colour, label=name)
        axes.axvline(float(np.median(ms)), color=colour, linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    axes.set_xlabel("time of a solve [ms]; dashed: median")
    axes.set_ylabel("share of the solves [%]")
    axes.legend(fontsize=8, frameon=False)
    medians = "; ".join(
        f"{entry_of(planner).label} median {np.median(ms):.2f} ms" for planner, ms in times.items()
    )
    return drawn(made, f"Histogram of solve times: {medians}")


def _statuses(groups: dict[str, list[TrialRecord]]) -> Html:
    """Plans by status; from the rows where there are no traces."""
    counts = {c: _total([t.trace.statuses for t in ts if t.trace]) for c, ts in groups.items()}
    for planner, trials in groups.items():
        for trial in trials:
            if trial.trace is None:
                counts[planner]["failed"] += int(trial.row.get("plans_failed") or 0)
                counts[planner]["time_limit"] += int(trial.row.get("plans_late") or 0)
    known = ("ok", "not_converged", "time_limit", "failed")
    told = "Plans by status. Of one that failed nothing is used: the tracker follows the one before"
    if not _all_traced(groups):
        told += ". Of trials without a trace, plans that failed or came late alone are known"
    return _count_table(counts, known, {}, told)


def _commands(groups: dict[str, list[TrialRecord]]) -> Html:
    """Ticks by status of the motor command, and in how many trials a safe command was sent."""
    if not any(t.trace for trials in groups.values() for t in trials):
        return note("Motor commands by status are in traces alone, and there is none.")
    counts = {c: _total([t.trace.commands for t in ts if t.trace]) for c, ts in groups.items()}
    touched = []
    for planner, trials in groups.items():
        own = [t for t in trials if t.trace and safe_commands(t) > START]
        if own:
            names = ", ".join(str(trial.row["trial"]) for trial in own)
            touched.append(f"{entry_of(planner).label}: trials {names}.")
    told = (
        "Motor commands of 1 ms by status; hold, stand down and damp are the safe commands: "
        + ("none was sent." if not touched else "sent in " + " ".join(touched))
        + ("" if _all_traced(groups) else " Trials without a trace are left out.")
    )
    rows = _count_table(counts, tuple(ROLES), ROLES, told)
    why = "A run in real time begins with one tick of damping: there is no reading yet."
    return Html(rows + note(why))


def _all_traced(groups: dict[str, list[TrialRecord]]) -> bool:
    return all(trial.trace is not None for trials in groups.values() for trial in trials)


def _count_table(
    counts: dict[str, Counter[str]], known: Sequence[str], words: dict[str, str], caption: str
) -> Html:
    found = [*known, *sorted({s for count in counts.values() for s in count}.difference(known))]
    rows = [[entry_of(c).label, *(str(count[s]) for s in found)] for c, count in counts.items()]
    return table(["Planner", *(words.get(s, s.replace("_", " ")) for s in found)], rows, caption)


def _total(counts: Sequence[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total
