"""``saltus doctor``: say whether this machine, or a robot too, is fit for Saltus."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli import completion
from saltus.cli.common import JsonOption, SetOption
from saltus.common.console import Fact, print_facts, print_json
from saltus.common.errors import BadRequest

if TYPE_CHECKING:
    from saltus.doctor.checks import Check


def doctor(
    name_or_file: Annotated[
        str | None,
        typer.Argument(
            help="A launch on a robot, such as a1: check the robot too, without torque.",
            autocompletion=completion.launch_names,
        ),
    ] = None,
    assignments: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Check this machine, or a robot and its link; exit status 0: nothing essential is missing."""
    if name_or_file is None:
        if assignments:
            raise BadRequest("--set is for a launch on a robot: give its name, as in `doctor a1`")
        from saltus.doctor.checks import run_checks  # slow to load: it tries every dependency

        checks, measured = run_checks(), None
    else:
        from saltus.configuration.launch import load_launch
        from saltus.hardware.doctor import examine

        checks, measured = examine(load_launch(name_or_file, assignments or ()))
    ok = all(check.ok for check in checks if check.essential)
    if json:
        robot = {} if measured is None else {"measured": measured}
        print_json({"ok": ok, "checks": [check._asdict() for check in checks]} | robot)
    else:
        print_facts(_facts(checks))
    return 0 if ok else 1


def _facts(checks: Sequence["Check"]) -> list[Fact]:
    """The verdict, then every check, those that failed first."""
    lines = sorted(((_verdict(check), check) for check in checks), key=lambda each: each[0][0])
    failed = [check for (order, _), check in lines if order < 2]
    names = ", ".join(check.check for check in failed)
    verdict, words = "OK", f"{len(lines)} checks passed"
    if failed:
        essential = any(check.essential for check in failed)
        verdict = "FAILED" if essential else "WARNING"
        words = f"{len(failed)} of {len(lines)} checks failed: {names}"
        words += "" if essential else "; none of them is essential"
    facts = [Fact(label, f"{check.check}: {check.found}") for (_, label), check in lines]
    return [Fact(verdict, words), *facts]


def _verdict(check: "Check") -> tuple[int, str]:
    """Where a check stands in the order, and its label."""
    if check.ok:
        return 2, "ok"
    return (0, "FAILED") if check.essential else (1, "WARNING")
