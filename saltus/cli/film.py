"""``saltus film``: a film of a recorded run."""

from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, print_lines
from saltus.common.errors import BadRequest


def film(
    run: Annotated[Path, typer.Argument(help="Folder of a recorded run.")],
    output: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Output file, .mp4 or .gif; film.mp4 in RUN by default."
        ),
    ] = None,
    camera: Annotated[
        str,
        typer.Option(metavar="VIEW", help="side, front, top, or AZIMUTH,ELEVATION,DISTANCE."),
    ] = "side",
    speed: Annotated[float, typer.Option(help="Playback speed; 0.25 is slow motion.")] = 1.0,
    begin: Annotated[float, typer.Option("--from", help="First second of the run.")] = 0.0,
    end: Annotated[float | None, typer.Option("--to", help="Last second of the run.")] = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="In pixels.")] = "960x540",
    fps: Annotated[int, typer.Option(help="Frames a second of the film.")] = 25,
    json: JsonOption = False,
) -> int:
    """Film a recorded run, with its pushes and plans; no display is needed."""
    from saltus.film.drawing import camera_view
    from saltus.film.film import FilmOptions, make_film  # loads the numeric stack

    options = FilmOptions(camera_view(camera), speed, begin, end, _parse_size(size), fps)
    made = make_film(run, output or run / "film.mp4", options)
    if json:
        print_json(made._asdict() | {"file": str(made.file)})
    else:
        megabytes = 1e-6 * made.bytes
        print_lines(
            [f"{made.file}: {made.frames} frames, {made.seconds:.2f} s, {megabytes:.2f} MB"]
        )
    return 0


def _parse_size(text: str) -> tuple[int, int]:
    try:
        width, height = (int(side) for side in text.split("x"))
    except ValueError:
        raise BadRequest(f"--size {text!r}: give WIDTHxHEIGHT, such as 960x540") from None
    return width, height
