"""Recorded runs: ``saltus view``, ``film``, ``report``, ``export``, ``black-box``, `replay`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.options import JsonOption, RunArgument
from saltus.common.console import print_facts, print_json, print_table, say
from saltus.common.errors import BadRequest, refusing

if TYPE_CHECKING:
    from saltus.launch.announcement import RunningLaunch


ProcessOption = Annotated[
    int | None, typer.Option(metavar="PID", help="Process id of the launch, if several run.")
]
REMEDY = "the view needs packages of its own: pip install 'saltus[view]'"


def view(
    run: Annotated[Path | None, typer.Argument(metavar="[RUN]")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535)] = None,
    process: ProcessOption = None,
    json: JsonOption = False,
) -> int:
    """Show a launch or a recording in the browser, until Ctrl-C or the launch's end.

    Args:
        run: A run folder; without it, the running launch.
        port: Port; 8080 or a free one by default.
    """
    require_view()
    from runtime.signals import StopFlag
    from saltus.view.page import Page, view_launch, view_recording

    launch, outcome = None, {"address": "", "seconds": 0.0, "frames": 0}
    with StopFlag() as stop:
        if run is None and (launch := find_launch(process, stop)) is None:
            pass  # stopped before there is one
        else:
            with Page(port) as page:
                if launch is not None:
                    outcome = view_launch(page, launch, stop)
                elif run is not None:
                    from saltus.launch.recorded import RecordedRun

                    outcome = view_recording(page, RecordedRun(run), run.name, stop)
    if json:
        print_json(outcome)
    return 0


def require_view() -> None:
    """Refuse where the packages of the view are not installed.

    Raises:
        BadRequest: they are not; the message says how to get them.
    """
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise BadRequest(REMEDY) from error


def find_launch(process: int | None, stop: Callable[[], bool]) -> RunningLaunch | None:
    """The newest launch of this user, or that of a process, once it announces itself.

    Raises:
        BadRequest: none is running.
    """
    from saltus.launch.announcement import launch_of, running_launches

    if process is None:
        for launch in running_launches():
            return launch
        raise BadRequest("no launch is running; start one with a view: saltus launch sim --view")
    launch = launch_of(process, stop)
    if launch is None and not stop():
        raise BadRequest(f"no launch runs in process {process}")
    return launch


def film(
    run: RunArgument,
    output: Annotated[Path | None, typer.Argument(metavar="[FILE]")] = None,
    beside: Annotated[list[Path] | None, typer.Option(metavar="RUN")] = None,
    camera: Annotated[str | None, typer.Option(metavar="VIEW")] = None,
    speed: Annotated[float, typer.Option(min=0.001, max=100.0)] = 1.0,
    begin: Annotated[float, typer.Option("--from")] = 0.0,
    end: Annotated[float | None, typer.Option("--to")] = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT")] = "960x540",
    fps: int = 25,
    json: JsonOption = False,
) -> int:
    """Film a recorded run, with pushes, planned paths and steps, and forces; no display needed.

    Args:
        run: Folder of a recorded run.
        output: Output file, .mp4 or .gif; film.mp4 in RUN by default.
        beside: Another run to its right; may be repeated.
        camera: side, front, behind, top, or AZIMUTH,ELEVATION,DISTANCE; by default behind where a
            push goes aside, else side.
        speed: Playback speed; 0.25 is slow motion.
        begin: First second of the run.
        end: Last second of the run.
        size: In pixels.
        fps: Frames a second of the film.
    """
    from saltus.film.drawing import camera_view
    from saltus.film.film import make_film  # loads the numeric stack

    view = None if camera is None else camera_view(camera)
    with refusing(f"--size {size}", ValueError, remedy="give WIDTHxHEIGHT, such as 960x540"):
        width, height = (int(side) for side in size.split("x"))
    made = make_film(
        (run, *(beside or ())), output or run / "film.mp4", view, speed, (begin, end),
        (width, height), fps,
    )  # fmt: skip
    if json:
        print_json(made._asdict() | {"file": str(made.file)})
    else:
        megabytes = 1e-6 * made.bytes
        print(f"{made.file}: {made.frames} frames, {made.seconds:.2f} s, {megabytes:.2f} MB")
    return 0


def report(
    folder: Annotated[Path, typer.Argument(metavar="SWEEP")],
    output: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    json: JsonOption = False,
) -> int:
    """Write one self-contained HTML page: success, paths, contacts, searches, times, pictures.

    Args:
        folder: Folder of a sweep.
        output: Output file; report.html in the folder by default.
    """
    from saltus.report.page import write_report  # the numeric stack takes a second to load

    written = write_report(folder, output)
    if json:
        print_json({
            "report": str(written.path), "verdict": written.verdict, "rows": written.rows
        })  # fmt: skip
    else:
        print(written.verdict, written.path, sep="\n")
    return 0


def export(
    run: RunArgument,
    csv: Annotated[Path, typer.Option(metavar="FOLDER")],
    topic: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    json: JsonOption = False,
) -> int:
    """Write a recorded run for other tools; Foxglove opens run.mcap itself.

    Args:
        run: Folder of a recorded run, or its run.mcap.
        csv: Write a CSV file for each topic.
        topic: Write this topic alone; may be repeated.
    """
    from saltus import open_run
    from saltus.export.arrays import write_csv

    recorded = open_run(run)
    exported = write_csv(recorded, csv, topic or ())
    if recorded.cause:
        say(f"{recorded.file} is not complete: {recorded.cause}; what it holds is written")
    for name, count in exported.undecodable.items():
        say(f"{name}: {count} messages do not decode and are left out")
    if exported.left_out:
        say(f"not in CSV, for their shape varies: {', '.join(exported.left_out)}")
    if json:
        whole = {"complete": recorded.complete, "cause": recorded.cause}
        print_json(exported._asdict() | whole)
    else:
        for name, count in exported.rows.items():
            print(f"{csv}/{name}.csv: {count} rows")
    return 0


def black_box(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER")] = Path("runs/black_box"),
    csv: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    last: Annotated[float, typer.Option(metavar="SECONDS", min=0.001, max=1e9)] = 60.0,
    json: JsonOption = False,
) -> int:
    """List what a robot's black box holds, or write the end of it as CSV files and logs.

    Args:
        folder: Of the black box, or of a run with the emulator.
        csv: Write frames as CSV, and logs, to a new folder.
        last: How much of the end --csv writes.
    """
    from saltus.export.black_box import segments_of, write_csv  # loads numpy

    found = segments_of(folder)
    rows = [segment.row() for segment in found]
    files = {} if csv is None else write_csv(found, csv, last)
    if json:
        print_json({"files": rows, "rows": files})
    elif csv is None:
        shown = [row | {"file": Path(row["file"]).name, "begin": row["begin"][:19]} for row in rows]
        print_table(f"Black box {folder}", shown)
    else:
        for name, count in files.items():
            print(f"{csv}/{name}: {count}")
    return 0


def replay(
    run: RunArgument,
    json: JsonOption = False,
) -> int:
    """Feed recorded sensor readings through estimator, planner and tracker, and compare.

    Exit status 1 where anything differs from what was recorded. The run was in lock step.

    Args:
        run: Folder of a recorded run, or its run.mcap.
    """
    from saltus import replay as replaying  # loads the numeric stack

    result = replaying.replay(run)
    if json:
        print_json(result)
    else:
        print_facts(replaying.facts(result))
        print_table("Messages", replaying.table(result))
    return int(not result.identical)
