"""``saltus perturb``, ``study`` and ``soak``: pushes, reproductions, hours under harm."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.options import (
    FolderOption,
    JsonOption,
    Mode,
    SetOption,
    print_catalogue,
    study_names,
    suite_names,
    sweep_planner_names,
)
from saltus.common.console import Fact, print_facts, print_json, say
from saltus.common.errors import INTERRUPTED, BadRequest
from saltus.common.files import names_in, new_run_folder
from saltus.configuration.planners import ALL, PLANNERS, planners_named

if TYPE_CHECKING:
    from saltus.soak.soak import SoakResult
    from saltus.sweep.sweep import SweepResult


def perturb(
    suite: Annotated[
        str,
        typer.Argument(
            help=f"A YAML file, or one of {names_in('config')}.",
            autocompletion=suite_names,
        ),
    ],
    planner: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help=f"{', '.join(PLANNERS)}, several with commas between, or {ALL}.",
            autocompletion=sweep_planner_names,
        ),
    ] = "hilqr",
    mode: Mode = "paused",
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    output: FolderOption = None,
    trial: list[int] | None = None,
    group: list[str] | None = None,
    seeds: Annotated[int | None, typer.Option(min=1)] = None,
    budget: Annotated[list[float] | None, typer.Option(metavar="MS", min=0.1, max=1000.0)] = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run the trials of a perturbation suite in simulation and print success rates.

    Several planners are also compared trial by trial.

    Ctrl-C keeps finished trials and prints the command that continues; `saltus report DIR` makes a
    page of them.

    Args:
        mode: How time passes.
        jobs: Trials at the same time; all cores by default.
        output: Write results here, or continue those that are here; runs/SUITE-TIME by default.
        trial: Only the trial with this number; may be repeated.
        group: Only trials of this group; may be repeated.
        seeds: Only so many seeds of each event, for a quick look.
        budget: Run each planner once more at so much processor time a plan; may be repeated.
    """
    if mode == "realtime" and (jobs or 1) > 1:
        raise BadRequest("--jobs: trials in real time run one after another; give 1")
    if mode == "realtime" and budget:
        raise BadRequest("--budget: in real time plans take the time that they take; leave it out")
    from saltus.sweep.sweep import SweepRequest, run_sweep  # the numeric stack takes a second

    request = SweepRequest(
        suite, planners_named(planner), mode, jobs, output,
        tuple(trial or ()), tuple(group or ()), seeds, tuple(assignments or ()),
        tuple(sorted(set(budget or ()))),
    )  # fmt: skip
    result = run_sweep(request)
    _print(result, suite, json)
    if result.missing:
        missing = "1 trial is" if result.missing == 1 else f"{result.missing} trials are"
        folder = shlex.quote(str(result.folder))
        say(f"{missing} not finished; go on with: {request.command} --output {folder}")
    if result.interrupted:
        return INTERRUPTED
    return 1 if result.missing else 0


def _print(result: SweepResult, suite: str, json: bool) -> None:
    from saltus.sweep.pairs import pair_up, print_pairs
    from saltus.sweep.summary import failed_solves, print_summary, summarise

    if words := failed_solves(result.rows):
        say(f"warning: {words}")
    if json:
        pairs = [pairing._asdict() for pairing in pair_up(result.rows)]
        print_json({"rows": result.rows, "summary": summarise(result.rows), "pairs": pairs})
    elif result.rows:
        print_summary(f"perturb {suite}", result.rows)
        print_pairs(result.rows)
    say(f"results: {result.folder}")


def study(
    name: Annotated[str | None, typer.Argument(autocompletion=study_names)] = None,
    trials: Annotated[int | None, typer.Option(min=1)] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    full: bool = False,
    assignments: SetOption = None,
    output: FolderOption = None,
    json: JsonOption = False,
) -> int:
    """Reproduce one table or figure; without a name, list the studies.

    A study of your own is in a FILE.py; of several in it, give FILE.py:FUNCTION.

    Exit status 1 when a criterion of the study is not met.

    Args:
        name: FILE.py, or a name of the list that `saltus study` prints.
        trials: Number of trials.
        seed: Seed of the random numbers; 0 by default.
        full: Use the size of the source.
        output: Folder of the figures; runs/studies/NAME.
    """
    from studies.study import STUDIES, StudyOptions, find

    if name is None:
        words = {each: found.description for each, found in STUDIES.items()}
        return print_catalogue("studies", words, json)
    name, found = find(name)
    for option, given in (("trials", trials is not None), ("seed", seed is not None),
                          ("full", full), ("set", bool(assignments))):  # fmt: skip
        if given and option not in found.options:
            others = ", ".join(f"--{each}" for each in found.options) or "none of these options"
            raise BadRequest(f"--{option} has no effect on study {name}; it accepts {others}")
    from studies.runner import run_study  # loads matplotlib

    options = StudyOptions(trials, seed or 0, full, tuple(assignments or ()))
    return run_study(name, found, options, output or Path("runs/studies") / name, json)


LEAST_H, MOST_H = 0.01, 23.0  # events of the emulator have a day


def soak(
    hours: Annotated[float, typer.Option(min=LEAST_H, max=MOST_H)],
    seed: Annotated[int, typer.Option(min=0)] = 0,
    folder: FolderOption = None,
    json: JsonOption = False,
) -> int:
    """Run the emulated robot in real time for hours; exit status 1 when a target is missed.

    Ctrl-C ends it in order, with what there is.

    Args:
        hours: How long the robot runs.
        seed: Seed of everything random.
        folder: New folder; runs/soak-TIME by default.
    """
    folder = folder or new_run_folder("soak")
    if folder.exists():
        raise BadRequest(f"--folder {folder}: it exists; name a new one")
    from saltus.soak.soak import run_soak  # the numeric stack takes a second

    result = run_soak(hours, seed, folder)
    for criterion in result.criteria:
        say(f"{'met' if criterion.met else 'NOT MET'}: {criterion}")
    say(f"results: {folder}")
    if json:
        print_json(result.summary)
    else:
        print_facts(_facts(result))
    if result.interrupted:
        return INTERRUPTED
    return 0 if all(criterion.met for criterion in result.criteria) else 1


def _facts(result: SoakResult) -> list[Fact]:
    """The summary for people."""
    from saltus.launch.outcome import numbers_in
    from saltus.soak.soak import NUMBERS

    met = all(criterion.met for criterion in result.criteria)
    verdict = "STOPPED" if result.interrupted else "OK" if met else "FAILED"
    return [
        Fact(verdict, f"launches {len(result.ends)}"),
        *(Fact(f"launch {end.launch}", f"{end.ran_s:.0f} s: {end.words}")
          for end in result.ends if not end.whole),
        *numbers_in(NUMBERS, result.summary),
    ]  # fmt: skip
