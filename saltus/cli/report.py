"""``saltus report``: one page about a recorded run or a sweep."""

from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, print_lines


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN_OR_SWEEP", help="Folder of a recorded run or a sweep.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Output file; report.html in the folder by default."),
    ] = None,
    strip: Annotated[
        list[str] | None,
        typer.Option(metavar="PLANNER:TRIAL", help="Draw a film strip of it; may be repeated."),
    ] = None,
    video: Annotated[
        str | None, typer.Option(metavar="PLANNER:TRIAL", help="Make the film of this trial.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Write one self-contained HTML page: success, paths, contacts, searches, times, pictures.

    Exit status 1 for a recorded run that ended early.
    """
    from saltus.report.page import write_report  # the numeric stack takes a second to load

    written = write_report(folder, output, tuple(strip or ()), video)
    if json:
        print_json({"report": str(written.path), "verdict": written.verdict, "rows": written.rows,
                    "broke_off": written.broke_off})  # fmt: skip
    else:
        print_lines([written.verdict, str(written.path)])
    return int(written.broke_off)
