"""Options that commands share, their help, and completions of the shell."""

import inspect
import re
import textwrap
import typing
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from saltus.common.console import Fact, print_facts, print_json
from saltus.common.files import names_in
from saltus.configuration.planners import ALL, PLANNERS

# Of what these offer to the shell, typer leaves what begins as the word that is typed.


def launch_names(incomplete: str) -> list[str]:
    """Names in ``launch``, and YAML files."""
    return names_in("launch").split(", ") + _files(incomplete)


def suite_names(incomplete: str) -> list[str]:
    """Names in ``config``, and YAML files."""
    return names_in("config").split(", ") + _files(incomplete)


def study_names() -> list[str]:
    """Names of `saltus study`."""
    from studies.study import STUDIES

    return list(STUDIES)


def sweep_planner_names(incomplete: str) -> list[str]:
    """The planners, the word for all of them, and after a comma those not named yet."""
    before, comma, _ = incomplete.rpartition(",")
    names = PLANNERS if comma else (*PLANNERS, ALL)
    return [f"{before}{comma}{name}" for name in names if name not in before.split(",")]


def assignments(incomplete: str) -> list[str]:
    """Keys of a launch file, each with its ``=``; after one of few values, those."""
    from saltus.configuration.keys import keys_of  # slow to load, and few commands need it

    name, equals, _ = incomplete.partition("=")
    found = {key.key: key.choices for key in keys_of()}
    return [f"{name}={each}" for each in found.get(name, ())] if equals else [
        f"{key}=" for key in found
    ]  # fmt: skip


def keys() -> list[str]:
    """Keys of a launch file, and its sections."""
    from saltus.configuration.keys import keys_of

    names = [key.key for key in keys_of()]
    sections = {name[:end] for name in names for end, letter in enumerate(name) if letter == "."}
    return sorted({*names, *sections})


def _files(incomplete: str) -> list[str]:
    """YAML files and folders of the folder that is being typed."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    try:
        found = [p for p in folder.iterdir() if p.suffix in (".yaml", ".yml") or p.is_dir()]
    except OSError:
        return []
    return sorted(f"{p}/" if p.is_dir() else str(p) for p in found)


def documented(command: Callable[..., int]) -> Callable[..., int]:
    """The command, its parameters with the help that its docstring has under ``Args:``."""
    parameters = inspect.signature(command, eval_str=True).parameters
    command.__doc__, _, entries = (inspect.getdoc(command) or "").partition("\n\nArgs:\n")
    for name, text in re.findall(r"^(\w+): (.+(?:\n .+)*)", textwrap.dedent(entries), re.M):
        info: Any
        hint, default = parameters[name].annotation, parameters[name].default
        if typing.get_origin(hint) is Annotated:
            hint, info = typing.get_args(hint)
        elif default is inspect.Parameter.empty:
            info = typer.Argument()
        else:  # a switch has no opposite
            info = typer.Option(*[f"--{name.replace('_', '-')}"] * (hint is bool))
        info = copy(info)
        info.help = " ".join(text.split())
        command.__annotations__[name] = Annotated[hint, info]
    return command


JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on the last line of standard output.")
]
FolderOption = Annotated[Path | None, typer.Option(metavar="DIR")]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a launch key.",
        autocompletion=assignments,
    ),
]  # fmt: skip
PlannerOption = Annotated[
    str | None,
    typer.Option(
        help=f"{', '.join(PLANNERS)}; overrides the launch file.",
        autocompletion=lambda: list(PLANNERS),
    ),
]


Mode = Literal["paused", "realtime"]


LaunchArgument = Annotated[
    str,
    typer.Argument(
        help=f"A YAML file, or one of {names_in('launch')}.",
        autocompletion=launch_names,
    ),
]
DriveOption = Annotated[
    Literal["keyboard", "remote", "client"] | None,
    typer.Option(
        help="Source of commands, in real time; a simulated robot then runs for an hour unless "
        "--duration says otherwise."
    ),
]
DurationOption = Annotated[float | None, typer.Option(help="Length of the run in seconds.")]
ModeOption = Annotated[Mode | None, typer.Option(help="How time passes.")]


def print_catalogue(kind: str, entries: Mapping[str, str], json: bool) -> int:
    """List names, each with its description; exit status 0."""
    if json:
        print_json({kind: entries})
    else:
        print_facts([Fact(*entry) for entry in entries.items()])
    return 0
