"""``saltus perturb``: run a suite of scripted pushes."""

from typing import Annotated

import typer

from saltus.commands.common import JsonOption
from saltus.commands.launch import Mode
from saltus.console import print_json, print_table
from saltus.errors import BadRequest

BUILT = ("hilqr",)
PLANNED = ("convex_mpc", "instant_qp", "all")


def perturb(
    suite: Annotated[str, typer.Argument(help="A name in config/, or a YAML file.")],
    controller: Annotated[str, typer.Option(help="Which planner.")] = "hilqr",
    mode: Annotated[Mode, typer.Option(help="How time passes.")] = Mode.PAUSED,
    jobs: Annotated[
        int, typer.Option(min=1, help="Trials run at the same time (paused only).")
    ] = 1,
    json: JsonOption = False,
) -> int:
    """Push the simulated robot, once per trial of a suite, and count how often it stays up."""
    check_controller(controller)
    if mode is Mode.REALTIME and jobs > 1:
        raise BadRequest("--jobs: trials in real time need the machine for themselves; give 1")
    from saltus.perturbation_suite import run_suite  # the numeric stack takes a second to load

    result = run_suite(suite, controller, mode.value, jobs)
    if json:
        print_json({"rows": result.rows, "summary": result.summary})
    else:
        print_table(f"perturb {suite}", result.rows)
        print_table("summary", result.summary)
    return 0


def check_controller(name: str) -> None:
    """Refuse controllers that are not built.

    Raises:
        BadRequest: naming those that are.
    """
    if name in PLANNED:
        raise BadRequest(f"--controller {name} is not built yet; accepted: {', '.join(BUILT)}")
    if name not in BUILT:
        raise BadRequest(f"--controller {name!r} is unknown; accepted: {', '.join(BUILT)}")
