"""``saltus motion``: motions with flight, planned offline."""

from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, print_lines, say
from saltus.configuration.motions import motion_names
from saltus.launch.motions import FEASIBLE

app = typer.Typer(help="Motions with flight: jumps, a backflip, standing on two legs.")


@app.command("plan")
def plan(
    name: Annotated[
        str,
        typer.Argument(
            help=f"A YAML file, or one of {', '.join(motion_names())}.",
            autocompletion=motion_names,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write here; runs/NAME-TIME by default."),
    ] = None,
    robot: Annotated[str, typer.Option(help="Robot: a name, or a folder.")] = "a1",
    json: JsonOption = False,
) -> int:
    """Plan a motion within the robot's limits, and write the reference that a launch tracks.

    Beside it stand a film strip and a plot of torques. Exit status 1 where the limits cannot be
    kept: the message names the limit and the knot.
    """
    from saltus.motion.planning import plan_into, summary_lines

    folder, summary = plan_into(name, robot, output)
    if json:
        print_json(summary)
    else:
        print_lines(summary_lines(summary))
    say(f"results: {folder}")
    return 0 if summary["status"] in FEASIBLE else 1
