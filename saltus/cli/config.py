"""``saltus config``: every key of a launch, without running it."""

from typing import Annotated

import typer

from saltus.cli import completion
from saltus.cli.common import (
    DriveOption,
    DurationOption,
    JsonOption,
    LaunchArgument,
    ModeOption,
    PlannerOption,
    SetOption,
)
from saltus.common.console import print_json, print_lines, say
from saltus.common.errors import BadRequest
from saltus.common.folders import names_in


def config(
    name_or_file: LaunchArgument = "",
    prefix: Annotated[
        str,
        typer.Argument(
            metavar="[KEY]", help="Only this key, or the keys of this section.",
            autocompletion=completion.keys,
        ),
    ] = "",
    drive: DriveOption = None,
    planner: PlannerOption = None,
    duration: DurationOption = None,
    mode: ModeOption = None,
    assignments: SetOption = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Only what differs from the defaults.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print docs/keys.md instead.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Print every key of a launch: its value, accepted values and source; run nothing."""
    from saltus.configuration import effect, key_table
    from saltus.configuration.launch import Overrides, configure, read_launch

    if markdown:
        print_lines([key_table.markdown()])
        return 0
    if not name_or_file:
        raise BadRequest(f"config: give a YAML file, or one of {names_in('launch')}")
    overrides = Overrides(tuple(assignments or ()), planner, mode, duration, drive)
    settings = read_launch(name_or_file, overrides)
    launch = configure(settings)
    rows = key_table.select(key_table.rows_of(launch, settings), prefix, diff)
    warnings = effect.warnings(effect.keys_without_effect(launch, settings))
    if json:
        keys = [key_table.plain(row) for row in rows]
        print_json({"launch": settings.file, "keys": keys, "warnings": warnings})
        return 0
    for warning in warnings:
        say(f"warning: {warning}")
    key_table.print_rows(rows)
    return 0
