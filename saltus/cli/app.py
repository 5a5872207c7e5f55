"""The command line: ``saltus COMMAND``; one file for each group of commands beside this one."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from saltus import __version__
from saltus.cli import look, machine, measure, run, trials
from saltus.cli.main import BAD_REQUEST
from saltus.cli.options import documented
from saltus.common.errors import INTERRUPTED, BadRequest, interrupted

COMMANDS = (
    run.launch, run.config, run.drive, trials.perturb, look.view, look.replay, look.report,
    look.black_box, look.export, look.film, trials.study, machine.serve, measure.bench,
    measure.score, trials.soak, machine.doctor,
)  # fmt: skip

app = typer.Typer(
    name="saltus",
    help="Saltus: a control stack for quadrupeds that plans through contact.",
    pretty_exceptions_enable=False,
    suggest_commands=False,
)
for _command in COMMANDS:
    app.command(_command.__name__.replace("_", "-"))(documented(_command))
app.add_typer(run.motion_app, name="motion")
app.add_typer(machine.robot_app, name="robot")
app.add_typer(machine.bridge_app, name="bridge")


def _print_version(asked: bool) -> None:
    if asked:
        print(f"saltus {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Saltus: a control stack for quadrupeds that plans through contact."""


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    A bad option, file, key or trial is one line on standard error and status 2; no traceback.
    """
    try:
        status = app(args=arguments, prog_name="saltus", standalone_mode=False)
    except BadRequest as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        return _refuse(_one_line(error))
    except typer.Abort as error:
        if isinstance(error.__cause__, EOFError):  # Python 3.11 keeps what a full disk cut
            return _refuse(f"{error.__cause__}: remove the folders __pycache__ beside the sources")
        return INTERRUPTED
    except SystemError as error:
        if not interrupted(error):
            raise
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def _refuse(message: str) -> int:
    print(f"saltus: {message}", file=sys.stderr)
    return BAD_REQUEST


def _one_line(error: typer.TyperException) -> str:
    """Typer's message, with what the command accepts instead of its usage box."""
    message = " ".join(error.format_message().split())
    context: Any = getattr(error, "ctx", None)
    if context is None:
        return message
    commands = getattr(context.command, "commands", None)
    if commands:
        return f"{message} Accepted: {', '.join(sorted(commands))}."
    options = sorted(
        option
        for parameter in context.command.params
        for option in parameter.opts
        if option.startswith("-")
    )
    return f"{message} Accepted by `{context.command_path}`: {', '.join(options)}."
