"""What the commands have in common."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Protocol

import typer

from saltus.cli import completion
from saltus.common.console import print_json, print_lines
from saltus.common.folders import names_in
from saltus.configuration.planners import PLANNERS

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on the last line of standard output.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a launch key.",
        autocompletion=completion.assignments,
    ),
]  # fmt: skip
PlannerOption = Annotated[
    str | None,
    typer.Option(
        help=f"{', '.join(PLANNERS)}; overrides the launch file.",
        autocompletion=completion.planner_names,
    ),
]


class Mode(StrEnum):
    """How time passes: in lock step, or by the clock."""

    PAUSED = "paused"
    REALTIME = "realtime"


class DriveSource(StrEnum):
    """Who drives: see `drive.source` of a launch file."""

    KEYBOARD = "keyboard"
    GAMEPAD = "gamepad"
    REMOTE = "remote"
    CLIENT = "client"


LaunchArgument = Annotated[
    str,
    typer.Argument(
        help=f"A YAML file, or one of {names_in('launch')}.",
        autocompletion=completion.launch_names,
    ),
]
DriveOption = Annotated[
    DriveSource | None,
    typer.Option(help="Source of commands, in real time; overrides the launch file."),
]
DurationOption = Annotated[float | None, typer.Option(help="Length of the run in seconds.")]
ModeOption = Annotated[Mode | None, typer.Option(help="How time passes.")]
_NAME_WIDTH = 22  # columns of a list


class Entry(Protocol):
    """What can be run by its name."""

    @property
    def description(self) -> str:
        """In a few words."""
        ...


def print_catalogue(kind: str, entries: Mapping[str, Entry], json: bool) -> int:
    """List names with a line each; exit status 0."""
    if json:
        print_json({kind: {name: entry.description for name, entry in entries.items()}})
    else:
        print_lines([f"{name:{_NAME_WIDTH}}{e.description}" for name, e in entries.items()])
    return 0
