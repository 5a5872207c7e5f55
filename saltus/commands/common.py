"""What the commands' options have in common."""

from typing import Annotated

import typer

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on the last line of standard output.")
]
INTERRUPTED = 130  # exit status of a command ended by Ctrl-C
