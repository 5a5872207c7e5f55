"""``saltus soak``: the emulated robot for hours, with random commands, pushes and faults."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import Fact, print_facts, print_json, say
from saltus.common.errors import BadRequest
from saltus.common.folders import new_run_folder
from saltus.common.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from saltus.soak.soak import SoakOptions, SoakResult

LEAST_H, MOST_H = 0.01, 23.0  # events of the emulator have a day


def soak(
    hours: Annotated[
        float, typer.Option(help=f"How long the robot runs, {LEAST_H:g} to {MOST_H:g}.")
    ],
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    hard_pushes: Annotated[
        bool, typer.Option("--hard-pushes", help="A few pushes above 2 m/s too.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Keep a recording of each launch: GB an hour.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="New folder; runs/soak-TIME by default.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Run the emulated robot in real time for hours; exit status 1 when a target is missed.

    Ctrl-C ends it in order, with what there is.
    """
    if not LEAST_H <= hours <= MOST_H:  # nor is NaN
        raise BadRequest(f"--hours {hours:g}: give {LEAST_H:g} to {MOST_H:g}")
    if seed < 0:
        raise BadRequest(f"--seed {seed}: give 0 or more")
    folder = folder or new_run_folder("soak")
    if folder.exists():
        raise BadRequest(f"--folder {folder}: it exists; name a new one")
    from saltus.soak.soak import SoakOptions, run_soak  # the numeric stack takes a second

    options = SoakOptions(hours, seed, hard_pushes, record)
    result = run_soak(options, folder)
    _draw(result, options, folder)
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


def _draw(result: SoakResult, options: SoakOptions, folder: Path) -> None:
    """Write the picture; the numbers count where that fails."""
    from saltus.common.figures import save  # loads matplotlib
    from saltus.soak.figure import soak_figure
    from saltus.soak.samples import read_samples
    from saltus.soak.schedule import CALM_S, draw_schedule
    from saltus.soak.soak import SAMPLES, STALLS
    from saltus.soak.stalls import read_stalls

    columns = read_samples(folder / SAMPLES)
    if not columns:
        return
    pushes = [
        (end.launch, push.at)
        for end in result.ends
        for push in draw_schedule(
            options.seed, end.launch, end.ran_s + CALM_S, options.hard_pushes
        ).pushes
    ]
    try:
        stalls = read_stalls(folder / STALLS)
        save({"soak": soak_figure(columns, result.ends, pushes, stalls)}, folder)
    except OSError as error:
        say(f"the picture cannot be written to {folder}: {error.strerror or error}")


def _facts(result: SoakResult) -> list[Fact]:
    """The summary for people."""
    summary, growth = result.summary, result.summary["memory_growth_mb_per_h"]
    stalls = summary["stalls"]
    met = all(criterion.met for criterion in result.criteria)
    verdict = "STOPPED" if result.interrupted else "OK" if met else "FAILED"
    ticks = summary["ticks"] + summary["missed"]
    share = 100.0 * summary["missed"] / ticks if ticks else math.nan
    us = {name: "-" if x is None else f"{x:.0f}" for name, x in summary["tick_us"].items()}
    ends = [end for end in result.ends if not end.whole]
    return [
        Fact(verdict, f"It ran for {summary['hours']:.3f} h; falls {summary['falls']}, after "
             f"hard pushes {summary['falls_after_hard_pushes']}; restarts {summary['restarts']}, "
             f"at stalls of the machine {summary['restarts_at_stalls']}"),
        *(Fact(f"launch {end.launch}", f"{end.ran_s:.0f} s: {end.words}") for end in ends),
        Fact("tracker", f"{summary['missed']} of {ticks} ticks missed ({share:.3f} %); a tick "
             f"takes {us['p50']} us (p99 {us['p99']}, p99.9 {us['p999']}, most {us['max']})"),
        Fact("memory", "too short to tell a growth: that takes 15 min in one launch"
             if growth is None else f"grows by {growth:.1f} MB/h after ten minutes"),
        Fact("machine", "its stalls were not watched" if stalls is None else
             f"stood still {stalls['count']} times for 3 ms or more, at most for "
             f"{stalls['longest_ms']:.0f} ms"),
    ]  # fmt: skip
