"""``saltus launch``: run the stack."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.common import (
    DriveOption,
    DurationOption,
    JsonOption,
    LaunchArgument,
    ModeOption,
    PlannerOption,
    SetOption,
)
from saltus.cli.view import require_view
from saltus.common.console import print_facts, print_json, say
from saltus.common.errors import BadRequest
from saltus.common.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from saltus.configuration.launch import LaunchConfig
    from saltus.launch.launcher import LaunchOutcome


def launch(
    name_or_file: LaunchArgument,
    drive: DriveOption = None,
    planner: PlannerOption = None,
    duration: DurationOption = None,
    mode: ModeOption = None,
    assignments: SetOption = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Record the run into this folder.")
    ] = None,
    view: Annotated[
        bool,
        typer.Option(
            "--view", help="Show the robot in the browser; push, slow down and tune it there."
        ),
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="On a robot: read and print, send no torque.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="On a robot: run the whole stack, send no torque.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Run the stack on a robot; exit status 0 when it reached the end without a fall."""
    from saltus.configuration.effect import keys_without_effect, warnings
    from saltus.configuration.launch import Overrides, configure, placed, read_launch

    if view:
        require_view()
    if read_only and (dry_run or record):
        raise BadRequest("--read-only only reads and prints; leave --dry-run and --record out")
    bridge = "read_only" if read_only else "dry_run" if dry_run else None
    overrides = Overrides(assignments or (), planner, mode, duration, drive, view, bridge)
    settings = read_launch(name_or_file, overrides)
    config = configure(settings)
    if bridge and not config.kind.bridged:
        raise BadRequest(f"--read-only and --dry-run are for a robot; {name_or_file} launches none")
    for warning in warnings(keys_without_effect(config, settings)):
        say(f"warning: {warning}")
    if config.kind.bridged and config.hardware.mode == "read_only":
        from saltus.hardware.read_only_view import view as show_readings  # loads the compiler

        return show_readings(config, json)
    outcome = _run(placed(config), Path(name_or_file).stem, record, view)
    return _report(outcome, json)


def _run(config: LaunchConfig, name: str, record: Path | None, view: bool) -> LaunchOutcome:
    """Run the stack; a recording gets its film strip, unless nobody knows the true pose."""
    from saltus.configuration.limit_profiles import limits_in_words
    from saltus.film.film import leave_strip
    from saltus.hardware.confirmation import confirm_motion
    from saltus.launch import assembly  # what is loaded here takes longer than --help may
    from saltus.launch.hardware import check_at_hand
    from saltus.launch.launcher import launch as run
    from saltus.launch.run_folder import folder_for_logs
    from saltus.launch.viewer import viewer

    check_at_hand(config)
    config = confirm_motion(config)
    if config.kind.bridged:
        say(limits_in_words(config, config.robot_model))
    with viewer(config) if view else nullcontext():
        outcome = run(config, record or folder_for_logs(name), record=record is not None)
    if record and not config.kind.real:
        emulated_s = outcome.reports.get("emulator", {}).get("emulated_s")
        seconds = float(emulated_s or outcome.summary["simulated_s"])
        try:
            leave_strip(record, seconds, assembly.event_times(config))
        except KeyboardInterrupt:  # the run is whole, and its summary is not printed yet
            outcome = outcome._replace(interrupted=True)
    return outcome


def _report(outcome: LaunchOutcome, json: bool) -> int:
    """Print what came of a launch; return the exit status."""
    from saltus.launch.summary import launch_facts

    if json:
        print_json(outcome.summary)
    else:
        print_facts(launch_facts(outcome.summary, outcome.problems, outcome.reports))
    if outcome.interrupted:
        return INTERRUPTED
    return 0 if outcome.ok else 1
