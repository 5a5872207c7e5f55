"""``saltus black-box``: what was on the wire of a robot, and its logs, of all launches."""

import math
from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, print_lines, print_table
from saltus.common.errors import BadRequest


def black_box(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Of the black box, or of a run with the emulator."),
    ] = Path("runs/black_box"),
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write frames as CSV, and logs, to a new folder."),
    ] = None,
    last: Annotated[
        float, typer.Option(metavar="SECONDS", help="How much of the end --csv writes.")
    ] = 60.0,
    json: JsonOption = False,
) -> int:
    """List what a robot's black box holds, or write the end of it as CSV files and logs."""
    from saltus.export.black_box import segments_of, write_csv  # loads numpy

    if not 0.0 < last < math.inf:
        raise BadRequest(f"--last is {last:g}; give a number of seconds above 0")
    found = segments_of(folder)
    rows = [segment.row() for segment in found]
    files = {} if csv is None else write_csv(found, csv, last)
    if json:
        print_json({"files": rows, "rows": files})
    elif csv is None:
        shown = [row | {"file": Path(row["file"]).name, "begin": row["begin"][:19]} for row in rows]
        print_table(f"Black box {folder}", shown)
    else:
        print_lines([f"{csv}/{name}: {count}" for name, count in files.items()])
    return 0
