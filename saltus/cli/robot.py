"""``saltus robot``: robots as data."""

from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import Fact, print_facts, print_json

app = typer.Typer(
    help="Robots as data: a folder with a model and robot.yaml.", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    """Robots as data: a folder with a model and robot.yaml."""


@app.command("check")
def check(
    folder: Annotated[
        str, typer.Argument(help="A folder with robot.yaml, or the name of a robot, such as a1.")
    ],
    json: JsonOption = False,
) -> int:
    """Say what is missing or implausible in a robot's folder; exit status 0 if nothing is."""
    from saltus.robot_check import check_robot  # loads the numerics

    checks = check_robot(folder)
    ok = all(each.ok for each in checks)
    if json:
        print_json({"robot": folder, "ok": ok, "checks": [each._asdict() for each in checks]})
    else:
        failed = sum(not each.ok for each in checks)
        verdict = f"{failed} of {len(checks)} checks failed" if failed else "it can be launched"
        print_facts([
            Fact("OK" if ok else "FAILED", f"{folder}: {verdict}"),
            *(Fact("ok" if c.ok else "FAILED", f"{c.what}: {c.detail}") for c in checks),
        ])  # fmt: skip
    return 0 if ok else 1
