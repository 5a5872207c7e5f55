"""``saltus doctor``: say whether this machine, or an A1 too, is fit for Saltus."""

from typing import Annotated

import typer

from saltus.commands import completion
from saltus.commands.common import JsonOption, SetOption
from saltus.console import print_json, print_table
from saltus.errors import BadRequest


def doctor(
    name_or_file: Annotated[
        str | None,
        typer.Argument(
            help="A launch on an A1, such as a1: look at the robot too, torque-free.",
            autocompletion=completion.launch_names,
        ),
    ] = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Check this machine, or an A1 and its link; status 0 when everything essential is there."""
    if name_or_file is None:
        if assignments:
            raise BadRequest("--set is for a launch on an A1: give its name, as in `doctor a1`")
        from saltus.checks import run_checks  # slow to load: it tries every dependency

        checks, measured = run_checks(), None
    else:
        from saltus.configuration import load_launch
        from saltus.hardware_doctor import examine

        checks, measured = examine(load_launch(name_or_file, assignments or ()))
    rows = [check._asdict() for check in checks]
    ok = all(check.ok for check in checks if check.essential)
    if json:
        robot = {} if measured is None else {"measured": measured}
        print_json({"ok": ok, "checks": rows} | robot)
    else:
        print_table("doctor" if name_or_file is None else f"doctor {name_or_file}", rows)
    return 0 if ok else 1
