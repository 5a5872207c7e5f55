"""``saltus launch``, ``drive``, ``config`` and ``motion``: run the stack."""

from __future__ import annotations

import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.look import require_view
from saltus.cli.options import (
    DriveOption,
    DurationOption,
    FolderOption,
    JsonOption,
    LaunchArgument,
    ModeOption,
    PlannerOption,
    SetOption,
    documented,
    keys,
)
from saltus.common.console import print_facts, print_json, say, stderr
from saltus.common.errors import INTERRUPTED, BadRequest, refusing
from saltus.common.files import names_in
from saltus.configuration.motions import motion_names

if TYPE_CHECKING:
    from saltus.configuration.launch import LaunchConfig
    from saltus.launch.launcher import LaunchOutcome


STANDARD_INPUT = 0


def launch(
    name_or_file: LaunchArgument,
    drive: DriveOption = None,
    planner: PlannerOption = None,
    duration: DurationOption = None,
    mode: ModeOption = None,
    assignments: SetOption = None,
    record: FolderOption = None,
    view: bool = False,
    read_only: bool = False,
    dry_run: bool = False,
    json: JsonOption = False,
) -> int:
    """Run the stack on a robot; exit status 0 when it reached the end without a fall.

    Args:
        record: Record the run into this folder.
        view: Show the robot in the browser, for an hour unless --duration says otherwise; push,
            slow down and tune it there.
        read_only: On a robot: read and print, send no torque.
        dry_run: On a robot: run the whole stack, send no torque.
    """
    from saltus.configuration.keys import keys_without_effect, warnings
    from saltus.configuration.launch import configure, placed, read_launch

    if view:
        require_view()
    if read_only and (dry_run or record):
        raise BadRequest("--read-only only reads and prints; leave --dry-run and --record out")
    bridge = "read_only" if read_only else "dry_run" if dry_run else None
    settings = read_launch(
        name_or_file, assignments or (), mode, duration, drive, planner, view, bridge
    )
    config = configure(settings)
    if bridge and not config.kind.bridged:
        raise BadRequest(f"--read-only and --dry-run need a real or emulated robot: {name_or_file}")
    for warning in warnings(keys_without_effect(config, settings)):
        say(f"warning: {warning}")
    late = [at for at in (each.at for each in config.perturbations)
            if isinstance(at, int | float) and at > config.duration]  # fmt: skip
    if late:
        say(f"warning: no perturbation at {late[0]:g} s: the run ends after {config.duration:g} s")
    if config.kind.bridged and config.hardware.mode == "read_only":
        from saltus.doctor.read_only_view import view as show_readings  # loads the compiler

        return show_readings(config, json)
    outcome = _run(placed(config), Path(name_or_file).stem, record, view)
    return _report(outcome, json)


def _run(config: LaunchConfig, name: str, record: Path | None, view: bool) -> LaunchOutcome:
    """Run the stack; a recording gets its film strip, unless the true pose is unknown."""
    # MuJoCo looks for a screen in a process, which Ctrl-C would end with a traceback.
    os.environ.setdefault("MUJOCO_GL", "disable")
    from saltus.configuration.launch import limits_in_words
    from saltus.doctor.confirmation import confirm_motion
    from saltus.film.film import leave_strip  # what is loaded here takes longer than --help may
    from saltus.launch.hardware import check_at_hand
    from saltus.launch.launcher import launch as run
    from saltus.launch.launcher import viewer
    from saltus.launch.run_folder import folder_for_logs

    check_at_hand(config)
    config = confirm_motion(config)
    if config.kind.bridged:
        say(limits_in_words(config, config.robot_model))
    folders: list[Path] = []
    with viewer(config) if view else nullcontext():
        while True:  # once, unless a viewer begins it again
            if record:
                number = f"-{len(folders) + 1}" if folders else ""
                folders.append(record.with_name(f"{record.name}{number}"))
            folder = folders[-1] if folders else folder_for_logs(name)
            outcome = run(config, folder, record=record is not None, stay=view)
            if outcome.next is None:
                break
            say("the launch begins again")
            config = outcome.next
    if record and not config.kind.real:
        try:
            for folder in folders:
                leave_strip(folder)
        except KeyboardInterrupt:  # the run is whole, and its summary is not printed yet
            outcome = outcome._replace(interrupted=True)
    return outcome


def _report(outcome: LaunchOutcome, json: bool) -> int:
    """Print what came of a launch; return the exit status."""
    from saltus.launch.outcome import launch_facts

    if json:
        print_json(outcome.summary)
    else:
        print_facts(launch_facts(outcome.summary, outcome.problems, outcome.reports))
    if outcome.interrupted:
        return INTERRUPTED
    return 0 if outcome.ok else 1


def drive(
    gamepad: Annotated[str | None, typer.Option(metavar="DEVICE")] = None,
    json: JsonOption = False,
) -> int:
    """Drive a running launch whose drive.source is client, until q or Ctrl-C; exit status 0.

    Where no launch is running, launch `sim` and drive it on its page.

    Args:
        gamepad: Such as /dev/input/js0; without it, the keyboard drives.
    """
    from hw_bridge.operator.driving import HELP, GamepadDevice, KeyDevice
    from hw_bridge.operator.keyboard import raw_keys
    from runtime.bus import Bus
    from runtime.endpoints import EndpointInUse
    from runtime.signals import StopFlag
    from runtime.topics import COMMAND
    from saltus.launch.announcement import launch_to_drive, running_launches
    from saltus.launch.cores import preferred
    from saltus.launch.driving import (
        LAST_WORDS_S,
        bounds_of,
        words_of,
    )
    from saltus.launch.driving import drive as publish_commands

    if gamepad is None and not running_launches():
        return launch("sim", "client", view=True, json=json)
    running = launch_to_drive()
    sources, how = running.config.sources, f"{HELP}; q ends"
    if gamepad is not None:
        with refusing("", ValueError):
            device = GamepadDevice(sources, gamepad)
        how = "hold the dead-man trigger and push the sticks; Ctrl-C ends"
    elif sys.stdin:
        bounds = bounds_of(running.config.drive, running.config.robot_model)
        device = KeyDevice(STANDARD_INPUT, sources.keys, bounds)
    else:  # a shell has closed it: <&-
        raise BadRequest("standard input is closed: keys come from a terminal; or give --gamepad")
    begin = time.monotonic()
    with (
        preferred(running.config), StopFlag() as stop, Bus(running.endpoints) as bus,
        raw_keys(STANDARD_INPUT),
    ):  # fmt: skip
        try:
            commands = bus.publisher(COMMAND)
        except EndpointInUse as error:
            raise BadRequest(
                f"the launch of process {running.pid} has a driver already; end that driver first "
                f"({error.address})"
            ) from error
        say(f"driving the {running.config.connection} robot of process {running.pid}; {how}")
        with stderr.status("") as line:
            pacer = publish_commands(
                device, commands.send, lambda: stop() or not running.alive or device.quit,
                lambda command: line.update(words_of(command) if command else ""),
            )  # fmt: skip
        bus.close(LAST_WORDS_S)
    if not (running.alive or stop() or device.quit):
        say("the launch has ended")
    elif device.loss:
        silence = running.config.drive.silence
        say(f"{device.loss}; after {silence:g} s without a command the robot stands")
    if json:
        print_json({"commands": pacer.commands, "seconds": time.monotonic() - begin})
    return 0


def config(
    name_or_file: LaunchArgument = "",
    prefix: Annotated[str, typer.Argument(metavar="[KEY]", autocompletion=keys)] = "",
    drive: DriveOption = None,
    planner: PlannerOption = None,
    duration: DurationOption = None,
    mode: ModeOption = None,
    assignments: SetOption = None,
    diff: bool = False,
    json: JsonOption = False,
) -> int:
    """Print every key of a launch: its value, accepted values and source; run nothing.

    Args:
        prefix: Only this key, or the keys of this section.
        diff: Only what differs from the defaults.
    """
    from saltus.configuration import keys as key_table
    from saltus.configuration.launch import configure, read_launch

    if not name_or_file:
        raise BadRequest(f"config: give a YAML file, or one of {names_in('launch')}")
    settings = read_launch(name_or_file, assignments or (), mode, duration, drive, planner)
    launch = configure(settings)
    rows = key_table.select(key_table.rows_of(launch, settings), prefix, diff)
    warnings = key_table.warnings(key_table.keys_without_effect(launch, settings))
    if json:
        keys = [key_table.plain(row) for row in rows]
        print_json({"launch": settings.file, "keys": keys, "warnings": warnings})
        return 0
    for warning in warnings:
        say(f"warning: {warning}")
    key_table.print_rows(rows)
    return 0


motion_app = typer.Typer(help="Motions with flight: jumps, a backflip, standing on two legs.")


@motion_app.command("plan")
@documented
def plan(
    name: Annotated[
        str,
        typer.Argument(
            help=f"A YAML file, or one of {', '.join(motion_names())}.",
            autocompletion=motion_names,
        ),
    ],
    output: FolderOption = None,
    robot: str = "a1",
    json: JsonOption = False,
) -> int:
    """Plan a motion within the robot's limits, and write the reference that a launch tracks.

    Beside it stand a film strip and a plot of torques. Exit status 1 where the limits cannot be
    kept: the message names the limit and the knot.

    Args:
        output: Write here; runs/NAME-TIME by default.
        robot: Robot: a name, or a folder.
    """
    from controller.options import FEASIBLE
    from saltus.motion import facts, plan_into

    folder, summary = plan_into(name, robot, output)
    if json:
        print_json(summary)
    else:
        print_facts(facts(summary))
    say(f"results: {folder}")
    return 0 if summary["status"] in FEASIBLE else 1
