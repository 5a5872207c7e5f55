"""``saltus study``: reproduce one table or figure of a source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli import completion
from saltus.cli.common import JsonOption, SetOption, print_catalogue
from saltus.common.errors import BadRequest

if TYPE_CHECKING:
    from studies.study import Study


def study(
    name: Annotated[
        str | None,
        typer.Argument(
            help="FILE.py, or a name of the list that `saltus study` prints.",
            autocompletion=completion.study_names,
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Number of trials.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random numbers; 0 by default.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Use the size of the source.")] = False,
    assignments: SetOption = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the figures; runs/studies/NAME.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Reproduce one table or figure; without a name, list the studies.

    A study of your own is in a FILE.py; of several in it, give FILE.py:FUNCTION.

    Exit status 1 when a criterion of the study is not met.
    """
    from studies.study import STUDIES, StudyOptions, find

    if name is None:
        return print_catalogue("studies", STUDIES, json)
    name, found = find(name)
    _check(name, found, trials, seed, full, assignments)
    from studies.runner import run_study  # loads matplotlib

    options = StudyOptions(trials, seed or 0, full, tuple(assignments or ()))
    return run_study(name, found, options, output or Path("runs/studies") / name, json)


def _check(
    name: str, found: Study, trials: int | None, seed: int | None, full: bool,
    assignments: list[str] | None,
) -> None:  # fmt: skip
    """Refuse options out of range or without effect, as a BadRequest."""
    if trials is not None and trials < 1:
        raise BadRequest(f"--trials {trials}: give 1 or more")
    if seed is not None and seed < 0:
        raise BadRequest(f"--seed {seed}: give 0 or more")
    for option, given in (("trials", trials is not None), ("seed", seed is not None),
                          ("full", full), ("set", bool(assignments))):  # fmt: skip
        if given and option not in found.options:
            others = ", ".join(f"--{each}" for each in found.options) or "none of these options"
            raise BadRequest(f"--{option} has no effect on study {name}; it accepts {others}")
