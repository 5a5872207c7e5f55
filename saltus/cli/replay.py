"""``saltus replay``: a recorded run fed through the stack again, and compared."""

from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_facts, print_json, print_table


def replay(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a recorded run, or its run.mcap.")
    ],
    json: JsonOption = False,
) -> int:
    """Feed recorded sensor readings through estimator, planner and tracker, and compare.

    Exit status 1 where anything differs from what was recorded. In lock step nothing does; in real
    time differences are expected, and their sizes are printed.
    """
    from saltus.replay import replay as replaying  # loads the numeric stack

    result = replaying.replay(run)
    if json:
        print_json(replaying.as_json(result))
    else:
        print_facts(replaying.facts(result))
        if rows := replaying.spread_rows(result):
            print_table("Differences, where there are any", rows)
    return int(not result.identical)
