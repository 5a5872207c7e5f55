"""``saltus export``: a recorded run in the format of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from saltus.commands.common import JsonOption
from saltus.console import print_json, print_lines


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a recorded run.")],
    rerun: Annotated[Path, typer.Option(metavar="FILE", help="Write a file of Rerun's viewer.")],
    json: JsonOption = False,
) -> int:
    """Write a recorded run for another viewer; Foxglove opens run.mcap itself."""
    from saltus.recording.motion import motion_of_run  # loads numpy
    from saltus.recording.rerun import write_rerun

    motion = motion_of_run(run)
    write_rerun(motion, run.resolve().name, rerun)
    seconds = round(motion.robot.time[-1] - motion.robot.time[0], 3)
    result = {"file": str(rerun), "bytes": rerun.stat().st_size, "seconds": seconds,
              "states": len(motion.robot.time), "plans": len(motion.solves),
              "paths": len(motion.paths)}  # fmt: skip
    if json:
        print_json(result)
    else:
        print_lines([f"{rerun}: {seconds:g} s, {result['plans']} plans"])
    return 0
