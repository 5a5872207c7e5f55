"""The page as a whole, and the file it becomes."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from saltus.common.errors import BadRequest, refusing
from saltus.common.files import write_file
from saltus.configuration.planners import entry_of
from saltus.metrics.run import DRIVING_MEASURES
from saltus.report import figures, measures
from saltus.report.pictures import pictures
from saltus.report.reading import Subject, TrialRecord, is_sweep, read_sweep
from saltus.sweep.conditions import budget_words
from saltus.sweep.pairs import p_words, pair_up

FILE = "report.html"
DIGITS = (3, 3, 2, 2, 1)  # of the measures of driving


class Written(NamedTuple):
    """A report that was written.

    Attributes:
        path: where it is.
        verdict: its first sentence.
        rows: how many trials it counts.
    """

    path: Path
    verdict: str
    rows: int


def write_report(folder: Path, output: Path | None = None) -> Written:
    """Write the page about a sweep.

    Args:
        folder: of the sweep.
        output: file; None for ``report.html`` in the folder.

    Raises:
        BadRequest: the folder holds none, or the file cannot be written.
    """
    if not is_sweep(folder):
        raise BadRequest(f"{folder}: holds no sweep: `saltus perturb SUITE --output DIR` makes one")
    subject = read_sweep(folder)
    target = output or folder / FILE
    with refusing(f"--output {target}"):
        fits = target.is_file() if target.exists() else target.absolute().parent.is_dir()
        if not fits:
            raise BadRequest(f"--output {target}: give a file in a folder that exists")
        write_file(target, page(subject).encode())
    return Written(target, measures.verdict(subject), len(subject.trials))


def page(subject: Subject) -> str:
    """The whole page as HTML."""
    trials = subject.trials
    striped = measures.strips(subject)
    groups = {name: [t for t in trials if t.planner == name] for name in subject.planners}
    times = {name: measures.solve_times(own) for name, own in groups.items()}
    success = measures.success(subject)
    along_line = measures.cells(subject, [t for t in trials if t.has_states and not t.is_driven])
    budgets = dict.fromkeys(t.row["budget_ms"] for t in trials if "budget_ms" in t.row)

    def title(trial: TrialRecord) -> str:
        when = f" at {trial.begin:.2f} s" if trial.pushed else ""
        return f"{trial.label} ({subject.conditions.of(trial.row).words}{when})"

    def processor_ms(planner: str, budget: float | None) -> float | None:
        own = [
            row["processor_ms_p50"]
            for row in (trial.row for trial in groups[planner])
            if row.get("budget_ms", ...) == budget and row.get("processor_ms_p50") is not None
        ]
        return float(np.median(own)) if own else None

    def row_total(key: str) -> int:
        return sum(int(trial.row.get(key) or 0) for trial in trials)

    return _template().render(
        subject=subject, verdict=measures.verdict(subject),
        shown=measures.representatives(subject), striped=striped,
        pictures=pictures(striped), groups=groups, success=success,
        success_word=measures.success_word(subject), title=title, row_total=row_total,
        lost=[trial for trial in trials if measures.safe_commands(trial) > measures.START],
        thesis=any(entry["published"] for entry in success),
        pairings=pair_up(trial.row for trial in trials), budgets=budgets,
        processor_ms=processor_ms,
        driven=[entry for entry in success if f"mean_{DRIVING_MEASURES[0]}" in entry],
        driving_measures=list(zip(DRIVING_MEASURES, DIGITS, strict=True)),
        sideways=[(words, list(beside))
                  for words, beside in groupby(along_line, lambda cell: cell.condition.words)],
        timed={name: ms for name, ms in times.items() if (ms > 0.0).any()},
        statuses={name: measures.statuses(own) for name, own in groups.items()},
        commands={name: measures.commands(own) for name, own in groups.items()},
    )  # fmt: skip


def _template() -> Any:
    """The template with what it calls; every text but the style is escaped."""
    environment = Environment(
        loader=PackageLoader("saltus.report", ""), autoescape=True, undefined=StrictUndefined
    )
    environment.filters.update(
        {
            "number": lambda value, digits: (  # a dash where it is not known
                "–" if value is None or value != value else f"{float(value):.{digits}f}"
            ),
            # What stands between backticks is code.
            "code": lambda text: Markup(
                re.sub("`([^`]*)`?", r"<code>\1</code>", str(escape(text)))
            ),
        }
    )
    names: dict[str, Any] = {
        "style": Markup((files("saltus.report") / "page.css").read_text()), "figures": figures,
        "measures": measures, "entry_of": entry_of, "p_words": p_words,
        "budget_words": budget_words,
        "total": lambda trials, count: sum(map(count, trials)),
    }  # fmt: skip
    environment.globals.update(names)
    return environment.get_template("page.html.j2")
