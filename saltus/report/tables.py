"""Tables of the page: success beside the thesis's, and every trial."""

from __future__ import annotations

from typing import Any

from saltus.configuration.planners import entry_of
from saltus.report.html import Html, folded, note, section, table, tag
from saltus.report.outcomes import UNTRACED, Cell, cells, safe_commands, success_word
from saltus.report.subject import Subject, TrialRecord
from saltus.report.thesis import Published, differences, published

UNFOLDED = 24  # trials up to which their table is open at once
NONE = "–"
PASSED = ", with the robot beyond the obstacle at the end"


def success_section(subject: Subject) -> Html:
    """Success by condition and planner with its 95 % interval, beside the thesis's figures."""
    found = cells(subject)
    known = [
        published(subject.name, cell.planner, cell.condition.kind, cell.condition.magnitude)
        for cell in found
    ]
    with_thesis = any(known)
    word = success_word(subject)
    head = ["Condition", "Planner", word, "Rate", "95 % interval", "",
            "Sideways [m]", "of all [m]"]  # fmt: skip
    head += ["Thesis: rate", "Thesis: sideways [m]"] if with_thesis else []
    rows, before = [], ""
    for cell, theirs in zip(found, known, strict=True):
        words = cell.condition.words
        first = words if words != before else ""
        before = words
        rows.append([first, *_cell(cell), *(_thesis(theirs) if with_thesis else [])])
    beyond = PASSED if word == "Passed" else ""
    caption = (
        f"{word}: trials without a fall, which is a trunk on the ground or a tilt past 60 "
        f"degrees{beyond}; the intervals are Wilson's. Sideways: mean of the maximum lateral "
        "deviations of the trials on their feet; of all: of fallen ones too, up to their end."
    )
    remark = differences(subject.name)
    body = table(head, rows, caption, words=2)
    return section("Success rate", body, note(remark) if remark else None)


def trials_section(subject: Subject) -> Html:
    """Every trial in a line, folded away where there are many."""
    head = ["Trial", "Condition", "Outcome", "at [s]", "value", "sideways [m]", "solve p50 [ms]",
            "p99 [ms]", "plans failed", "late", "ticks of safe commands"]  # fmt: skip
    rows = [_trial(subject, trial) for trial in subject.trials]
    told = "Every trial. Safe commands are hold, stand down and damp"
    told += f"; {UNTRACED}." if any(trial.trace is None for trial in subject.trials) else "."
    body = table(head, rows, told, 3)
    count = f"{len(rows)} trial" + ("s" if len(rows) != 1 else "")
    return section("Every trial", folded(count, body, open_=len(rows) <= UNFOLDED))


def _cell(cell: Cell) -> list[Any]:
    passed, trials = cell.passed, len(cell.trials)
    low, high = cell.interval
    bar = _bar(passed / trials, low, high, cell.planner)
    return [
        planner_name(cell.planner), f"{passed} of {trials}", _percent(passed / trials),
        f"{100 * low:.0f} to {100 * high:.0f} %", bar,
        number(cell.deviation, 3), number(cell.deviation_of_all, 3),
    ]  # fmt: skip


def _thesis(theirs: Published | None) -> list[str]:
    if theirs is None:
        return [NONE, NONE]
    rate = f"{_percent(theirs.success / theirs.trials)} ({theirs.success} of {theirs.trials})"
    return [rate + (f"; {theirs.remark}" if theirs.remark else ""), number(theirs.deviation, 3)]


def _trial(subject: Subject, trial: TrialRecord) -> list[Any]:
    row = trial.row
    upright = "broke off" if trial.broke_off else "on its feet"
    if not (trial.fell or trial.passed):
        upright = "did not arrive"
    outcome = tag("b", "fell", class_="fell") if trial.fell else upright
    value = " ".join(f"{x:g}" for x in row.get("value") or []) or NONE
    name = Html(planner_name(trial.planner) + f" {int(row['trial'])}")
    return [
        name, subject.conditions.of(row).words, outcome,
        number(row.get("at"), 2), value, number(row.get("max_lateral_deviation_m"), 3),
        number(row.get("solve_ms_p50"), 2), number(row.get("solve_ms_p99"), 2),
        str(row.get("plans_failed", NONE)), str(row.get("plans_late", NONE)),
        str(safe_commands(trial)),
    ]  # fmt: skip


def planner_name(planner: str) -> Html:
    """A planner's name with a dot of its colour."""
    entry = entry_of(planner)
    name, colour = entry.label, entry.colour
    return Html(tag("i", "", class_="dot", style=f"background:{colour}") + tag("span", name))


def _bar(rate: float, low: float, high: float, planner: str) -> Html:
    """The rate as a mark on a line from 0 to 100 %, its interval as a band."""
    band = f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"
    colour = entry_of(planner).colour
    return tag(
        "span",
        tag("i", style=f"{band};background:{colour};opacity:.3"),
        tag("i", style=f"left:{100 * rate:.1f}%;width:3px;margin-left:-2px;background:{colour}"),
        class_="bar", role="img", aria_label=f"{100 * rate:.0f} %",
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def number(value: Any, digits: int) -> str:
    """A number, or a dash where it is not known."""
    if value is None or value != value:
        return NONE
    return f"{float(value):.{digits}f}"
