"""``saltus export``: a recorded run in the format of another tool."""

from pathlib import Path
from typing import Annotated, Any

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, print_lines, say
from saltus.common.errors import BadRequest


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a recorded run, or its run.mcap.")
    ],
    rerun: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a file of Rerun's viewer.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a CSV file for each topic.")
    ] = None,
    npz: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write numpy arrays, named topic/field.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Write this topic to --csv or --npz; may be repeated."),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Write a recorded run for other tools; Foxglove opens run.mcap itself."""
    targets = [target for target in (rerun, csv, npz) if target is not None]
    if len(targets) != 1:
        raise BadRequest("give one of --rerun FILE, --csv FOLDER and --npz FILE")
    if rerun is not None:
        if topic:
            raise BadRequest("--topic goes with --csv and --npz; --rerun shows the whole run")
        result, lines = _for_rerun(run, rerun)
    else:
        result, lines = _arrays(run, csv, npz, topic or [])
    if json:
        print_json(result)
    else:
        print_lines(lines)
    return 0


def _for_rerun(run: Path, path: Path) -> tuple[dict[str, Any], list[str]]:
    from saltus.export.motion import motion_of_run  # loads numpy
    from saltus.export.rerun import write_rerun
    from saltus.trace.recorded_run import config_of_run

    motion = motion_of_run(run)
    write_rerun(motion, config_of_run(run).robot_model, run.resolve().name, path)
    seconds = round(motion.robot.time[-1] - motion.robot.time[0], 3)
    result = {"file": str(path), "bytes": path.stat().st_size, "seconds": seconds,
              "states": len(motion.robot.time), "plans": len(motion.solves),
              "paths": len(motion.paths)}  # fmt: skip
    return result, [f"{path}: {seconds:g} s, {result['plans']} plans"]


def _arrays(
    run: Path, folder: Path | None, file: Path | None, topics: list[str]
) -> tuple[dict[str, Any], list[str]]:
    from saltus import open_run
    from saltus.export.arrays import write_csv, write_npz

    recorded = open_run(run)
    if folder is not None:
        exported = write_csv(recorded, folder, topics)
    else:
        assert file is not None
        exported = write_npz(recorded, file, topics)
    if recorded.cause:
        say(f"{recorded.file} is not complete: {recorded.cause}; what it holds is written")
    for name, count in exported.undecodable.items():
        say(f"{name}: {count} messages do not decode and are left out")
    if exported.left_out:
        say(f"not in CSV, for their shape varies: {', '.join(exported.left_out)}; --npz has them")
    result = {**vars(exported), "complete": recorded.complete, "cause": recorded.cause}
    rows = [f"{name}: {count} rows" for name, count in exported.rows.items()]
    if folder is not None:
        return result, [f"{folder}/{row.replace(':', '.csv:', 1)}" for row in rows]
    return result, [f"{file}: {', '.join(rows)}"]
