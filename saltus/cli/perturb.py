"""``saltus perturb``: run a suite of scripted pushes."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli import completion
from saltus.cli.common import JsonOption, Mode, SetOption
from saltus.common.blas_threads import use_one_thread
from saltus.common.console import print_json, say
from saltus.common.errors import BadRequest
from saltus.common.folders import names_in
from saltus.common.interrupt import INTERRUPTED
from saltus.configuration.planners import ALL, PLANNERS, planners_in_words, planners_named

if TYPE_CHECKING:
    from saltus.sweep.sweep import SweepRequest, SweepResult


def perturb(
    suite: Annotated[
        str,
        typer.Argument(
            help=f"A YAML file, or one of {names_in('config')}.",
            autocompletion=completion.suite_names,
        ),
    ],
    planner: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help=f"{', '.join(PLANNERS)}, several with commas between, or {ALL}.",
            autocompletion=completion.sweep_planner_names,
        ),
    ] = "hilqr",
    mode: Annotated[Mode, typer.Option(help="How time passes.")] = Mode.PAUSED,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Trials at the same time; all cores by default.")
    ] = None,
    cluster: Annotated[
        str, typer.Option(help="dask, ray or spark, through joblib; loky is this machine.")
    ] = "loky",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of a running Dask scheduler; without it, one starts here.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write results here, or continue those that are here; runs/SUITE-TIME by default.",
        ),
    ] = None,
    trial: Annotated[
        list[int] | None, typer.Option(help="Only the trial with this number; may be repeated.")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="Only trials of this group; may be repeated.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Only so many seeds of each event, for a quick look.")
    ] = None,
    budget: Annotated[
        list[float] | None,
        typer.Option(
            metavar="MS",
            min=0.1,
            max=1000.0,
            help="Run each planner once more at so much processor time a plan; may be repeated.",
        ),
    ] = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run the trials of a perturbation suite in simulation and print success rates.

    Several planners are also compared trial by trial.

    Ctrl-C keeps finished trials and prints the command that continues; `saltus report DIR` makes a
    page of them.
    """
    if mode is Mode.REALTIME and (jobs or 1) > 1:
        raise BadRequest("--jobs: trials in real time run one after another; give 1")
    if mode is Mode.REALTIME and cluster != "loky":
        raise BadRequest("--cluster: trials in real time run on this machine; leave it out")
    if mode is Mode.REALTIME and budget:
        raise BadRequest("--budget: in real time plans take the time that they take; leave it out")
    use_one_thread()
    from saltus.sweep.sweep import SweepRequest, run_sweep  # the numeric stack takes a second

    request = SweepRequest(
        suite, planners_named(planner), mode.value, jobs, cluster, scheduler, output,
        tuple(trial or ()), tuple(group or ()), seeds, tuple(assignments or ()),
        tuple(sorted(set(budget or ()))),
    )  # fmt: skip
    result = run_sweep(request)
    _print(result, suite, json)
    if result.missing:
        missing = "1 trial is" if result.missing == 1 else f"{result.missing} trials are"
        say(f"{missing} not finished; go on with: {_again(request, result)}")
    if result.interrupted:
        return INTERRUPTED
    return 1 if result.missing else 0


def _print(result: "SweepResult", suite: str, json: bool) -> None:
    from saltus.sweep.pairs import pair_up
    from saltus.sweep.pairs_table import print_pairs
    from saltus.sweep.summary import summarise
    from saltus.sweep.summary_table import failed_solves, print_summary

    if words := failed_solves(result.rows):
        say(f"warning: {words}")
    if json:
        pairs = [pairing._asdict() for pairing in pair_up(result.rows)]
        print_json({"rows": result.rows, "summary": summarise(result.rows), "pairs": pairs})
    elif result.rows:
        print_summary(f"perturb {suite}", result.rows)
        print_pairs(result.rows)
    say(f"results: {result.folder}")


def _again(request: "SweepRequest", result: "SweepResult") -> str:
    """The command that goes on with what is missing."""
    words = ["saltus", "perturb", request.suite, "--planner", planners_in_words(request.planners)]
    words += ["--mode", request.mode]
    if request.jobs is not None:
        words += ["--jobs", str(request.jobs)]
    if request.cluster != "loky":
        words += ["--cluster", request.cluster]
    if request.scheduler is not None:
        words += ["--scheduler", request.scheduler]
    if request.seeds is not None:
        words += ["--seeds", str(request.seeds)]
    for option, values in (
        ("--group", request.groups), ("--trial", request.trials), ("--set", request.settings),
        ("--budget", [f"{each:g}" for each in request.budgets_ms]),
    ):  # fmt: skip
        words += [word for value in values for word in (option, str(value))]
    return shlex.join([*words, "--output", str(result.folder)])
