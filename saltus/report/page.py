"""The page as a whole, and the file it becomes."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from saltus.common.errors import BadRequest
from saltus.common.files import write_file
from saltus.report import choice
from saltus.report.driving import driving_section
from saltus.report.hildebrand import hildebrand_section
from saltus.report.html import Html, folded, join, section, tag, with_code
from saltus.report.lateral import lateral_section
from saltus.report.line_search import line_search_section
from saltus.report.outcomes import START, UNTRACED, safe_commands, verdict
from saltus.report.pairs import pairs_section, times_section
from saltus.report.read_run import is_run, read_run
from saltus.report.read_sweep import is_sweep, read_sweep
from saltus.report.solve_times import solve_section
from saltus.report.strips import strips_section
from saltus.report.subject import Subject, TrialRecord
from saltus.report.tables import success_section, trials_section
from saltus.report.touchdowns import touchdowns_section

FILE = "report.html"
# Nothing is fetched and nothing runs, whatever a name in the data says.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class Written(NamedTuple):
    """A report that was written.

    Attributes:
        path: where it is.
        verdict: its first sentence.
        rows: how many trials it counts.
        broke_off: it is about a recorded run that did not come to its end.
    """

    path: Path
    verdict: str
    rows: int
    broke_off: bool


def write_report(
    folder: Path, output: Path | None = None, strips: tuple[str, ...] = (), video: str | None = None
) -> Written:
    """Write the page about a recorded run or a sweep.

    Args:
        folder: of the run or sweep.
        output: file; None for ``report.html`` in the folder.
        strips: trials of which film strips are drawn, such as ``hilqr:3``; empty for a default.
        video: trial of which a film is made; None for a default.

    Raises:
        BadRequest: the folder is neither, a trial is not in it, or the file cannot be written.
    """
    subject = read_subject(folder)
    target = output or folder / FILE
    _check_target(target)
    content = page(subject, strips, video).encode()
    try:
        write_file(target, content)
    except OSError as error:
        raise BadRequest(f"--output {target}: {error.strerror or error}") from error
    broke_off = any(trial.broke_off for trial in subject.trials)
    return Written(target, verdict(subject), len(subject.trials), broke_off)


def _check_target(target: Path) -> None:
    """Before the work is done: a new file or an old one, and no device, which would be replaced."""
    try:
        fits = target.is_file() if target.exists() else target.absolute().parent.is_dir()
    except OSError as error:
        raise BadRequest(f"--output {target}: {error.strerror or error}") from error
    if not fits:
        raise BadRequest(f"--output {target}: give a file in a folder that exists")


def read_subject(folder: Path) -> Subject:
    """What a folder holds.

    Raises:
        BadRequest: neither a run nor a sweep.
    """
    if is_sweep(folder):
        return read_sweep(folder)
    if is_run(folder):
        return read_run(folder)
    raise BadRequest(
        f"{folder}: neither a recorded run nor a sweep; make one with `saltus launch NAME --record "
        "DIR` or `saltus perturb SUITE --output DIR`"
    )


def page(subject: Subject, strips: tuple[str, ...] = (), video: str | None = None) -> str:
    """The whole page as HTML.

    Raises:
        BadRequest: a trial that was asked for is not there.
    """
    shown = choice.representatives(subject)
    striped = choice.strips(subject, strips)
    filmed = _filmed(subject, video, striped)
    many = subject.kind == "sweep" and subject.trials
    body = [
        _header(subject),
        *((success_section(subject), pairs_section(subject), times_section(subject))
          if many else ()),
        *((strips_section(subject, striped, filmed), driving_section(subject, shown),
           lateral_section(subject), hildebrand_section(subject, shown),
           touchdowns_section(subject, shown), line_search_section(subject, shown),
           solve_section(subject), trials_section(subject))
          if subject.trials else ()),
        section("Settings", folded("The whole configuration", tag("pre", subject.settings)))
        if subject.settings else None,
    ]  # fmt: skip
    return _document(f"{subject.name}: {subject.kind}", body)


def _filmed(subject: Subject, video: str | None, striped: list[TrialRecord]) -> TrialRecord | None:
    if video is not None:
        return choice.named(subject, video, "--video")
    return striped[0] if striped else None


def _header(subject: Subject) -> Html:
    told = tag("p", tag("strong", verdict(subject)), class_="verdict")
    facts = tag(
        "dl", *(join((tag("dt", key), tag("dd", fact))) for key, fact in subject.facts.items())
    )
    missing = tag("ul", *(tag("li", with_code(text)) for text in subject.missing))
    box = tag("div", "What is missing here:", missing, class_="missing")
    title = "Sweep" if subject.kind == "sweep" else "Run"
    return tag("header", tag("h1", f"{title}: {subject.name}"), told, _safety(subject),
               box if subject.missing else None, facts)  # fmt: skip


def _safety(subject: Subject) -> Html | None:
    """One sentence on safe commands, which must not stay unseen."""
    if not subject.trials:
        return None
    lost = [trial for trial in subject.trials if safe_commands(trial) > START]
    ticks = sum(safe_commands(trial) for trial in lost)
    failed = sum(int(trial.row.get("plans_failed") or 0) for trial in subject.trials)
    late = sum(int(trial.row.get("plans_late") or 0) for trial in subject.trials)
    safe = f"sent in {len(lost)} of {len(subject.trials)} trials, {ticks} ms in all" if lost else (
        "none")  # fmt: skip
    safe += f" ({UNTRACED})" if any(trial.trace is None for trial in lost) else ""
    return tag("p", f"Safe commands: {safe}. Plans that failed: {failed}; cut short by the time "
               f"limit: {late}.")  # fmt: skip


def _document(title: str, body: list[Html | None]) -> str:
    style = Html((files("saltus.report") / "page.css").read_text())
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"Saltus report, {title}"),
        tag("style", style),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, tag("body", join(body)), lang="en") + "\n"
